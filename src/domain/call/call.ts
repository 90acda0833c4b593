import type { Clock } from '../../base/clock.ts';
import { assert } from '../../base/errors.ts';
import type { CallUuid } from '../../base/ids.ts';
import type { SdpProblem } from '../../protocol/sdp/sdp.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { MediaQuality } from '../cdr/types.ts';
import type { CallLog } from './call-log.ts';
import { type CallEvents, CallState, type CallStatus } from './call-state.ts';
import { CallStreams } from './call-streams.ts';
import { DigitHub } from './digits.ts';
import { type CallEnd, endOfLeg, ownDisposition } from './end-cause.ts';
import type { HangupCauseKey, HangupSource } from './hangup-cause.ts';
import type { CallIdentity, CallPrice } from './identity.ts';
import { InboundPart } from './inbound-part.ts';
import { LegMedia, type LegMediaNeeds } from './leg-media.ts';
import { LostPeer } from './lost-peer.ts';
import type { Headers, InboundLeg, Leg, LegEnd, MediaLeg, MediaWish, Signalling } from './needs.ts';
import { OneWayAudioDetector } from './one-way-audio.ts';
import { mayGoOn } from './onward-headers.ts';
import { OutboundPart } from './outbound-part.ts';
import type { PartOf } from './part.ts';
import { NOBODY, type Peer } from './peer.ts';
import type { CallTerms, Recorded } from './recorded.ts';
import type { DialPlan } from './target-selection.ts';

export { CallLog, type CallLogEntry, type CallLogKind, CallLogs } from './call-log.ts';
export type { StreamFacts } from './call-streams.ts';
export { DigitHub, matchDigits } from './digits.ts';
export { endAt } from './end-at.ts';
export type { CallEnd } from './end-cause.ts';
export type { CallerWish, CallIdentity, CallPrice } from './identity.ts';
export {
  cdrOf,
  finalRecord,
  hangupNotification,
  openRecord,
  type RecordSettings,
} from './record.ts';
export { type CallTerms, type Recorded, waitingCall } from './recorded.ts';
export type { DialPlan, FindSlot, TargetSlot } from './target-selection.ts';

export interface CallNeeds extends LegMediaNeeds {
  readonly clock: Pick<Clock, 'at' | 'monotonicMs' | 'wallMs'>;
}

/** One leg of a conversation with all that belongs to it, from its first message to its end. */
export class Call implements Recorded {
  readonly identity: CallIdentity;
  readonly price: CallPrice;
  readonly log: CallLog;
  readonly digits: DigitHub;
  /** Aborted when the call ends; every verb and every wait hangs on it. */
  readonly signal: AbortSignal;
  /** Resolves once, with how it ended. */
  readonly ended: Promise<CallEnd>;
  /** Its audio streams, as they are recorded. */
  readonly streams: CallStreams;

  readonly #course: CallState;
  readonly #media: LegMedia;
  readonly #hearing = new OneWayAudioDetector();
  readonly #clock: CallNeeds['clock'];
  /** What differs with the direction; undefined while there is no INVITE. */
  #part: InboundPart | OutboundPart | undefined;
  #lostPeer: LostPeer | undefined;
  #hangupTarget: CallbackTarget | undefined;
  #bridgeUuid: CallUuid | undefined;
  #machine: boolean | undefined;
  #isUnrecorded = false;
  /** Put together when they are first asked for, and anew once it is known who answered. */
  #facts: CallFacts | undefined;
  #quality: MediaQuality | undefined;

  constructor({ identity, price, hangupTarget }: CallTerms, needs: CallNeeds) {
    this.identity = identity;
    this.price = price;
    this.log = needs.log;
    this.streams = new CallStreams(price);
    this.#hangupTarget = hangupTarget;
    this.#course = new CallState(needs.clock, needs.log);
    this.#clock = needs.clock;
    const expectAudio = (): void => {
      if (this.isAnswered) this.#hearing.expect(this.hold === undefined, this.#clock.monotonicMs());
    };
    this.#course.observe({ answered: expectAudio, holds: expectAudio });
    this.signal = this.#course.signal;
    this.ended = this.#course.ended;
    this.#media = new LegMedia(
      needs,
      {
        dtmf: (digit) => {
          if (!this.isEnded) this.digits.press(digit);
        },
        silent: (lateMs) => {
          // In early media a peer may listen without sending; its time begins with the answer.
          if (!this.isAnswered) return;
          this.limitTo(needs.clock.monotonicMs() - lateMs);
          this.hangup('mediaTimeout', 'Error', 'no RTP from the peer');
        },
        secured: (fault) => {
          if (fault !== undefined) this.#endUnheard(fault);
        },
      },
      () => ({ heardFrom: this.peer.remoteAddress, carrier: this.peer.carrier }),
    );
    this.digits = new DigitHub((wanted) => this.#media.hearTones(wanted));
  }

  // -------------------------------------------------------------- what is known of it

  get uuid(): CallUuid {
    return this.identity.callUuid;
  }

