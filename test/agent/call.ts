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
  model: Model | undefined;
  /** Whether the vendor has accepted the session. */
  isReady = false;

  constructor(
    agent: Partial<AgentFile> = {},
    sounds: ReadonlyMap<string, Buffer> = new Map(),
    network: AgentNetwork = OPEN_NETWORK,
  ) {
    const whole = { ...AGENT, ...agent };
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
      send: (message) => this.sent.push(message),
      ends: (outcome) => this.outcomes.push(outcome),
      print: (line) => this.lines.push(line),
    });
  }

  receive(message: Event): void {
    this.conversation.receive(JSON.stringify({ streamId: randomUUID(), ...message }));
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
