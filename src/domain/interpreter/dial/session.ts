/** One `Dial` while it runs: the race for an answer, then the conversation. */

import { unlessAborted } from '../../../base/abort.ts';
import { noOperation } from '../../../base/no-operation.ts';
import type { DialDestination, DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { type Call, endAt, matchDigits } from '../../call/call.ts';
import type { Bridge, Refer } from '../../call/needs.ts';
import type { HangupSource } from '../../call/types.ts';
import { playWhileHeld } from '../hold.ts';
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

export class DialSession {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  readonly #events: DialEvents;
  readonly #sound: RingingSound;
  readonly #race: Race;
  #talking: DialledLeg | undefined;
  #connected: DialledLeg | undefined;
  #letGo: () => void = noOperation;
  /** A party asked for another one, which is not there yet. */
  #referral: { readonly by: Call; readonly next: Promise<DialledLeg | undefined> } | undefined;
  #takeNext: (leg: DialledLeg) => void = noOperation;
  /** Parties that came by REFER. */
  readonly #referred: DialledLeg[] = [];
  #isTransferred = false;

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

  /** A REFER gave the caller another party, or was still waiting for one when its sender hung up. */
  get isTransferred(): boolean {
    return this.#isTransferred;
  }

  /** Every called party that still rings or talks. */
  get legs(): readonly Call[] {
    const all = [...this.#race.legs, ...this.#referred];
    return all.map(({ call }) => call).filter((call) => !call.isEnded);
  }

  /** Resolves at the end of the Dial, every end told; rejects when the A leg is taken away from it. */
  async run(): Promise<DialResult> {
    const { signal } = this.#context;
    this.#sound.start();
    const winner = await unlessAborted(signal, this.#race.run());
    this.#sound.stop();
    await this.#talkOn(winner);
    return this.result();
  }

  /** The conversation alone, with a party that is there already. */
  converse({ leg, destination }: ReferredParty): Promise<void> {
    return this.#talkOn(this.#dialled(leg, destination));
  }

  async #talkOn(first: DialledLeg | undefined): Promise<void> {
    let leg = first;
    while (leg !== undefined) leg = await this.#talk(leg);
    await this.#allTold();
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
    const end = call.isEnded ? await call.ended : undefined;
    const source = end === undefined ? 'API Request' : sourceForB(end.source);
    const detail = end?.cause === 'canceled' ? end.detail : undefined;
    const talking = this.#talking;
    this.#talking = undefined;
    this.#race.stop({ cause: 'canceled', source, detail }, this.#connected);
    // Whoever hangs up after its REFER leaves the other party to whom it has named.
    if (this.#referral?.by !== call || !call.isEnded) {
      if (call.endMs !== undefined) talking?.call.limitTo(call.endMs);
      talking?.call.hangup('normal', source);
    }
    await this.#allTold();
  }

  has(call: Call): boolean {
    return call === this.#context.call || this.legs.includes(call);
  }

  /** Who has been picked up rings no more; the newcomer has been answered by us. */
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
    if (leg === undefined) return resultOfFailure(this.#race.legs, this.#race.unmade);
    return { status: 'completed', rang: wasRung(leg), leg, unmade: undefined };
  }

  /** The party that comes after this one by REFER. */
  async #talk(leg: DialledLeg): Promise<DialledLeg | undefined> {
    const { call: a, signal, needs } = this.#context;
    signal.throwIfAborted();
    const b = leg.call;
    if (b.isEnded) return undefined;
    this.#talking = leg;
    this.#connected = leg;
    const released = new Promise<void>((resolve) => {
      this.#letGo = resolve;
    });
    const connect = (): Bridge => needs.media.bridge(a.media, b.media);
    // Whoever hears us already hears the called party at once, and not only after the ACK.
    let bridge = a.status === 'early' ? connect() : undefined;
    const refers = new EarlyRefers([a, b], needs, (refer, by) => this.#refer(refer, by, leg));
    try {
      await this.#context.ready();
      // Meanwhile the called party may have gone, or have been given a script of its own.
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
    this.#race.winnerTold();
    needs.recorder.dialAnswered(a);
    const taken = new Promise<DialledLeg>((resolve) => {
      this.#takeNext = resolve;
    });
    const undo = [
      ...this.#watch(leg),
      playWhileHeld(a, b, needs),
      // Pressed for the other party, not for what follows.
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
    const kept = by === leg.call ? context.call : leg.call;
    const next = bringParty(refer, this.#instruction, { kept, context }).then((outcome) => {
      this.#referral = undefined;
      if (!outcome.ok || kept.isEnded) {
        refer.failed(outcome.ok ? 'canceled' : outcome.cause);
        if (outcome.ok) outcome.leg.hangup('normal', 'Caller');
        if (by === context.call && by.isEnded) kept.hangup('normal', 'Caller');
        return undefined;
      }
      refer.succeeded();
      return by === leg.call ? this.#replace(leg, outcome) : this.#leave(leg, outcome);
    });
    this.#referral = { by, next };
  }

  /** The called party has brought somebody else for the caller: the Dial goes on with that one. */
  #replace(leg: DialledLeg, party: ReferredParty): DialledLeg {
    const next = this.#dialled(party.leg, party.destination);
    this.#isTransferred = true;
    this.#events.answered(next);
    this.#takeNext(next);
    leg.call.hangup('normal', 'Callee');
    return next;
  }

  /** The caller has brought somebody else for the called party: those two go on without the caller. */
  #leave({ call: b }: DialledLeg, party: ReferredParty): undefined {
    const { call: a, needs } = this.#context;
    this.#talking = undefined;
    this.#letGo();
    void withoutCaller(b, party, { instruction: this.#instruction, needs });
    a.hangup('normal', 'Caller');
    return undefined;
  }

  /** Who asked for another party may hang up at once: the one that stays hears it ring. */
  async #afterEndOf(b: Call): Promise<DialledLeg | undefined> {
    await b.ended;
    const { call: a } = this.#context;
    if (this.#referral?.by !== b || a.isEnded) return undefined;
    this.#isTransferred = true;
    const tone = a.media.playTone(ringingTone(a.identity.country), { loop: 0, mix: false });
    const next = await this.#referral.next;
    tone.stop();
    return next;
  }

  #dialled(call: Call, destination: DialDestination): DialledLeg {
    const position = this.#instruction.destinations.length + this.#referred.length + 1;
    const leg: DialledLeg = {
      ...{ call, destination, position, end: undefined },
      settled: call.ended.then((end) => {
        leg.end = end;
        this.#events.hungUp(leg, end);
      }),
    };
    this.#referred.push(leg);
    return leg;
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
    const told: Promise<void>[] = [];
    for (const { call, settled } of this.#race.legs.concat(this.#referred))
      if (call.isEnded) told.push(settled);
    await Promise.all(told);
  }
}

/** Towards the B leg whoever was on the A leg is the caller. */
const sourceForB = (source: HangupSource): HangupSource =>
  source === 'Callee' ? 'Caller' : source;

interface ReferredParty {
  readonly leg: Call;
  readonly destination: DialDestination;
}

/** A called party and the one that its caller has brought by REFER, as a Dial of their own. */
async function withoutCaller(
  b: Call,
  party: ReferredParty,
  { instruction, needs }: { instruction: DialInstruction; needs: VerbContext['needs'] },
): Promise<void> {
  const context = { call: b, needs, signal: b.signal, ready: () => Promise.resolve() };
  const silent = { ...instruction, callbackUrl: undefined };
  const session = new DialSession(silent, context, false);
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