  get facts(): CallFacts {
    this.#facts ??= { ...this.identity.facts, machine: this.#machine };
    return this.#facts;
  }

  get status(): CallStatus {
    return this.#course.status;
  }

  get isEnded(): boolean {
    return this.#course.isEnded;
  }

  get isAnswered(): boolean {
    return this.status === 'answered';
  }

  /** A 200 of ours is on its way to the caller, who has not acknowledged it yet; true once he has. */
  get confirming(): Promise<boolean> | undefined {
    return this.#inbound?.confirming;
  }

  get ringUs(): number | undefined {
    return this.#course.ringUs;
  }

  get answerUs(): number | undefined {
    return this.#course.answerUs;
  }

  get endUs(): number | undefined {
    return this.#course.endUs;
  }

  /** The other leg of the last bridge. */
  get bridgeUuid(): CallUuid | undefined {
    return this.#bridgeUuid;
  }

  get machine(): boolean | undefined {
    return this.#machine;
  }

  get hangupTarget(): CallbackTarget | undefined {
    return this.#hangupTarget;
  }

  get peer(): Peer {
    return this.#part?.peer ?? NOBODY;
  }

  /** What was received, once it is over. */
  get quality(): MediaQuality | undefined {
    return this.#quality;
  }

  /** Notes how it sounds now (see CallLog.quality), and says it; undefined without media. */
  sampleQuality(): MediaQuality | undefined {
    const quality = this.#judged(this.#media.quality());
    if (quality !== undefined) this.log.quality.add({ ...quality, atUs: this.nowUs() });
    return quality;
  }

  /** With what has never been heard; the timeline tells when that begins and ends. */
  #judged(quality: MediaQuality | undefined): MediaQuality | undefined {
    if (quality === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const { packetsReceived, packetsSent } = quality;
    const unheardMs = this.#hearing.unheardMs(packetsReceived, nowMs);
    const change = this.#hearing.look(packetsReceived, nowMs);
    if (change === 'unheard')
      this.log.add('warning', 'one-way audio: no RTP has come from the peer', {
        dueForMs: unheardMs,
        packetsSent,
      });
    if (change === 'heard') this.log.add('media', 'RTP comes from the peer now');
    return unheardMs === undefined ? quality : { ...quality, unheardMs };
  }

  /** The media of a leg that has been answered or has early media. */
  get media(): MediaLeg {
    return this.#media.leg;
  }

  /** The same, or nothing yet. */
  get mediaIfOpen(): MediaLeg | undefined {
    return this.#media.legIfOpen;
  }

  get codec(): string | undefined {
    return this.#media.codec;
  }

  /** The peer's keypad presses come as events (RFC 4733), not as tones within its audio. */
  get keypadEvents(): boolean {
    return this.#media.keypadEvents;
  }

  /** Why the offer of the INVITE that arrived cannot be answered; undefined when it can, or when there is none. */
  get offerProblem(): SdpProblem | undefined {
    const sdp = this.#inbound?.leg.sdp;
    return sdp === undefined ? undefined : this.#media.problemOf(sdp);
  }

  /** How the peer holds us, if it does. */
  get hold(): LegMedia['hold'] {
    return this.#media.hold;
  }

  /** What the INVITE that arrived hands on to the one that follows from it: header fields, and hops. */
  onward(): { readonly headers: Headers; readonly maxForwards: number | undefined } {
    const leg = this.#inbound?.leg;
    const headers = mayGoOn(leg?.headers ?? [], leg?.claims);
    const left = leg?.maxForwards;
    return { headers, maxForwards: left === undefined ? undefined : Math.max(0, left - 1) };
  }

  /** Of its leg, as REFERs name it; undefined: there is none. */
  get legId(): string | undefined {
    return this.#part?.leg?.id;
  }

  /** Asks the peer to call somebody else; undefined: it cannot be asked. */
  get refer(): Leg['refer'] {
    const leg = this.#part?.leg;
    return this.isAnswered ? leg?.refer?.bind(leg) : undefined;
  }

  observe(events: CallEvents): () => void {
    return this.#course.observe(events);
  }

  // -------------------------------------------------------------- inbound

