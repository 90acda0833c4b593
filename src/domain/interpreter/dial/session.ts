/** One `Dial` while it runs: the race for an answer, then the conversation. */

import { unlessAborted } from '../../../base/abort.ts';
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { type Call, endAt, matchDigits } from '../../call/call.ts';
import type { Bridge } from '../../call/needs.ts';
import type { HangupSource } from '../../call/types.ts';
import { playWhileHeld } from '../hold.ts';
import type { VerbContext } from '../needs.ts';
import { relayDigits } from '../relay-digits.ts';
import { DialEvents } from './dial-events.ts';
import { type DialResult, resultOfFailure, wasRung } from './dial-result.ts';
import type { DialledLeg } from './dialled-leg.ts';
import { Race } from './race.ts';
import { RingingSound } from './ringing-sound.ts';

export class DialSession {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  readonly #events: DialEvents;
  readonly #sound: RingingSound;
  readonly #race: Race;
  #talking: DialledLeg | undefined;
  #connected: DialledLeg | undefined;
  #letGo: () => void = () => undefined;

  /** `isRepeated`: the call dials over and over. */
  constructor(instruction: DialInstruction, context: VerbContext, isRepeated: boolean) {
    this.#instruction = instruction;
    this.#context = context;
    this.#events = new DialEvents(instruction, context);
    this.#sound = new RingingSound(instruction, context);
    this.#race = new Race(instruction, context, {
      events: this.#events,
      sound: this.#sound,
      isRepeated,
    });
  }

  /** The leg that the A leg talks to. */
  get leg(): Call | undefined {
    return this.#talking?.call;
  }

  /** Every called party that still rings or talks. */
  get legs(): readonly Call[] {
    return this.#race.legs.map(({ call }) => call).filter((call) => !call.isEnded);
  }

  /** Resolves at the end of the Dial, every end told; rejects when the A leg is taken away from it. */
  async run(): Promise<DialResult> {
    const { signal } = this.#context;
    this.#sound.start();
    const winner = await unlessAborted(signal, this.#race.run());
    this.#sound.stop();
    if (winner !== undefined) await this.#talk(winner);
    await this.#allTold();
    return this.result();
  }

  /** Takes the B leg out of the Dial, which ends well for the A leg; undefined while nobody has been connected. */
  release(): Call | undefined {
    const leg = this.leg;
    this.#talking = undefined;
    this.#letGo();
    return leg;
  }

  /** The A leg has ended or was given another document: nobody is left to be called for. */
  async abandon(): Promise<void> {
    const { call } = this.#context;
    this.#sound.stop();
    const source = call.isEnded ? sourceForB((await call.ended).source) : 'API Request';
    const talking = this.#talking;
    this.#talking = undefined;
    this.#race.stop({ cause: 'canceled', source }, this.#connected);
    if (call.endMs !== undefined) talking?.call.limitTo(call.endMs);
    talking?.call.hangup('normal', source);
    await this.#allTold();
  }

  result(): DialResult {
    const leg = this.#connected;
    if (leg === undefined) return resultOfFailure(this.#race.legs, this.#race.unmade);
    return { status: 'completed', rang: wasRung(leg), leg, unmade: undefined };
  }

  async #talk(leg: DialledLeg): Promise<void> {
    const { call: a, signal, needs } = this.#context;
    signal.throwIfAborted();
    const b = leg.call;
    if (b.isEnded) return;
    this.#talking = leg;
    this.#connected = leg;
    const released = new Promise<void>((resolve) => {
      this.#letGo = resolve;
    });
    const connect = (): Bridge => needs.media.bridge(a.media, b.media);
    // Whoever hears us already hears the called party at once, and not only after the ACK.
    let bridge = a.status === 'early' ? connect() : undefined;
    try {
      await this.#context.ready();
      // Meanwhile the called party may have gone, or have been given a script of its own.
      if (b.isEnded || this.#talking !== leg) return;
      bridge ??= connect();
      await this.#together(leg, released);
    } finally {
      if (this.#talking === leg && b.isEnded) this.#talking = undefined;
      bridge?.close();
    }
  }

  async #together(leg: DialledLeg, released: Promise<void>): Promise<void> {
    const { call: a, signal, needs } = this.#context;
    const b = leg.call;
    a.bridgedWith(b);
    for (const call of [a, b]) this.#context.needs.keeping.noted(call);
    a.log.add('call', 'connected', { bLegUuid: b.uuid });
    this.#events.connected(leg);
    this.#race.winnerTold();
    needs.recorder.dialAnswered(a);
    const undo = [
      ...this.#watch(leg),
      playWhileHeld(a, b, needs),
      // Pressed for the other party, not for what follows.
      a.digits.forgetAhead(),
    ];
    try {
      await unlessAborted(signal, Promise.race([b.ended, released]));
      this.#talking = undefined;
    } finally {
      for (const stop of undo) stop();
    }
  }

  /** Keys and the clock, while both talk. */
  #watch(leg: DialledLeg): ReadonlyArray<() => void> {
    const { call: a, needs } = this.#context;
    const { call: b } = leg;
    const { digitsMatch, digitsMatchBLeg, hangupOnStar, timeLimitMs } = this.#instruction;
    const answeredMs = b.msAt(b.answerUs ?? b.nowUs());
    return [
      relayDigits(a, b),
      relayDigits(b, a),
      matchDigits(a.digits, hangupOnStar ? ['*'] : [], () => b.hangup('normal', 'Caller')),
      matchDigits(a.digits, digitsMatch, (keys) => this.#events.digitsMatched(leg, keys, 'aleg')),
      matchDigits(b.digits, digitsMatchBLeg, (keys) =>
        this.#events.digitsMatched(leg, keys, 'bleg'),
      ),
      endAt(b, needs.clock, {
        atMs: answeredMs + timeLimitMs,
        cause: 'scheduled',
        source: 'Platform',
        detail: 'timeLimit of Dial',
      }),
    ];
  }

  /** A leg that was let go ends some other time, and is nothing to wait for. */
  async #allTold(): Promise<void> {
    this.#race.winnerTold();
    const over = this.#race.legs.filter(({ call }) => call.isEnded);
    await Promise.all(over.map(({ settled }) => settled));
  }
}

/** Towards the B leg whoever was on the A leg is the caller. */
const sourceForB = (source: HangupSource): HangupSource =>
  source === 'Callee' ? 'Caller' : source;
