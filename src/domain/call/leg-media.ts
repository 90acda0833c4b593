import { assert } from '../../base/errors.ts';
import { ok, type Result } from '../../base/result.ts';
import type { SdpProblem } from '../../protocol/sdp/sdp.ts';
import type { MediaQuality } from '../cdr/types.ts';
import type { CallLog } from './call-log.ts';
import type { Media, MediaLeg, MediaLegEvents, RemoteMedia } from './needs.ts';
import { Negotiation } from './negotiate.ts';

export interface LegMediaNeeds {
  readonly media: Media;
  /** A number for `o=` lines. */
  readonly sessionId: () => number;
  readonly mediaTimeoutMs: number;
  readonly log: CallLog;
}

/** RTP and SDP of one leg: its ports, what was offered and answered, and what that settled. */
export class LegMedia {
  /** Of the last settlement. */
  codec: string | undefined;
  /** The peer's keypad presses come as events (RFC 4733), not as tones within its audio. */
  keypadEvents = false;

  readonly #needs: LegMediaNeeds;
  readonly #events: MediaLegEvents;
  #leg: MediaLeg | undefined;
  #opening: Promise<void> | undefined;
  #negotiation: Negotiation | undefined;
  #closed = false;

  constructor(needs: LegMediaNeeds, events: MediaLegEvents) {
    this.#needs = needs;
    this.#events = events;
  }

  get leg(): MediaLeg {
    assert(this.#leg !== undefined, 'the leg has no media yet');
    return this.#leg;
  }

  /** Its ports are open: offers can be made and answered. */
  get isOpen(): boolean {
    return this.#negotiation !== undefined && !this.#closed;
  }

  /** Opens the RTP ports, once. Rejects with ServiceError when there are none. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { media, mediaTimeoutMs, sessionId } = this.#needs;
    const leg = await media.openLeg({ mediaTimeoutMs }, this.#events);
    if (this.#closed) {
      leg.close();
      return;
    }
    this.#leg = leg;
    this.#negotiation = new Negotiation(leg, sessionId());
  }

  /** Our description, as an offer. */
  offer(): string {
    return this.#negotiating.offer();
  }

  /** Our description: the answer to an offer of the peer, which media follows at once; without one, an offer. */
  describe(offerSdp: string | undefined): Result<string, SdpProblem> {
    if (offerSdp === undefined) return ok(this.offer());
    const answered = this.#negotiating.answer(offerSdp);
    if (!answered.ok) return answered;
    this.#configure(answered.value.remote);
    return ok(answered.value.sdp);
  }

  /** The peer's answer to our offer. */
  settle(answerSdp: string): Result<void, SdpProblem> {
    const remote = this.#negotiating.settle(answerSdp);
    if (!remote.ok) return remote;
    this.#configure(remote.value);
    return ok(undefined);
  }

  /** Frees the ports; what was received until now. */
  close(): MediaQuality | undefined {
    this.#closed = true;
    return this.#leg?.close();
  }

  get #negotiating(): Negotiation {
    assert(this.#negotiation !== undefined, 'the leg has no media yet');
    return this.#negotiation;
  }

  #configure(remote: RemoteMedia): void {
    this.codec = remote.codec;
    this.keypadEvents = remote.telephoneEvent !== undefined;
    this.#needs.log.add('media', 'media settled', {
      codec: remote.codec,
      peer: `${remote.address}:${remote.port}`,
      direction: remote.direction,
      ptimeMs: remote.ptimeMs,
      telephoneEvent: remote.telephoneEvent,
    });
    this.#leg?.configure(remote);
  }
}
