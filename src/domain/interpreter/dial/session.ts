/** One running `Dial`: first the race for an answer, then the conversation. */

import { unlessAborted } from '../../../base/abort.ts';
import { noOperation } from '../../../base/no-operation.ts';
import type { DialDestination, DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { type Call, endAt, matchDigits } from '../../call/call.ts';
import type { Bridge, Refer } from '../../call/needs.ts';
import type { HangupSource } from '../../call/types.ts';
import { playWhileHeld } from '../hold.ts';
import { connectAudio } from '../kept-audio.ts';
import type { VerbContext } from '../needs.ts';
import { relayDigits } from '../relay-digits.ts';
import { ringingTone } from '../tones.ts';
import { DialEvents } from './dial-events.ts';
import { keepLiveDial } from './dial-of.ts';
import { type DialResult, resultOfFailure, wasRung } from './dial-result.ts';
import type { DialledLeg } from './dialled-leg.ts';
import { EarlyRefers } from './early-refers.ts';
import { Race } from './race.ts';
import { bringParty, mayRefer } from './referral.ts';
import { RingingSound } from './ringing-sound.ts';

export interface DialOptions {
  /** True if several Dials of this call in a row have failed. */
  readonly isRepeated: boolean;
  /** True if the caller hears the music of the service while waiting, instead of a ringing tone. */
  readonly holdMusic?: boolean;
  /** Text that a called party hears before it must confirm. */
  readonly introduction?: string | undefined;
  /** Called when the parties are connected. */
  readonly connected?: ((leg: Call) => void) | undefined;
}

export class DialSession {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  readonly #events: DialEvents;
  readonly #sound: RingingSound;
  readonly #race: Race;
  readonly #onConnected: (leg: Call) => void;
  #talking: DialledLeg | undefined;
  #connected: DialledLeg | undefined;
  #detach: () => void = noOperation;
  /** Pending transfer by REFER. */
  #referral:
    | {
        readonly by: Call;
        readonly next: Promise<DialledLeg | undefined>;
        readonly withdrawn: AbortController;
      }
    | undefined;
  #takeNext: (leg: DialledLeg) => void = noOperation;
  /** Legs added by REFER. */
  readonly #referred: DialledLeg[] = [];
  #isTransferred = false;

  constructor(instruction: DialInstruction, context: VerbContext, options: DialOptions) {
    this.#instruction = instruction;
    this.#context = context;
    this.#events = new DialEvents(instruction, context);
    this.#sound = new RingingSound(instruction, context, options.holdMusic);
    this.#race = new Race(instruction, context, {
      events: this.#events,
      sound: this.#sound,
      isRepeated: options.isRepeated,
      introduction: options.introduction,
    });
    this.#onConnected = options.connected ?? noOperation;
  }

  /** The connected B leg. */
  get leg(): Call | undefined {
    return this.#talking?.call;
  }

  /** True if a REFER replaced the called party, or was pending when its sender hung up. */
  get isTransferred(): boolean {
    return this.#isTransferred;
  }

  /** All B legs that are ringing or connected. */
  get legs(): readonly Call[] {
    const all = [...this.#race.legs, ...this.#referred];
    return all.map(({ call }) => call).filter((call) => !call.isEnded);
  }

  /** Runs the Dial. Resolves after all ends have been reported. Rejects when the A leg is transferred or ends. */
  async run(): Promise<DialResult> {
    const { signal } = this.#context;
    this.#sound.start();
    const winner = await unlessAborted(signal, this.#race.run());
    this.#sound.stop();
    await this.#talkOn(winner);
    return this.result();
  }

  /** Runs the conversation only, with an existing party. */
  converse({ leg, destination }: ReferredParty): Promise<void> {
    return this.#talkOn(this.#dialled(leg, destination));
  }

  async #talkOn(first: DialledLeg | undefined): Promise<void> {
    let leg = first;
    while (leg !== undefined) leg = await this.#talk(leg);
    await this.#allReported();
  }

  /** Removes the B leg from the Dial, which then counts as completed. Returns undefined without a connection. */
  release(): Call | undefined {
    const leg = this.leg;
    this.#talking = undefined;
    this.#detach();
    this.#referral?.withdrawn.abort();
    return leg;
  }

  /** Ends all legs after the A leg has ended or received another document. */
  async abandon(): Promise<void> {
    const { call } = this.#context;
    this.#sound.stop();
    const end = call.isEnded ? await call.ended : undefined;
    const source = end === undefined ? 'API Request' : sourceForB(end.source);
    const detail = end?.cause === 'canceled' ? end.detail : undefined;
    const talking = this.#talking;
    this.#talking = undefined;
    if (!call.isEnded) this.#referral?.withdrawn.abort();
    this.#race.stop({ cause: 'canceled', source, detail }, this.#connected);
    // If the A leg sent REFER and hung up, the B leg stays for the transfer target.
    if (this.#referral?.by !== call || !call.isEnded) {
      if (call.endMs !== undefined) talking?.call.limitTo(call.endMs);
      talking?.call.hangup('normal', source);
    }
    await this.#allReported();
  }

  has(call: Call): boolean {
    return call === this.#context.call || this.legs.includes(call);
  }

  /** Replaces a party by a newcomer that picked up the call; the newcomer is already answered. */
  takePlace(of: Call, newcomer: Call): boolean {
    const { call: a } = this.#context;
    const leg = this.#talking;
    if (leg === undefined) return this.#race.takePlace(of, newcomer);
    if (of !== a && of !== leg.call) return false;
    const party = { leg: newcomer, destination: leg.destination };
    if (of === a) this.#leave(leg, party);
    else this.#replace(leg, party);
    return true;
  }

  result(): DialResult {
    const leg = this.#connected;
    if (leg === undefined) return resultOfFailure(this.#race.legs, this.#race.unplaced);
    return { status: 'completed', rang: wasRung(leg), leg, unplaced: undefined };
  }

  /** Runs the conversation with one leg. Returns the next leg if REFER replaces it. */
  async #talk(leg: DialledLeg): Promise<DialledLeg | undefined> {
    const { call: a, signal, needs } = this.#context;
    signal.throwIfAborted();
    const b = leg.call;
    if (b.isEnded) return undefined;
    this.#talking = leg;
    this.#connected = leg;
    const released = new Promise<void>((resolve) => {
      this.#detach = resolve;
    });
    const connect = (): Bridge => connectAudio(a, b, needs);
    // A caller in early media hears the called party immediately, without waiting for the ACK.
    let bridge = a.status === 'early' ? connect() : undefined;
    const refers = new EarlyRefers([a, b], needs, (refer, by) => this.#refer(refer, by, leg));
    try {
      await this.#context.ready();
      // During the await, the called party may have left or been released.
      if (b.isEnded || this.#talking !== leg) return undefined;
      bridge ??= connect();
      return await this.#together(leg, { released, refers });
    } finally {
      if (this.#talking === leg && b.isEnded) this.#talking = undefined;
      refers.stop();
      bridge?.close();
    }
  }

  async #together(
    leg: DialledLeg,
    { released, refers }: { readonly released: Promise<void>; readonly refers: EarlyRefers },
  ): Promise<DialledLeg | undefined> {
    const { call: a, signal, needs } = this.#context;
    const b = leg.call;
    a.bridgedWith(b);
    for (const call of [a, b]) this.#context.needs.keeping.noted(call);
    a.log.add('call', 'connected', { bLegUuid: b.uuid });
    this.#events.connected(leg);
    this.#onConnected(b);
    this.#race.winnerReported();
    needs.recorder.dialAnswered(a);
    const taken = new Promise<DialledLeg>((resolve) => {
      this.#takeNext = resolve;
    });
    const undo = [
      ...this.#watch(leg),
      playWhileHeld(a, b, needs),
      // Presses during the conversation do not count as type-ahead for later elements.
      a.digits.forgetAhead(),
    ];
    refers.connected();
    try {
      const nobody = released.then(() => undefined);
      const next = await unlessAborted(signal, Promise.race([this.#afterEndOf(b), nobody, taken]));
      this.#talking = undefined;
      return next;
    } finally {
      for (const stop of undo) stop();
    }
  }

  // ---------------------------------------------------------------- REFER

  #refer(refer: Refer, by: Call, leg: DialledLeg): void {
    const context = this.#context;
    const isFree = this.#referral === undefined && refer.replaces !== 'unknown';
    if (!isFree || !mayRefer(by, context)) {
      refer.refuse();
      return;
    }
    refer.accept();
    const retained = by === leg.call ? context.call : leg.call;
    const withdrawn = new AbortController();
    const { signal } = withdrawn;
    const parties = { retained, context, withdrawn: signal };
    const next = bringParty(refer, this.#instruction, parties).then((outcome) => {
      this.#referral = undefined;
      if (!outcome.ok || retained.isEnded || signal.aborted) {
        refer.failed(outcome.ok ? 'canceled' : outcome.cause);
        if (outcome.ok) outcome.leg.hangup('normal', 'Caller');
        const isAlone = by === context.call && by.isEnded && !signal.aborted;
        if (isAlone) retained.hangup('normal', 'Caller');
        return undefined;
      }
      refer.succeeded();
      return by === leg.call ? this.#replace(leg, outcome) : this.#leave(leg, outcome);
    });
    this.#referral = { by, next, withdrawn };
  }

  /** The called party transferred the caller: the Dial continues with the new party. */
  #replace(leg: DialledLeg, party: ReferredParty): DialledLeg {
    const next = this.#dialled(party.leg, party.destination);
    this.#isTransferred = true;
    this.#events.answered(next);
    this.#takeNext(next);
    leg.call.hangup('normal', 'Callee');
    return next;
  }

  /** The caller transferred the called party: it and the new party continue without the caller. */
  #leave({ call: b }: DialledLeg, party: ReferredParty): undefined {
    const { call: a, needs } = this.#context;
    this.#talking = undefined;
    this.#detach();
    void withoutCaller(b, party, { instruction: this.#instruction, needs });
    a.hangup('normal', 'Caller');
    return undefined;
  }

  /** Waits for the end of `b`. If `b` hung up after sending REFER, plays ringing until the new party is connected. */
  async #afterEndOf(b: Call): Promise<DialledLeg | undefined> {
    await b.ended;
    const { call: a } = this.#context;
    if (this.#referral?.by !== b || a.isEnded) return undefined;
    this.#isTransferred = true;
    a.media.ringback(true);
    const tone = a.media.playTone(ringingTone(a.identity.country), { loop: 0, mix: false });
    const next = await this.#referral.next;
    tone.stop();
    a.mediaIfOpen?.ringback(false);
    return next;
  }

  #dialled(call: Call, destination: DialDestination): DialledLeg {
    const position = this.#instruction.destinations.length + this.#referred.length + 1;
    const leg: DialledLeg = {
      call,
      destination,
      position,
      end: undefined,
      settled: call.ended.then((end) => {
        leg.end = end;
        this.#events.hungUp(leg, end);
      }),
    };
    this.#referred.push(leg);
    return leg;
  }

  /** Starts keypad relaying, digit matching and the time limit for the conversation. */
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

  /** Waits until all ends have been reported. A released leg is still active and is skipped. */
  async #allReported(): Promise<void> {
    this.#race.winnerReported();
    const reported: Promise<void>[] = [];
    for (const { call, settled } of this.#race.legs.concat(this.#referred))
      if (call.isEnded) reported.push(settled);
    await Promise.all(reported);
  }
}

/** Hangup source for the B leg: a party on the A leg is its caller. */
const sourceForB = (source: HangupSource): HangupSource =>
  source === 'Callee' ? 'Caller' : source;

interface ReferredParty {
  readonly leg: Call;
  readonly destination: DialDestination;
}

/** Connects a called party with the transfer target in a separate Dial. */
async function withoutCaller(
  b: Call,
  party: ReferredParty,
  { instruction, needs }: { instruction: DialInstruction; needs: VerbContext['needs'] },
): Promise<void> {
  const context = { call: b, needs, signal: b.signal, ready: () => Promise.resolve() };
  const silent = { ...instruction, callbackUrl: undefined };
  const session = new DialSession(silent, context, { isRepeated: false });
  const forget = keepLiveDial(b, session);
  try {
    await session.converse(party);
    b.hangup('normal', 'Callee');
  } catch {
    await session.abandon();
  } finally {
    forget();
  }
}
