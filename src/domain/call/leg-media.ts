import type { RtpVerdict } from '../../base/egress.ts';
import { assert } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { SdpProblem } from '../../protocol/sdp/sdp.ts';
import type { MediaQuality } from '../cdr/types.ts';
import type { CallLog } from './call-log.ts';
import type {
  CodecPreferences,
  CodecWish,
  Media,
  MediaLeg,
  MediaLegEvents,
  MediaSession,
  PeerAtEnd,
  SrtpRule,
} from './needs.ts';
import { checkOffer, Negotiation } from './negotiate.ts';

/** Where the peer of a leg may be, and who vouches for it. */
export interface RtpPeer {
  readonly address: string;
  readonly port: number;
  /** `port` where both share it, else the one above. */
  readonly rtcpPort: number;
  /** Where its signalling comes from; undefined: not heard yet. */
  readonly heardFrom: string | undefined;
  /** Of a carrier's leg. */
  readonly carrier: string | undefined;
}

/** Which hosts RTP is accepted from besides those that SDP and signalling name. */
export interface RtpSources {
  /** `rtp.acceptOtherSources`. */
  readonly acceptOthers: boolean;
  /** The address of an edge proxy (`sip.edges`): it does not show where the peer is. */
  isEdge(address: string): boolean;
}

export interface LegMediaNeeds {
  /** What becomes of an address in a peer's SDP. */
  readonly judgeRtp: (peer: RtpPeer) => RtpVerdict;
  /** Undefined: no other hosts, and no edge proxies. */
  readonly rtpSources?: RtpSources | undefined;
  readonly media: Media;
  /** A number for `o=` lines. */
  readonly sessionId: () => number;
  /** Random bytes, for keys. */
  readonly bytes: (length: number) => Uint8Array;
  /** Of a leg that nothing else is said of. */
  readonly srtp: SrtpRule;
  readonly codecs: CodecPreferences;
  readonly mediaTimeoutMs: number;
  /** Whom it is called for; that leg's media, once there is some. */
  readonly near?: () => MediaLeg | undefined;
  readonly log: CallLog;
}

type MediaProblem = SdpProblem | { readonly kind: 'notAllowed'; readonly detail: string };

/** What we may do, as what the peer does. */
const HOLDS = {
  sendrecv: undefined,
  sendonly: undefined,
  recvonly: 'sendonly',
  inactive: 'inactive',
} as const;

/** No address to begin with: the peer's packets bring it (see MediaLeg.configure). */
const NOWHERE = '';

/** RTP and SDP of one leg: its ports, what was offered and answered, and what that settled. */
export class LegMedia {
  readonly #needs: LegMediaNeeds;
  readonly #events: MediaLegEvents;
  #leg: MediaLeg | undefined;
  #opening: Promise<void> | undefined;
  #negotiation: Negotiation | undefined;
  #negotiatedEvents = false;
  #settled = false;
  #closed = false;
  #codec: string | undefined;
  #hold: 'sendonly' | 'inactive' | undefined;
  #keypadEvents = false;
  #srtp: SrtpRule;
  #codecs: readonly CodecWish[];
  #tonesWanted = false;
  /** Where the peer's signalling has come from since the beginning of the leg, if that changed. */
  #movedTo: string | undefined;

  readonly #peer: () => Pick<RtpPeer, 'heardFrom' | 'carrier'>;

  constructor(
    needs: LegMediaNeeds,
    events: MediaLegEvents,
    peer: () => Pick<RtpPeer, 'heardFrom' | 'carrier'>,
  ) {
    this.#needs = needs;
    this.#events = events;
    this.#peer = peer;
    this.#srtp = needs.srtp;
    this.#codecs = needs.codecs.phones;
  }

