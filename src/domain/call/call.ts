import type { Clock } from '../../base/clock.ts';
import { assert, ServiceError } from '../../base/errors.ts';
import { Timeline } from '../../base/timeline.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { OpenStream } from '../cdr/needs.ts';
import type { MediaQuality, StreamCdr } from '../cdr/types.ts';
import type { CallLog } from './call-log.ts';
import { DigitHub } from './digits.ts';
import { type CallEnd, endOfLeg, ownDisposition } from './end-cause.ts';
import type { HangupCauseKey, HangupSource } from './hangup-cause.ts';
import type { CallIdentity, CallPrice } from './identity.ts';
import { LegMedia, type LegMediaNeeds } from './leg-media.ts';
import type { InboundLeg, Leg, LegEnd, LegEvents, MediaLeg, Signalling } from './needs.ts';
import type { Recorded } from './recorded.ts';
import { type DialPlan, describeTarget, type Hunter, huntTargets } from './target-hunt.ts';

export { CallLog, type CallLogEntry, type CallLogKind, CallLogs } from './call-log.ts';
export { DigitHub, matchDigits } from './digits.ts';
export { endAt } from './end-at.ts';
export type { CallEnd } from './end-cause.ts';
export type { CallIdentity, CallPrice } from './identity.ts';
export { checkOffer } from './negotiate.ts';
export {
  cdrOf,
  finalRecord,
  hangupNotification,
  openRecord,
  type RecordSettings,
} from './record.ts';
export { type Recorded, waitingCall } from './recorded.ts';
export type { DialPlan, FindRoom, Room } from './target-hunt.ts';

export interface CallNeeds extends LegMediaNeeds {
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
}

export type CallStatus = 'new' | 'ringing' | 'early' | 'answered' | 'ended';

/** Told as things happen. Optional: a caller names what it wants to hear. */
export interface CallEvents {
  ringing?(): void;
  earlyMedia?(): void;
  answered?(): void;
  /** The peer began to hold us, or ended it: `hold` tells. */
  holds?(): void;
}

/** One leg of a conversation with all that belongs to it, from its first message to its end. */
export class Call implements Recorded {
  readonly identity: CallIdentity;
  readonly price: CallPrice;
  readonly log: CallLog;
  readonly digits = new DigitHub();
  /** Aborted when the call ends; every verb and every wait hangs on it. */
  readonly signal: AbortSignal;
  /** Resolves once, with how it ended. */
  readonly ended: Promise<CallEnd>;

  status: CallStatus = 'new';
  ringUs: number | undefined;
  answerUs: number | undefined;
  endUs: number | undefined;
  /** The other leg of the last bridge. */
  bridgeUuid: string | undefined;
  machine: boolean | undefined;
  hangupTarget: CallbackTarget | undefined;
  carrier: string | undefined;
  quality: MediaQuality | undefined;
  openStreams: readonly OpenStream[] = [];
  closedStreams: readonly StreamCdr[] = [];
  sipCallId: string | undefined;
  userAgent: string | undefined;
  remoteAddress: string | undefined;

  readonly #clock: CallNeeds['clock'];
  readonly #timeline: Timeline;
  /** Moments of the monotonic clock at which answered time is over at the latest. */
  readonly #limits = new Set<{ readonly atMs: number }>();
  readonly #abort = new AbortController();
  readonly #events = new Set<CallEvents>();
  #resolveEnded: (end: CallEnd) => void = () => undefined;
  readonly #media: LegMedia;
  #leg: Leg | undefined;
  #inbound: InboundLeg | undefined;
  #answering: Promise<boolean> | undefined;
  /** A 200 has been sent, by us or by the called party, usable or not. */
  #accepted = false;
  #settled = false;