  get #inbound(): InboundPart | undefined {
    return this.#part instanceof InboundPart ? this.#part : undefined;
  }

  /** Takes over an INVITE; in the same turn in which it arrived. */
  takeInbound(leg: InboundLeg, wish: MediaWish = {}): void {
    this.#media.protectBy(wish.srtp);
    this.#media.speakTo(leg.carrier === undefined ? 'phones' : 'carriers', wish.codecs);
    const part = new InboundPart(leg, this.#partOf());
    this.#part = part;
    part.attach();
  }

  /** 180. */
  ring(): void {
    if (this.status === 'new') this.#inbound?.ring();
  }

  /** 183 with our SDP: the caller hears us before the call is answered. False when that cannot be. */
  async startEarlyMedia(): Promise<boolean> {
    return this.#inbound?.startEarlyMedia() ?? this.status === 'early';
  }

  /**
   * 200 with our SDP; true once the caller has acknowledged it, and only then is the call an answered one: what was never
   * acknowledged is never billed. `durable` is awaited before anything else happens, so that a crash from then on finds a
   * call that is known to be answered.
   */
  async answer(durable: () => Promise<void>): Promise<boolean> {
    if (this.isAnswered) return true;
    const inbound = this.#inbound;
    assert(inbound !== undefined, 'only an inbound leg is answered by us');
    return inbound.answer(durable);
  }

  // -------------------------------------------------------------- outbound

  /** Sends the INVITE, to one target after the other. Everything that follows comes through events and `ended`. */
  async dial(signalling: Signalling, plan: DialPlan): Promise<void> {
    const part = new OutboundPart(this.#partOf());
    this.#part = part;
    await part.dial(signalling, plan);
  }

  // -------------------------------------------------------------- what happens to it

  /** It talks with another one, which it tells too. */
  bridgedWith(other: Call): void {
    this.#bridgeUuid = other.uuid;
    other.#bridgeUuid = this.uuid;
  }

  /** Who answered turned out to be a machine, or a human. */
  answeredBy(machine: boolean): void {
    this.#machine = machine;
    this.#facts = undefined;
  }

  /** Nobody is told of its end: whoever asked for it has been refused. */
  endUntold(): void {
    this.#hangupTarget = undefined;
  }

  /** This node cannot serve the call: it leaves no record, and its end is not reported. */
  endUnrecorded(): void {
    this.#hangupTarget = undefined;
    this.#isUnrecorded = true;
  }

  get isUnrecorded(): boolean {
    return this.#isUnrecorded;
  }

  // -------------------------------------------------------------- end

  /** Answered time is booked up to this moment of the monotonic clock at the latest; the returned function lifts the limit. */
  limitTo(atMs: number): () => void {
    return this.#course.limitTo(atMs);
  }

  /** Ends the call. The first end counts; later ones do nothing. */
  hangup(cause: HangupCauseKey, source: HangupSource, detail?: string): void {
    if (this.isEnded) return;
    const leg = this.#part?.leg;
    const disposition = ownDisposition({
      direction: this.identity.facts.direction,
      answered: this.#course.isAccepted,
      dialled: leg !== undefined,
    });
    this.#finish({ cause, source, disposition, detail });
    leg?.hangup(cause, detail);
  }

  /** No media ever came about: nothing is billed (spec, Call-level failures: media negotiation failure). */
  #endUnheard(fault: string): void {
    if (this.answerUs !== undefined) this.limitTo(this.msAt(this.answerUs));
    this.hangup('mediaAnchoring', 'Error', fault);
  }

  #connection(connected: boolean): void {
    if (this.isEnded) return;
    this.#lostPeer ??= new LostPeer({
      ...{ clock: this.#clock, log: this.log },
      packetsReceived: () => this.#media.quality()?.packetsReceived,
      isHeld: () => this.isAnswered && this.hold !== undefined,
      gone: (sinceMs, detail) => {
        this.limitTo(sinceMs);
        if (this.isAnswered) this.hangup('mediaTimeout', 'Error', detail);
        else this.hangup('canceled', 'Caller', detail);
      },
    });
    this.#lostPeer.connection(connected);
  }

  #legEnded(end: LegEnd): void {
    if (this.isEnded) return;
    if (end.dueMs !== undefined) this.limitTo(end.dueMs);
    const { facts, endpointId } = this.identity;
    const { isAccepted: answered } = this.#course;
    const leg = { direction: facts.direction, answered, toEndpoint: endpointId !== undefined };
    this.#finish(endOfLeg(end, leg));
  }

  #finish(end: CallEnd): void {
    this.#lostPeer?.stop();
    this.#course.end(end, () => {
      const peer = this.#part?.isOffered ? 'offered' : 'refused';
      this.#quality = this.#judged(this.#media.close(this.#course.isAccepted ? 'known' : peer));
      if (this.#quality !== undefined)
        this.log.quality.end({ ...this.#quality, atUs: this.nowUs() });
    });
  }

  /** In the time of this call: see Timeline. */
  nowUs(): number {
    return this.#course.nowUs();
  }

  /** The moment of the monotonic clock that this call's records show as `us`. */
  msAt(us: number): number {
    return this.#course.msAt(us);
  }

  /** Where the answered time of a leg that goes with this one is over; undefined while this one lives. */
  get endMs(): number | undefined {
    return this.endUs === undefined ? undefined : this.msAt(this.endUs);
  }

  #partOf(): PartOf {
    return {
      owner: {
        ...{ uuid: this.uuid, parent: this.identity.parentCallUuid },
        trunk: this.facts.direction === 'outbound' ? this.identity.trunkId : undefined,
      },
      ...{ course: this.#course, media: this.#media, log: this.log },
      hangup: (...how) => this.hangup(...how),
      legEnded: (end) => this.#legEnded(end),
      connection: (connected) => this.#connection(connected),
    };
  }
}
