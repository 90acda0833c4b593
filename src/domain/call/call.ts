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
import type { Headers, InboundLeg, Leg, LegEnd, LegPolicy, MediaLeg, Signalling } from './needs.ts';
import { OneWayAudioDetector } from './one-way-audio.ts';
import { mayForward } from './onward-headers.ts';
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
export type { CallerPreference, CallIdentity, CallPrice } from './identity.ts';
export {
  finalRecord,
  hangupNotification,
  openRecord,
  type RecordSettings,
} from './record.ts';
export { type CallTerms, type Recorded, waitingCall } from './recorded.ts';
export type { DialPlan, FindSlot, TargetSlot } from './target-selection.ts';

export interface CallNeeds extends LegMediaNeeds {
  readonly clock: Pick<Clock, 'at' | 'monotonicMs' | 'wallMs'>;
  /** Inbound calls are answered only while it is held. Undefined without a cluster. */
  readonly lease?: PartOf['lease'];
}

/** One call leg with its signalling, media and billing state, from the first message to the end. */
export class Call implements Recorded {
  readonly identity: CallIdentity;
  readonly price: CallPrice;
  readonly log: CallLog;
  readonly digits: DigitHub;
  /** Abort signal of the call: aborted when the call ends. Verbs and waits use it. */
  readonly signal: AbortSignal;
  /** Resolves once, with the cause of the end. */
  readonly ended: Promise<CallEnd>;
  /** Audio streams of the call, as they are recorded. */
  readonly streams: CallStreams;

  readonly #course: CallState;
  readonly #media: LegMedia;
  readonly #hearing = new OneWayAudioDetector();
  readonly #needs: Pick<CallNeeds, 'clock' | 'lease'>;
  /** Direction-specific part; undefined until there is an INVITE. */
  #part: InboundPart | OutboundPart | undefined;
  #lostPeer: LostPeer | undefined;
  #hangupTarget: CallbackTarget | undefined;
  #bridgeUuid: CallUuid | undefined;
  #machine: boolean | undefined;
  /** If true, the end of the call writes no record and no hangup notification. */
  isUnrecorded = false;
  /** Cached facts. Rebuilt once answering machine detection has a result. */
  #facts: CallFacts | undefined;
  #quality: MediaQuality | undefined;

  constructor({ identity, price, hangupTarget }: CallTerms, needs: CallNeeds) {
    this.identity = identity;
    this.price = price;
    this.log = needs.log;
    this.streams = new CallStreams(price);
    this.#hangupTarget = hangupTarget;
    this.#course = new CallState(needs.clock, needs.log);
    this.#needs = needs;
    const expectAudio = (): void => {
      if (this.isAnswered)
        this.#hearing.expect(this.hold === undefined, this.#needs.clock.monotonicMs());
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
          // A peer may listen to early media without sending. Its media timeout starts with the answer.
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

  /** Result of our 200 while its ACK is pending; resolves to true at the ACK. Undefined when no ACK is pending. */
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

  /** UUID of the other leg in the most recent bridge. */
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

  /** Media quality of the whole call; undefined until the call has ended or if it had no media. */
  get quality(): MediaQuality | undefined {
    return this.#quality;
  }

  /** Adds a sample of the current media quality to the log and returns it. Returns undefined without media. */
  sampleQuality(): MediaQuality | undefined {
    const quality = this.#judged(this.#media.quality());
    if (quality !== undefined) this.log.quality.add({ ...quality, atUs: this.nowUs() });
    return quality;
  }

  /** Adds the one-way-audio time to `quality`. Logs when one-way audio begins and ends. */
  #judged(quality: MediaQuality | undefined): MediaQuality | undefined {
    if (quality === undefined) return undefined;
    const nowMs = this.#needs.clock.monotonicMs();
    const { packetsReceived, packetsSent } = quality;
    const dueForMs = this.#hearing.unheardMs(packetsReceived, nowMs);
    const change = this.#hearing.look(packetsReceived, nowMs);
    const facts = { dueForMs, packetsSent };
    if (change === 'unheard')
      this.log.add('warning', 'one-way audio: no RTP has come from the peer', facts);
    if (change === 'heard') this.log.add('media', 'RTP from the peer has started');
    return dueForMs === undefined ? quality : { ...quality, unheardMs: dueForMs };
  }

  /** Media of a leg that is answered or has early media. Asserts that the media exists. */
  get media(): MediaLeg {
    return this.#media.leg;
  }

  /** Media of the leg, or undefined if it is not open. */
  get mediaIfOpen(): MediaLeg | undefined {
    return this.#media.legIfOpen;
  }

  get codec(): string | undefined {
    return this.#media.codec;
  }

  /** True if the peer sends keypad presses as events (RFC 4733) and not as in-band tones. */
  get keypadEvents(): boolean {
    return this.#media.keypadEvents;
  }

  /** Reason why the inbound INVITE's offer cannot be answered. Undefined if it can, or if there is no offer. */
  get offerProblem(): SdpProblem | undefined {
    const sdp = this.#inbound?.leg.sdp;
    return sdp === undefined ? undefined : this.#media.problemOf(sdp);
  }

  /** Hold state set by the peer; undefined when it does not hold the call. */
  get hold(): LegMedia['hold'] {
    return this.#media.hold;
  }

  /** Header fields and remaining hops that the inbound INVITE passes on to the calls that follow from it. */
  onward(): { readonly headers: Headers; readonly maxForwards: number | undefined } {
    const leg = this.#inbound?.leg;
    const headers = mayForward(leg?.headers ?? [], leg?.claims);
    const left = leg?.maxForwards;
    return { headers, maxForwards: left === undefined ? undefined : Math.max(0, left - 1) };
  }

  /** Signalling ID of the leg, as REFERs name it; undefined if there is no leg. */
  get legId(): string | undefined {
    return this.#part?.leg?.id;
  }

  /** Sends REFER to the peer. Undefined if the call is not answered or the leg does not support REFER. */
  get refer(): Leg['refer'] {
    const leg = this.#part?.leg;
    return this.isAnswered ? leg?.refer?.bind(leg) : undefined;
  }

  observe(events: CallEvents): () => void {
    return this.#course.observe(events);
  }

  get #inbound(): InboundPart | undefined {
    return this.#part instanceof InboundPart ? this.#part : undefined;
  }

