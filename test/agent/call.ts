/** A call in front of an agent: the service's side of the stream, with a clock under control. */
import { randomUUID } from 'node:crypto';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { Conversation } from '../../src/agent/conversation.ts';
import type { Model } from '../../src/agent/model/model.ts';
import { type AgentNetwork, openNetwork } from '../../src/agent/network.ts';
import { openModel } from '../../src/agent/open-model.ts';
import type { Outcome } from '../../src/agent/outcome.ts';
import { openEgressGuard } from '../../src/edge/egress/egress.ts';
import { eventually } from '../eventually.ts';
import { SimClock } from '../sim/clock.ts';
import type { Event } from './vendor.ts';

export const OPEN_NETWORK = openNetwork(openEgressGuard());

export const AGENT: AgentFile = {
  name: 'test',
  instructions: 'Be brief.',
  model: { type: 'openai-realtime', dialect: 'current' },
  tools: [],
  limits: {
    minutes: 30,
    silenceSeconds: 60,
    connectSeconds: 5,
    answerSeconds: 10,
    calls: 10,
    toolCalls: 50,
    say: 'Goodbye.',
  },
  prices: {},
  fallback: { say: 'Sorry.' },
  interruption: 'clear',
  numbers: [],
  listen: { host: '127.0.0.1', port: 0 },
};

export class TestCall {
  readonly sent: Event[] = [];
  readonly outcomes: Outcome[] = [];
  readonly lines: string[] = [];
  readonly clock = new SimClock();
  readonly conversation: Conversation;
  readonly #line: PlaybackLine;
  model: Model | undefined;
  /** Whether the vendor has accepted the session. */
  isReady = false;

  constructor(
    agent: Partial<AgentFile> = {},
    sounds: ReadonlyMap<string, Buffer> = new Map(),
    network: AgentNetwork = OPEN_NETWORK,
  ) {
    const whole = { ...AGENT, ...agent };
    this.#line = new PlaybackLine(this.clock, (name) =>
      this.receive({ event: 'playedStream', name }),
    );
    this.conversation = new Conversation({
      agent: whole,
      clock: this.clock,
      network,
      sounds,
      openModel: (events) => {
        this.model = openModel(
          whole,
          { clock: this.clock, network },
          {
            ...events,
            ready: () => {
              events.ready();
              this.isReady = true;
            },
          },
        );
        return this.model;
      },
      send: (message) => {
        this.sent.push(message);
        this.#line.take(message);
      },
      ends: (outcome) => this.outcomes.push(outcome),
      print: (line) => this.lines.push(line),
    });
  }

  receive(message: Event): void {
    this.conversation.receive(JSON.stringify({ streamId: randomUUID(), ...message }));
  }

  /** The caller puts the call on hold: playback pauses. */
  hold(isHeld: boolean): void {
    this.#line.hold(isHeld);
  }

  /** Waits for a message to the service. */
  told(event: string, matches: (message: Event) => boolean = () => true): Promise<Event> {
    return eventually(`a message ${event}`, () =>
      this.sent.find((message) => message['event'] === event && matches(message)),
    );
  }

  of(event: string): readonly Event[] {
    return this.sent.filter((message) => message['event'] === event);
  }

  get notes(): readonly Event[] {
    return this.of('note').map(({ note }) => note as Event);
  }

  get outcome(): Outcome | undefined {
    return this.outcomes.at(-1);
  }
}

/** Plays the agent's audio in the time of the clock, and reports checkpoints. */
class PlaybackLine {
  readonly #clock: SimClock;
  readonly #reached: (name: string) => void;
  #queue: Event[] = [];
  #isHeld = false;
  #isBusy = false;

  constructor(clock: SimClock, reached: (name: string) => void) {
    this.#clock = clock;
    this.#reached = reached;
  }

  take(message: Event): void {
    if (message['event'] === 'clearAudio') this.#queue = [];
    if (message['event'] !== 'playAudio' && message['event'] !== 'checkpoint') return;
    this.#queue.push(message);
    this.#play();
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#play();
  }

  #play(): void {
    const [next] = this.#queue;
    if (this.#isHeld || this.#isBusy || next === undefined) return;
    this.#isBusy = true;
    this.#clock.at(this.#clock.monotonicMs() + lengthMs(next), () => {
      this.#isBusy = false;
      if (this.#queue[0] === next) {
        this.#queue.shift();
        if (next['event'] === 'checkpoint') this.#reached(String(next['name']));
      }
      this.#play();
    });
  }
}

/** Length of a message with 16-bit audio; 0 for a checkpoint. */
export function lengthMs({ media }: Event): number {
  if (media === undefined) return 0;
  const { payload, sampleRate } = media as Event;
  return Buffer.byteLength(String(payload), 'base64') / ((2 * Number(sampleRate)) / 1000);
}
