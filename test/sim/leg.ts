/** Both ends of one leg: actions of the service and of the phone. Messages have latency and can cross each other. */
import type { Clock } from '../../src/base/clock.ts';
import { assert } from '../../src/base/errors.ts';
import { err, ok, type Result } from '../../src/base/result.ts';
import type {
  InboundLeg,
  Leg,
  LegEnd,
  LegEvents,
  OutboundLegEvents,
} from '../../src/domain/call/needs.ts';
import type { HangupCauseKey } from '../../src/domain/call/types.ts';
import type { Place } from './network.ts';
import type { Direction, SimPhone } from './phone.ts';

/** RFC 3261 §17.1.1.2, timers B and H: an unanswered INVITE, or a 200 without ACK. Milliseconds. */
const GIVE_UP_MS = 32_000;

/** Behavior of a called phone. */
export type Called =
  | { readonly kind: 'answers'; readonly ringMs: number; readonly answerMs: number }
  /** 183 with early media of the phone, then the answer. */
  | { readonly kind: 'earlyMedia'; readonly ringMs: number; readonly answerMs: number }
  | { readonly kind: 'rings' }
  | { readonly kind: 'refuses'; readonly afterMs: number; readonly status: number }
  | { readonly kind: 'silent' }
  | { readonly kind: 'answersWithoutSdp'; readonly answerMs: number };

export const ANSWERS: Called = { kind: 'answers', ringMs: 50, answerMs: 400 };

export const NO_STATUS = { status: undefined, reason: undefined };

export type InboundFacts = Pick<
  InboundLeg,
  | 'from'
  | 'to'
  | 'dialled'
  | 'requestUri'
  | 'source'
  | 'endpointUsername'
  | 'carrier'
  | 'userAgent'
  | 'headers'
  | 'sdp'
>;

export class SimLeg implements Leg {
  readonly id: string;
  readonly sipCallId: string;
  readonly phone: SimPhone | undefined;
  state: 'calling' | 'ringing' | 'early' | 'answered' = 'calling';
  /** True when the service knows about the answer. */
  answered = false;
  serviceOver = false;
  /** Time at which the end was reported to the service, or caused by it. */
  overAtMs: number | undefined;
  phoneOver = false;
  /** Ends reported to the service. */
  readonly ends: LegEnd[] = [];
  /** Causes with which the service ended it. */
  readonly hungUpWith: HangupCauseKey[] = [];
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #notify: (line: string) => void;
  #events: LegEvents | undefined;
  /** End, once it has been reported. */
  readonly #reported: LegEnd[] = [];
  #cancelled = false;
  #offerIsOurs = false;
  #confirm: (result: Result<void, LegEnd>) => void = () => undefined;
  #answering: Promise<Result<void, LegEnd>> | undefined;

  constructor(
    id: string,
    phone: SimPhone | undefined,
    wire: { clock: Clock; delayMs: number; notify: (line: string) => void },
  ) {
    this.id = id;
    this.sipCallId = `${id}@sim`;
    this.phone = phone;
    this.#clock = wire.clock;
    this.#delayMs = wire.delayMs;
    this.#notify = wire.notify;
  }

  // ---------------------------------------------------------------- messages

  toService(arrive: () => void): void {
    this.#post(arrive, this.#delayMs);
  }