  get leg(): MediaLeg {
    assert(this.#leg !== undefined, 'the leg has no media yet');
    return this.#leg;
  }

  get legIfOpen(): MediaLeg | undefined {
    return this.#closed ? undefined : this.#leg;
  }

  /** Of the last settlement. */
  get codec(): string | undefined {
    return this.#codec;
  }

  /** The peer holds us: it sends and does not listen, or neither. */
  get hold(): 'sendonly' | 'inactive' | undefined {
    return this.#hold;
  }

  /** The peer's last keypad press came as an event (RFC 4733), not as a tone within its audio. */
  get keypadEvents(): boolean {
    return this.#keypadEvents;
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
    const { media, mediaTimeoutMs, near, sessionId, bytes } = this.#needs;
    const leg = await media.openLeg({ mediaTimeoutMs, near: near?.() }, this.#legEvents());
    if (this.#closed) {
      leg.close('refused');
      return;
    }
    this.#leg = leg;
    if (this.#tonesWanted) leg.hearTones(true);
    this.#negotiation = new Negotiation(leg, {
      sessionId: sessionId(),
      bytes,
      fingerprint: media.fingerprint,
    });
  }

  #legEvents(): MediaLegEvents {
    return {
      dtmf: (digit, asTone) => {
        this.#keypadEvents = asTone !== true && this.#negotiatedEvents;
        this.#events.dtmf(digit, asTone);
      },
      silent: this.#events.silent,
      secured: (fault) => {
        this.#needs.log.add('media', 'keys exchanged by DTLS', { fault });
        this.#events.secured?.(fault);
      },
      sourceChanged: ({ address, port, reason }) =>
        this.#needs.log.add('media', 'RTP comes from another address', {
          peer: `${address}:${port}`,
          reason,
        }),
    };
  }

  /** Whether somebody wants keypad presses that come as tones. */
  hearTones(wanted: boolean): void {
    this.#tonesWanted = wanted;
    this.#leg?.hearTones(wanted);
  }

  /** What becomes of SRTP from the next description on; undefined: what becomes of it elsewhere. */
  protectBy(rule: SrtpRule | undefined): void {
    this.#srtp = rule ?? this.#needs.srtp;
  }

  /** From now on the peer's signalling comes from this IP address. The next description uses it. */
  movedTo(address: string): void {
    this.#movedTo = address;
  }

  get #whereabouts(): Pick<RtpPeer, 'heardFrom' | 'carrier'> {
    const { heardFrom, carrier } = this.#peer();
    return { heardFrom: this.#movedTo ?? heardFrom, carrier };
  }

  /** What is offered and answered from the next description on: these codecs, or those of `whom`. */
  speakTo(whom: keyof CodecPreferences, codecs?: readonly CodecWish[]): void {
    this.#codecs = codecs ?? this.#needs.codecs[whom];
  }

  /** Why an offer cannot be answered, asked before anything is spent on a call. */
  problemOf(offerSdp: string): SdpProblem | undefined {
    const { ipv6 = false, fingerprint } = this.#needs.media;
    return checkOffer(offerSdp, {
      codecs: this.#codecs,
      srtp: this.#srtp.policy,
      ipv6,
      dtls: fingerprint !== undefined,
    });
  }

  /** Our description, as an offer. */
  offer(): string {
    return this.#negotiating.offer(this.#srtp, this.#codecs);
  }

  /** Our description: the answer to an offer of the peer, which media follows at once; without one, an offer. */
  describe(offerSdp: string | undefined): Result<string, MediaProblem> {
    if (offerSdp === undefined) return ok(this.offer());
    const answered = this.#negotiating.answer(offerSdp, this.#srtp, {
      ipv6: this.#ipv6,
      codecs: this.#codecs,
    });
    if (!answered.ok) return answered;
    const configured = this.#configure(answered.value.remote);
    return configured.ok ? ok(answered.value.sdp) : configured;
  }

  /** The peer's answer to our offer. */
  settle(answerSdp: string): Result<void, MediaProblem> {
    const remote = this.#negotiating.settle(answerSdp);
    if (!remote.ok) return remote;
    return this.#configure(remote.value);
  }

  /** Until now; undefined: there is no leg, or it is closed. */
  quality(): MediaQuality | undefined {
    return this.#closed ? undefined : this.#leg?.quality();
  }

  /** Frees the ports; what was received until now. `peer` is what is known of one that was not settled with. */
  close(peer: PeerAtEnd): MediaQuality | undefined {
    this.#closed = true;
    return this.#leg?.close(this.#settled ? 'known' : peer);
  }

  get #negotiating(): Negotiation {
    assert(this.#negotiation !== undefined, 'the leg has no media yet');
    return this.#negotiation;
  }

  get #ipv6(): boolean {
    return this.#needs.media.ipv6 ?? false;
  }

  #configure(remote: MediaSession): Result<void, MediaProblem> {
    const { address, port, rtcpMux = false } = remote;
    if (address.includes(':') && address !== '::' && !this.#ipv6 && remote.ice === undefined) {
      return err({ kind: 'notAllowed', detail: `no IPv6 for media here: ${address}` });
    }
    // RFC 2543 put a call on hold with the address 0.0.0.0 (RFC 3264 §8.4): nothing can be sent there.
    // With ICE an address is used once whoever is there has shown that he has our password.
    const byIce = remote.ice !== undefined;
    const isNowhere = !byIce && (address === '0.0.0.0' || address === '::');
    const verdict =
      isNowhere || byIce
        ? ({ kind: 'learn', why: byIce ? 'ICE' : 'on hold' } as const)
        : this.#needs.judgeRtp({
            address,
            port,
            rtcpPort: rtcpMux ? port : port + 1,
            ...this.#whereabouts,
          });
    if (verdict.kind === 'refuse') return err({ kind: 'notAllowed', detail: verdict.why });
    this.#settled = true;
    this.#codec = remote.codec.name;
    this.#hold = isNowhere ? 'inactive' : HOLDS[remote.direction];
    this.#negotiatedEvents = remote.telephoneEvent !== undefined;
    this.#keypadEvents = this.#negotiatedEvents;
    this.#needs.log.add('media', 'media settled', {
      codec: remote.codec.name,
      peer: `${address}:${port}`,
      ...(verdict.kind === 'learn'
        ? { sendsTo: 'where its audio comes from', because: verdict.why }
        : {}),
      direction: remote.direction,
      ptimeMs: remote.ptimeMs,
      telephoneEvent: remote.telephoneEvent?.send,
      srtp: protectionName(remote.protection),
    });
    const sendTo = verdict.kind === 'learn' ? NOWHERE : address;
    this.#leg?.configure({
      ...remote,
      address: sendTo,
      rtcpLearned: verdict.rtcp === 'learn',
      ...this.#sourcesOf(remote, { isLearned: verdict.kind === 'learn' && !isNowhere && !byIce }),
    });
    return ok(undefined);
  }

  /** Which hosts RTP may come from. With ICE or DTLS, checks and keys prove the source. */
  #sourcesOf(
    { address, ice, protection }: MediaSession,
    { isLearned }: { readonly isLearned: boolean },
  ): Pick<MediaSession, 'signallingAddress' | 'describedAddress' | 'acceptOtherSources'> {
    const isProven = ice !== undefined || (protection !== 'none' && 'role' in protection);
    if (isProven) return { acceptOtherSources: true };
    const { rtpSources } = this.#needs;
    const { heardFrom } = this.#whereabouts;
    const isKnown = heardFrom !== undefined && rtpSources?.isEdge(heardFrom) !== true;
    return {
      signallingAddress: isKnown ? heardFrom : undefined,
      describedAddress: isLearned ? address : undefined,
      acceptOtherSources: rtpSources?.acceptOthers ?? false,
    };
  }
}

function protectionName(protection: MediaSession['protection']): string | undefined {
  if (protection === 'none') return undefined;
  return 'suite' in protection ? protection.suite : `DTLS, ${protection.role}`;
}