  /** Adopts an inbound leg in the event-loop turn of its INVITE. `ownsMessages`: the call shows its SIP messages. */
  takeInbound(leg: InboundLeg, preference: LegPolicy = {}, { ownsMessages = true } = {}): void {
    this.#media.protectBy(preference.srtp);
    this.#media.speakTo(leg.carrier === undefined ? 'phones' : 'carriers', preference.codecs);
    const part = new InboundPart(leg, this.#partOf());
    this.#part = part;
    if (ownsMessages) part.claimMessages();
    part.attach();
  }

  /** Sends 180 if the call is new. */
  ring(): void {
    if (this.status === 'new') this.#inbound?.ring();
  }

  /** Sends 183 with SDP, so that the caller hears audio before the answer. Returns false if early media is impossible. */
  async startEarlyMedia(): Promise<boolean> {
    return this.#inbound?.startEarlyMedia() ?? this.status === 'early';
  }

  /**
   * Sends 200 with SDP. Resolves to true once the ACK was received and `durable` has stored the answer; only then is the
   * call answered and billed.
   */
  async answer(durable: () => Promise<void>): Promise<boolean> {
    if (this.isAnswered) return true;
    assert(this.#inbound !== undefined, 'only an inbound leg is answered by us');
    return this.#inbound.answer(durable);
  }

  /** Sends the INVITE to each target in turn until one accepts. Further progress arrives through events and `ended`. */
  async dial(signalling: Signalling, plan: DialPlan): Promise<void> {
    this.#part = new OutboundPart(this.#partOf());
    await this.#part.dial(signalling, plan);
  }

  /** Records a bridge between both calls. */
  bridgedWith(other: Call): void {
    this.#bridgeUuid = other.uuid;
    other.#bridgeUuid = this.uuid;
  }

  /** Records the result of answering machine detection. */
  answeredBy(machine: boolean): void {
    this.#machine = machine;
    this.#facts = undefined;
  }

  /** Suppresses the hangup notification, for a call whose request has been refused. */
  endUntold(): void {
    this.#hangupTarget = undefined;
  }

  /** Suppresses the record and the hangup notification, for a call that this node cannot serve. */
  endUnrecorded(): void {
    this.endUntold();
    this.isUnrecorded = true;
  }

  /** Caps answered time at `atMs` (monotonic, ms). The returned function removes the cap. */
  limitTo(atMs: number): () => void {
    return this.#course.limitTo(atMs);
  }

  /** Ends the call. Only the first end takes effect. */
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

  /** Ends a call whose media could not be set up. It is not billed (spec, Call-level failures: media negotiation failure). */
  #endUnheard(fault: string): void {
    if (this.answerUs !== undefined) this.limitTo(this.msAt(this.answerUs));
    this.hangup('mediaAnchoring', 'Error', fault);
  }

  #connection(connected: boolean): void {
    if (this.isEnded) return;
    this.#lostPeer ??= new LostPeer({
      clock: this.#needs.clock,
      log: this.log,
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

  /** Current time on the call's timeline, in microseconds; see Timeline. */
  nowUs(): number {
    return this.#course.nowUs();
  }

  /** Converts `us` on the timeline to monotonic time (ms). */
  msAt(us: number): number {
    return this.#course.msAt(us);
  }

  /** Monotonic time (ms) at which the call ended; undefined while it is active. Caps the answered time of linked legs. */
  get endMs(): number | undefined {
    return this.endUs === undefined ? undefined : this.msAt(this.endUs);
  }

  #partOf(): PartOf {
    return {
      owner: {
        uuid: this.uuid,
        parent: this.identity.parentCallUuid,
        trunk: this.facts.direction === 'outbound' ? this.identity.trunkId : undefined,
      },
      course: this.#course,
      media: this.#media,
      log: this.log,
      lease: this.#needs.lease,
      hangup: (...how) => this.hangup(...how),
      legEnded: (end) => this.#legEnded(end),
      connection: (connected) => this.#connection(connected),
    };
  }
}