  /** Sends a message to the phone. Messages to a vanished phone are lost. */
  toPhone(arrive: () => void): void {
    this.#post(() => {
      if (this.phone?.present === true) arrive();
    }, this.#delayMs);
  }

  #post(arrive: () => void, afterMs: number): void {
    this.#clock.at(this.#clock.monotonicMs() + afterMs, arrive);
  }

  // ---------------------------------------------------------------- service side

  asInbound(facts: InboundFacts): InboundLeg {
    this.#offerIsOurs = facts.sdp === undefined;
    return {
      ...facts,
      id: this.id,
      sipCallId: this.sipCallId,
      attach: (events) => this.attach(events),
      ring: (sdp) => this.#ring(sdp),
      answer: (sdp) => this.#answer(sdp),
      hangup: (cause) => this.hangup(cause),
      refuse: () => this.hangup('forbidden'),
    };
  }

  attach(events: LegEvents): void {
    this.#events = events;
    const [end] = this.#reported;
    if (end !== undefined) events.ended(end);
  }

  /** Idempotent. The end is reported in a later turn, as for an end by the other side. */
  hangup(cause: HangupCauseKey): void {
    if (this.serviceOver) return;
    this.hungUpWith.push(cause);
    const how = this.answered ? 'bye' : 'refused';
    this.#notify(`${this.id} service hangs up: ${cause}`);
    this.#close({ by: 'local', how, ...NO_STATUS });
    this.toPhone(() => this.#phoneEnds());
  }

  /** Ends the leg for a reason other than a local hangup. */
  end(end: LegEnd): void {
    if (this.serviceOver) return;
    this.#notify(`${this.id} ended by the other side: ${end.how} ${end.status ?? ''}`);
    this.#close(end);
  }

  #close(end: LegEnd): void {
    this.serviceOver = true;
    this.overAtMs = this.#clock.monotonicMs();
    this.ends.push(end);
    this.#confirm(err(end));
    queueMicrotask(() => {
      this.#reported.push(end);
      this.#events?.ended(end);
    });
  }

  #ring(sdp: string | undefined): void {
    if (this.serviceOver || this.answered) return;
    this.toPhone(() => {
      if (this.phoneOver || this.state === 'answered') return;
      this.state = sdp === undefined ? 'ringing' : 'early';
      if (sdp !== undefined) this.phone?.connect(sdp);
    });
  }

  #answer(sdp: string): Promise<Result<void, LegEnd>> {
    const [end] = this.ends;
    if (end !== undefined) return Promise.resolve(err(end));
    this.#answering ??= new Promise((resolve) => {
      this.#confirm = resolve;
      this.answered = true;
      this.#notify(`${this.id} answered`);
      this.#post(() => this.#unconfirmed(), GIVE_UP_MS);
      this.toPhone(() => this.#phoneAnswered(sdp));
    });
    return this.#answering;
  }

  #unconfirmed(): void {
    if (this.state !== 'answered') this.end({ by: 'remote', how: 'timeout', ...NO_STATUS });
  }

  // ---------------------------------------------------------------- phone side

  /** Phone of a leg that has one. */
  get atPhone(): SimPhone {
    assert(this.phone !== undefined, 'the leg has a phone');
    return this.phone;
  }

  get isOver(): boolean {
    return this.phoneOver;
  }

  /** Hangs up or cancels: CANCEL before the answer, BYE after it. */
  phoneHangsUp(): void {
    if (this.phoneOver) return;
    if (this.state === 'answered') {
      this.#phoneEnds();
      this.toService(() => this.end({ by: 'remote', how: 'bye', ...NO_STATUS }));
      return;
    }
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.toService(() => {
      // A CANCEL has no effect after the final response (RFC 3261 §9.2).
      if (this.answered || this.serviceOver) return;
      this.end({ by: 'remote', how: 'cancel', ...NO_STATUS });
      this.toPhone(() => this.#phoneEnds());
    });
  }

  /** Sends a re-INVITE with a new direction or place. `refused` counts 488 responses. */
  reinvite(direction: Direction, place?: Place): void {
    const { phone } = this;
    if (phone === undefined || this.phoneOver) return;
    if (place !== undefined) phone.moveTo(place);
    const offer = phone.sdp(direction);
    this.toService(() => {
      const answer = this.serviceOver ? undefined : this.#events?.offered(offer);
      this.toPhone(() => {
        if (answer !== undefined && !this.phoneOver) phone.connect(answer);
      });
    });
  }

  /** Sends a re-INVITE with unusable SDP. Returns the answer, or undefined for 488. */
  reinviteWith(sdp: string): string | undefined {
    return this.#events?.offered(sdp);
  }

  pressByInfo(digit: string): void {
    this.toService(() => {
      if (!this.serviceOver) this.#events?.dtmf(digit, 160);
    });
  }

  /** Runs the behavior of a called phone, starting with the INVITE. */
  behave(called: Called, offer: string, events: OutboundLegEvents): void {
    const { phone } = this;
    if (phone === undefined || this.phoneOver) return;
    if (called.kind === 'silent') {
      this.#post(() => this.end({ by: 'remote', how: 'timeout', ...NO_STATUS }), GIVE_UP_MS);
      return;
    }
    if (called.kind === 'refuses') {
      const { status, afterMs } = called;
      this.#phoneDoes(afterMs, () => {
        this.#phoneEnds();
        const end: LegEnd = { by: 'remote', how: 'refused', status, reason: undefined };
        this.toService(() => this.end(end));
      });
      return;
    }
    if (called.kind !== 'answersWithoutSdp') {
      const early = called.kind === 'earlyMedia' ? phone.sdp() : undefined;
      this.#phoneDoes(called.kind === 'rings' ? 20 : called.ringMs, () => {
        this.state = early === undefined ? 'ringing' : 'early';
        if (early !== undefined) phone.connect(offer);
        this.toService(() => {
          if (!this.serviceOver) events.progress(early === undefined ? 180 : 183, early);
        });
      });
    }
    if (called.kind === 'rings') return;
    const answer = called.kind === 'answersWithoutSdp' ? undefined : phone.sdp();
    this.#phoneDoes(called.answerMs, () => {
      this.state = 'answered';
      phone.connect(offer);
      this.toService(() => {
        if (this.serviceOver) return;
        this.answered = true;
        this.#notify(`${this.id} was answered by ${phone.name}`);
        events.connected(answer);
      });
    });
  }

  #phoneDoes(afterMs: number, what: () => void): void {
    this.#post(() => {
      if (!this.phoneOver && this.phone?.present === true) what();
    }, afterMs);
  }

  #phoneAnswered(sdp: string): void {
    if (this.phoneOver) return;
    const { phone } = this;
    this.state = 'answered';
    phone?.connect(sdp);
    const answer = this.#offerIsOurs ? phone?.sdp() : undefined;
    this.toService(() => {
      if (this.serviceOver) return;
      if (answer !== undefined) this.#events?.answered(answer);
      this.#confirm(ok(undefined));
    });
    // The phone had cancelled, and the 200 crossed its CANCEL.
    if (this.#cancelled) this.phoneHangsUp();
  }

  #phoneEnds(): void {
    this.phoneOver = true;
    this.phone?.hungUp();
  }
}