  constructor(identity: CallIdentity, price: CallPrice, needs: CallNeeds) {
    this.identity = identity;
    this.price = price;
    this.log = needs.log;
    this.#clock = needs.clock;
    this.#timeline = new Timeline(needs.clock);
    this.signal = this.#abort.signal;
    this.#media = new LegMedia(
      needs,
      {
        dtmf: (digit) => this.#press(digit),
        silent: (lateMs) => {
          this.limitTo(this.#clock.monotonicMs() - lateMs);
          this.hangup('mediaTimeout', 'Error', 'no RTP from the peer');
        },
      },
      () => ({ heardFrom: this.remoteAddress, carrier: this.carrier }),
    );
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get uuid(): string {
    return this.identity.callUuid;
  }

  get facts(): CallFacts {
    return { ...this.identity.facts, machine: this.machine };
  }

  get isEnded(): boolean {
    return this.status === 'ended';
  }

  get isAnswered(): boolean {
    return this.status === 'answered';
  }

  /** A 200 of ours is on its way to the caller, who has not acknowledged it yet; true once he has. */
  get confirming(): Promise<boolean> | undefined {
    return this.#accepted && !this.isAnswered && !this.isEnded ? this.#answering : undefined;
  }

  /** The media of a leg that has been answered or has early media. */
  get media(): MediaLeg {
    return this.#media.leg;
  }

  get codec(): string | undefined {
    return this.#media.codec;
  }

  /** The peer's keypad presses come as events (RFC 4733), not as tones within its audio. */
  get keypadEvents(): boolean {
    return this.#media.keypadEvents;
  }

  /** SDP of the INVITE that arrived; undefined when it had none, or on an outbound leg. */
  get offeredSdp(): string | undefined {
    return this.#inbound?.sdp;
  }

  /** How the peer holds us, if it does. */
  get hold(): LegMedia['hold'] {
    return this.#media.hold;
  }

  observe(events: CallEvents): () => void {
    this.#events.add(events);
    return () => this.#events.delete(events);
  }

  // -------------------------------------------------------------- inbound

  /** Takes over an INVITE; in the same turn in which it arrived. */
  takeInbound(leg: InboundLeg): void {
    this.#leg = leg;
    this.#inbound = leg;
    this.sipCallId = leg.sipCallId;
    this.userAgent = leg.userAgent;
    this.remoteAddress = leg.source.address;
    leg.attach(this.#legEvents());
  }

  /** 180. */
  ring(): void {
    if (this.status !== 'new') return;
    this.#toRinging();
    this.#inbound?.ring();
  }

  /** 183 with our SDP: the caller hears us before the call is answered. False when that cannot be. */
  async startEarlyMedia(): Promise<boolean> {
    const inbound = this.#inbound;
    if (inbound === undefined || this.status === 'early') return this.status === 'early';
    if (this.status === 'answered') return true;
    const sdp = await this.#localSdp(inbound);
    if (sdp === undefined || this.isEnded || inbound.sdp === undefined) return false;
    this.#toRinging();
    inbound.ring(sdp);
    this.status = 'early';
    for (const events of [...this.#events]) events.earlyMedia?.();
    return true;
  }

  /**
   * 200 with our SDP; true once the caller has acknowledged it, and only then is the call an answered one: what was never
   * acknowledged is never billed. `durable` is awaited before anything else happens, so that a crash from then on finds a
   * call that is known to be answered.
   */
  answer(durable: () => Promise<void>): Promise<boolean> {
    if (this.status === 'answered') return Promise.resolve(true);
    this.#answering ??= this.#answer(durable);
    return this.#answering;
  }

  async #answer(durable: () => Promise<void>): Promise<boolean> {
    const inbound = this.#inbound;
    assert(inbound !== undefined, 'only an inbound leg is answered by us');
    const sdp = await this.#localSdp(inbound);
    if (sdp === undefined || this.isEnded) return false;
    this.#accepted = true;
    const sentUs = this.nowUs();
    const acknowledged = await inbound.answer(sdp);
    if (!acknowledged.ok || this.isEnded) return false;
    this.answerUs = sentUs;
    await durable();
    if (this.isEnded) return false;
    this.#toAnswered();
    return true;
  }

  async #localSdp(inbound: InboundLeg): Promise<string | undefined> {
    await this.#openMedia();
    if (this.isEnded) return undefined;
    const described = this.#media.describe(inbound.sdp);
    if (described.ok) return described.value;
    this.hangup('mediaAnchoring', 'Error', described.error.detail);
    return undefined;
  }

  // -------------------------------------------------------------- outbound

  /** Sends the INVITE, to one target after the other. Everything that follows comes through events and `ended`. */
  async dial(signalling: Signalling, plan: DialPlan): Promise<void> {
    await huntTargets(signalling, plan, this.#hunter());
  }

  #hunter(): Hunter {
    let offer: string | undefined;
    return {
      signal: this.signal,
      offer: async () => {
        if (offer !== undefined) return offer;
        await this.#openMedia();
        if (!this.isEnded) offer = this.#media.offer();
        return offer;
      },
      noRoom: (detail) => this.hangup('concurrencyBreached', 'Platform', detail),
      trying: (target, attempt, waitedMs) => {
        this.carrier = target.kind === 'carrier' ? target.carrier : undefined;
        this.remoteAddress = undefined;
        this.userAgent = undefined;
        const waited = waitedMs > 0 ? { waitedMs: Math.round(waitedMs) } : {};
        this.log.add('sip', 'INVITE', { target: describeTarget(target), attempt, ...waited });
      },
      took: (leg) => {
        this.#leg = leg;
        this.sipCallId = leg.sipCallId;
        // Ended meanwhile: an INVITE that nobody waits for is withdrawn.
        if (this.isEnded) leg.hangup('canceled');
      },
      mayGoOn: () => this.status === 'new',
      wentOn: ({ how, status }) => this.log.add('sip', 'next target', { after: how, status }),
      events: {
        ...this.#legEvents(),
        heardFrom: ({ source, userAgent }) => {
          this.remoteAddress = source.address;
          this.userAgent = userAgent;
        },
        progress: (status, early) => this.#progress(status, early),
        connected: (answer) => this.#connected(answer),
      },
    };
  }

  #progress(status: number, sdp: string | undefined): void {
    if (this.isEnded || this.status === 'answered') return;
    this.log.add('sip', `${status} from the called party`, { earlyMedia: sdp !== undefined });
    const wasNew = this.status === 'new';
    if (wasNew) this.#toRinging();
    if (sdp === undefined || this.status === 'early') return;
    const settled = this.#media.settle(sdp);
    if (!settled.ok) {
      this.log.add('warning', 'early media cannot be used', { detail: settled.error.detail });
      return;
    }
    this.status = 'early';
    for (const events of [...this.#events]) events.earlyMedia?.();
  }

  #connected(sdp: string | undefined): void {
    if (this.isEnded) return;
    this.#accepted = true;
    const problem = this.#settleAnswer(sdp);
    // Without usable media nothing is billed (spec, Call-level failures: media negotiation failure).
    if (problem !== undefined) {
      this.hangup('mediaAnchoring', 'Error', problem);
      return;
    }
    this.answerUs = this.nowUs();
    this.#toAnswered();
  }

  /** Why the called party's answer leaves us without media; undefined when it does not. */
  #settleAnswer(sdp: string | undefined): string | undefined {
    if (sdp === undefined) {
      return this.status === 'early' ? undefined : 'the called party answered without SDP';
    }
    const settled = this.#media.settle(sdp);
    return settled.ok ? undefined : settled.error.detail;
  }

  // -------------------------------------------------------------- end

  /**
   * Answered time is booked up to this moment of the monotonic clock at the latest, however late the end itself comes.
   * The returned function lifts the limit.
   */
  limitTo(atMs: number): () => void {
    const limit = { atMs };
    this.#limits.add(limit);
    return () => this.#limits.delete(limit);
  }

  /** Ends the call. The first end counts; later ones do nothing. */
  hangup(cause: HangupCauseKey, source: HangupSource, detail?: string): void {
    if (this.isEnded) return;
    const disposition = ownDisposition({
      direction: this.identity.facts.direction,
      answered: this.answerUs !== undefined || this.#accepted,
      dialled: this.#leg !== undefined,
    });
    this.#finish({ cause, source, disposition, detail });
    this.#leg?.hangup(cause);
  }

  #legEnded(end: LegEnd): void {
    if (this.isEnded) return;
    if (end.dueMs !== undefined) this.limitTo(end.dueMs);
    const { direction } = this.identity.facts;
    this.#finish(
      endOfLeg(end, {
        direction,
        answered: this.#accepted,
        toEndpoint: this.identity.endpointId !== undefined,
      }),
    );
  }

  #finish(end: CallEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    this.status = 'ended';
    this.endUs = this.#bookedEndUs();
    this.log.add('call', `ended: ${end.cause}`, { source: end.source, detail: end.detail });
    // Verbs unwind first: they close their streams and recordings against live media.
    this.#abort.abort(new CallEnded());
    this.quality = this.#media.close();
    this.#resolveEnded(end);
  }

  // -------------------------------------------------------------- shared

  /** In the time of this call: see Timeline. */
  nowUs(): number {
    return this.#timeline.nowUs();
  }

  /** The moment of the monotonic clock that this call's records show as `us`. */
  msAt(us: number): number {
    return this.#timeline.msAt(us);
  }

  /** Where the answered time of a leg that goes with this one is over; undefined while this one lives. */
  get endMs(): number | undefined {
    return this.endUs === undefined ? undefined : this.msAt(this.endUs);
  }

  #bookedEndUs(): number {
    const limits = [...this.#limits].map(({ atMs }) => this.#timeline.usAt(atMs));
    return Math.max(this.answerUs ?? 0, Math.min(this.nowUs(), ...limits));
  }

  /** No port, or a media engine that takes no more: the call ends, and says why. */
  async #openMedia(): Promise<void> {
    try {
      await this.#media.open();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.hangup('concurrencyBreached', 'Error', error.message);
    }
  }

  #legEvents(): LegEvents {
    return {
      ended: (end) => this.#legEnded(end),
      offered: (sdp) => this.#offered(sdp),
      answered: (sdp) => this.#lateAnswer(sdp),
      dtmf: (digit) => {
        if (this.#media.isOpen) this.media.pressed(digit);
      },
    };
  }

  /** A re-INVITE: hold, resume, another address. The stream and everything that plays go on. */
  #offered(sdp: string | undefined): string | undefined {
    if (!this.#media.isOpen) return undefined;
    const before = this.hold;
    const described = this.#media.describe(sdp);
    this.#tellHold(before);
    if (described.ok) return described.value;
    this.log.add('warning', 'offer refused (488)', { detail: described.error.detail });
    return undefined;
  }

  #lateAnswer(sdp: string): void {
    if (!this.#media.isOpen || this.isEnded) return;
    const before = this.hold;
    const settled = this.#media.settle(sdp);
    this.#tellHold(before);
    if (!settled.ok) this.hangup('mediaAnchoring', 'Error', settled.error.detail);
  }

  #tellHold(before: Call['hold']): void {
    if (this.hold === before) return;
    for (const events of [...this.#events]) events.holds?.();
  }

  #press(digit: string): void {
    if (!this.isEnded) this.digits.press(digit);
  }

  #toRinging(): void {
    if (this.status !== 'new') return;
    this.status = 'ringing';
    this.ringUs = this.nowUs();
    for (const events of [...this.#events]) events.ringing?.();
  }

  #toAnswered(): void {
    this.status = 'answered';
    this.log.add('call', 'answered');
    for (const events of [...this.#events]) events.answered?.();
  }
}

/** Why waits of a call that is over are abandoned. */
export class CallEnded extends Error {
  constructor() {
    super('the call has ended');
    this.name = 'CallEnded';
  }
}
