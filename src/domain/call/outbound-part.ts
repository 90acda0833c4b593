/** Outbound part of a call: tries targets in order until one answers. */
import { isUndelivered } from './end-cause.ts';
import type { Leg, LegEnd, Offer, OutboundTarget, RespondingPeer, Signalling } from './needs.ts';
import { type CallPart, legEventsOf, openMedia, type PartOf } from './part.ts';
import { NOBODY, type Peer } from './peer.ts';
import {
  type DialPlan,
  describeTarget,
  type TargetSelector,
  tryTargets,
} from './target-selection.ts';

/** Provisional statuses that mean ringing. After 181, 182 and 199 the called party is not (or no longer) ringing. */
const RINGING: ReadonlySet<number> = new Set([180, 183]);
/** Maximum number of early dialogs of one call whose media is used. */
const MOST_EARLY = 16;
const NONE: readonly string[] = [];

export class OutboundPart implements CallPart {
  readonly #of: PartOf;
  #leg: Leg | undefined;
  #peer: Peer = NOBODY;
  #target: OutboundTarget | undefined;
  /** Number of INVITEs that may still be answered. */
  #openOffers = 0;
  /** Delayed offer: the INVITE has no SDP, and the called party makes the offer. */
  #isDelayed = false;
  /** Descriptions of early media, each used once. A proxy that forks the INVITE causes several (RFC 3261 §13.2.2.4). */
  #early = NONE;

  constructor(of: PartOf) {
    this.#of = of;
  }

  get leg(): Leg | undefined {
    return this.#leg;
  }

  get peer(): Peer {
    return this.#peer;
  }

  get isOffered(): boolean {
    return this.#openOffers > 0;
  }

  dial(signalling: Signalling, plan: DialPlan): Promise<void> {
    return tryTargets(signalling, plan, this.#selector());
  }

  #selector(): TargetSelector {
    const { course, log, hangup } = this.#of;
    const legEvents = legEventsOf(this.#of);
    return {
      owner: this.#of.owner,
      signal: course.signal,
      offer: (target) => this.#offer(target),
      noSlot: (detail) => hangup('concurrencyBreached', 'Platform', detail),
      trying: (target, attempt, waitedMs) => this.#trying(target, attempt, waitedMs),
      took: (leg) => this.#took(leg),
      mayForward: (redirected) =>
        course.status === 'new' || (redirected && !course.isEnded && !course.isAccepted),
      wentOn: (end) => {
        this.#closeOffer(end);
        log.add('sip', 'next target', { after: end.how, status: end.status });
      },
      events: {
        ...legEvents,
        ended: (end) => {
          this.#closeOffer(end);
          legEvents.ended(end);
        },
        heardFrom: (peer) => this.#heardFrom(peer),
        progress: (status, early) => this.#progress(status, early),
        connected: (sdp) => this.#connected(sdp),
      },
    };
  }

  async #offer(target: OutboundTarget): Promise<Offer | undefined> {
    const { srtp, kind, codecs, policy, isTrunk = false } = target;
    const { course, media } = this.#of;
    await openMedia(this.#of);
    if (course.isEnded) return undefined;
    media.protectBy(srtp);
    media.speakTo(kind === 'carrier' || isTrunk ? 'carriers' : 'phones', codecs);
    this.#isDelayed = policy?.delayedOffer === true;
    return this.#isDelayed ? { sdp: '' } : media.offers();
  }

  #trying(target: OutboundTarget, attempt: number, waitedMs: number): void {
    const carrier = target.kind === 'carrier' ? target.carrier : undefined;
    const takesRefer = target.policy?.refer === true;
    this.#peer = { ...NOBODY, sipCallId: this.#peer.sipCallId, carrier, takesRefer };
    this.#target = target;
    this.#openOffers += 1;
    const waited = waitedMs > 0 ? { waitedMs: Math.round(waitedMs) } : {};
    this.#of.log.add('sip', 'INVITE', { target: describeTarget(target), attempt, ...waited });
  }

  #closeOffer(end: LegEnd): void {
    if (isUndelivered(end, { toEndpoint: this.#target?.kind === 'endpoint' }))
      this.#openOffers -= 1;
  }

  #took(leg: Leg): void {
    this.#leg = leg;
    this.#peer = { ...this.#peer, sipCallId: leg.sipCallId };
    // The call ended during setup: cancel the INVITE.
    if (this.#of.course.isEnded) leg.hangup('canceled');
  }

  #heardFrom({ source, userAgent, isOfferedIpv6 }: RespondingPeer): void {
    this.#peer = { ...this.#peer, remoteAddress: source.address, userAgent };
    const { media } = this.#of;
    media.movedTo(source.address);
    media.offeredTo(isOfferedIpv6 ? 'IP6' : 'IP4');
  }

  #progress(status: number, sdp: string | undefined): void {
    const { course, log, media } = this.#of;
    if (course.isEnded || course.status === 'answered') return;
    log.add('sip', `${status} from the called party`, { earlyMedia: sdp !== undefined });
    if (sdp !== undefined || RINGING.has(status)) course.ringing();
    if (sdp === undefined || this.#early.includes(sdp) || this.#early.length === MOST_EARLY) return;
    const settled = media.settleFirst(sdp);
    if (!settled.ok) {
      log.add('warning', 'early media cannot be used', { detail: settled.error.detail });
      return;
    }
    this.#early = [...this.#early, sdp];
    if (course.status !== 'early') course.earlyMedia();
  }

  /** Handles the 200. Returns the answer to a delayed offer. */
  #connected(sdp: string | undefined): string | undefined {
    const { course, hangup } = this.#of;
    if (course.isEnded) return undefined;
    course.accepted();
    this.#early = NONE;
    const { problem, answer } = this.#agree(sdp);
    // A call without usable media is not billed (spec, Call-level failures: media negotiation failure).
    if (problem !== undefined) {
      hangup('mediaAnchoring', 'Error', problem);
      return undefined;
    }
    course.answeredAt(course.nowUs());
    course.answered();
    return answer;
  }

  #agree(sdp: string | undefined): { readonly problem?: string; readonly answer?: string } {
    if (!this.#isDelayed) {
      const problem = this.#settleAnswer(sdp);
      return problem === undefined ? {} : { problem };
    }
    if (sdp === undefined) return { problem: 'the called party answered without an offer' };
    const described = this.#of.media.describe(sdp);
    return described.ok ? { answer: described.value } : { problem: described.error.detail };
  }

  /** Returns why the called party's answer is unusable, or undefined if it is usable. */
  #settleAnswer(sdp: string | undefined): string | undefined {
    const { course, media } = this.#of;
    if (sdp === undefined) {
      return course.status === 'early' ? undefined : 'the called party answered without SDP';
    }
    const settled = media.settleFirst(sdp);
    return settled.ok ? undefined : settled.error.detail;
  }
}
