/** A call that came in: we ring, and we answer. */
import type { InboundLeg } from './needs.ts';
import { type CallPart, legEventsOf, openMedia, type PartOf } from './part.ts';
import type { Peer } from './peer.ts';

export class InboundPart implements CallPart {
  readonly leg: InboundLeg;
  readonly peer: Peer;
  readonly isOffered = false;
  readonly #of: PartOf;
  #answering: Promise<boolean> | undefined;

  constructor(leg: InboundLeg, of: PartOf) {
    const { sipCallId, userAgent, source, carrier } = leg;
    this.leg = leg;
    this.peer = { sipCallId, userAgent, remoteAddress: source.address, carrier };
    this.#of = of;
  }

  /** From now on the call gets the events of the leg; an end that came earlier is reported at once. */
  attach(): void {
    this.leg.belongsTo?.(this.#of.owner);
    this.leg.attach(legEventsOf(this.#of));
  }

  /** A 200 of ours is on its way to the caller, who has not acknowledged it yet; true once he has. */
  get confirming(): Promise<boolean> | undefined {
    const { isAccepted, isEnded, status } = this.#of.course;
    return isAccepted && !isEnded && status !== 'answered' ? this.#answering : undefined;
  }

  /** Only for a new call. */
  ring(): void {
    this.#of.course.ringing();
    this.leg.ring();
  }

  async startEarlyMedia(): Promise<boolean> {
    const { course } = this.#of;
    if (hearsUs(course)) return true;
    const sdp = await this.#localSdp();
    if (sdp === undefined || course.isEnded || this.leg.sdp === undefined) return false;
    // Meanwhile somebody else may have begun it, or have answered.
    if (hearsUs(course)) return true;
    course.ringing();
    this.leg.ring(sdp);
    course.earlyMedia();
    return true;
  }

  /** Repeated calls share one 200. */
  answer(durable: () => Promise<void>): Promise<boolean> {
    this.#answering ??= this.#answer(durable);
    return this.#answering;
  }

  async #answer(durable: () => Promise<void>): Promise<boolean> {
    const { course } = this.#of;
    const sdp = await this.#localSdp();
    if (sdp === undefined || course.isEnded) return false;
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

  async #localSdp(): Promise<string | undefined> {
    const { course, media, hangup } = this.#of;
    await openMedia(this.#of);
    if (course.isEnded) return undefined;
    const described = media.describe(this.leg.sdp);
    if (described.ok) return described.value;
    hangup('mediaAnchoring', 'Error', described.error.detail);
    return undefined;
  }
}

const hearsUs = ({ status, isAccepted }: PartOf['course']): boolean =>
  isAccepted || status === 'early' || status === 'answered';
