/** Inbound part of a call: ringing, early media and the answer. */
import { noOperation } from '../../base/no-operation.ts';
import type { InboundLeg } from './needs.ts';
import { type CallPart, legEventsOf, openMedia, type PartOf } from './part.ts';
import type { Peer } from './peer.ts';

export class InboundPart implements CallPart {
  readonly leg: InboundLeg;
  readonly peer: Peer;
  readonly isOffered = false;
  readonly #of: PartOf;
  #answering: Promise<boolean> | undefined;
  /** Our answer to an offer after early media and before our 200. It replaces the answer to the INVITE. */
  #renegotiated: string | undefined;

  constructor(leg: InboundLeg, of: PartOf) {
    const { sipCallId, userAgent, source, carrier } = leg;
    this.leg = leg;
    this.peer = { sipCallId, userAgent, remoteAddress: source.address, carrier };
    this.#of = of;
  }

  /** Shows the SIP messages of the leg with the call. */
  claimMessages(): void {
    this.leg.belongsTo?.(this.#of.owner);
  }

  /** Attaches the call to the events of the leg. If the leg has already ended, its end is reported immediately. */
  attach(): void {
    const events = legEventsOf(this.#of);
    this.leg.attach({
      ...events,
      offered: (sdp) => {
        const answer = events.offered(sdp);
        if (!this.#of.course.isAccepted) this.#renegotiated = answer ?? this.#renegotiated;
        return answer;
      },
    });
  }

  /** Result of our 200 while its ACK is pending; resolves to true at the ACK. Undefined when no ACK is pending. */
  get confirming(): Promise<boolean> | undefined {
    const { isAccepted, isEnded, status } = this.#of.course;
    return isAccepted && !isEnded && status !== 'answered' ? this.#answering : undefined;
  }

  /** Sends 180. Only valid for a new call. */
  ring(): void {
    this.#of.course.ringing();
    this.leg.ring();
  }

  async startEarlyMedia(): Promise<boolean> {
    const { course } = this.#of;
    if (hearsUs(course)) return true;
    const sdp = await this.#localSdp();
    if (sdp === undefined || course.isEnded || this.leg.sdp === undefined) return false;
    // Another caller may have started early media or answered during the await.
    if (hearsUs(course)) return true;
    course.ringing();
    this.leg.ring(sdp);
    course.earlyMedia();
    return true;
  }

  /** Answers the call. Repeated calls share one 200. */
  answer(durable: () => Promise<void>): Promise<boolean> {
    this.#answering ??= this.#answer(durable);
    return this.#answering;
  }

  async #answer(durable: () => Promise<void>): Promise<boolean> {
    const { course } = this.#of;
    const sdp = await this.#localSdp();
    if (sdp === undefined || !(await this.#isOurs())) return false;
    course.accepted();
    const sentUs = course.nowUs();
    const acknowledged = await this.leg.answer(sdp);
    if (!acknowledged.ok || course.isEnded) return false;
    course.answeredAt(sentUs);
    await durable();
    if (course.isEnded) return false;
    course.answered();
    return true;
  }

  /**
   * Waits until no other node can have adopted the call, which this process does not notice while it is stopped. Returns
   * false once the call has ended.
   */
  async #isOurs(): Promise<boolean> {
    const { course, lease } = this.#of;
    if (lease !== undefined) await lease.held(course.signal).catch(noOperation); // ended
    return !course.isEnded;
  }

  async #localSdp(): Promise<string | undefined> {
    const { course, media, hangup } = this.#of;
    await openMedia(this.#of);
    if (course.isEnded) return undefined;
    if (this.#renegotiated !== undefined) return this.#renegotiated;
    const described = media.describe(this.leg.sdp);
    if (described.ok) return described.value;
    hangup('mediaAnchoring', 'Error', described.error.detail);
    return undefined;
  }
}

const hearsUs = ({ status, isAccepted }: PartOf['course']): boolean =>
  isAccepted || status === 'early' || status === 'answered';
