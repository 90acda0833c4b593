import type { RtpVerdict } from '../../base/egress.ts';
import { assert } from '../../base/errors.ts';
import { inZoneOf } from '../../base/host.ts';
import { err, ok, type Result } from '../../base/result.ts';
import {
  type AddressFamily,
  familyName,
  familyOf,
  isIpAddress,
  isUnspecified,
  type SdpProblem,
} from '../../protocol/sdp/sdp.ts';
import type { MediaQuality } from '../cdr/types.ts';
import type { CallLog } from './call-log.ts';
import type {
  CodecPreference,
  CodecPreferences,
  Media,
  MediaLeg,
  MediaLegEvents,
  MediaSession,
  Offer,
  PeerAtEnd,
  SrtpRule,
} from './needs.ts';
import { checkOffer, Negotiation } from './negotiate.ts';

/** Media address of a leg's peer, with the facts needed to judge it. */
export interface RtpPeer {
  readonly address: string;
  readonly port: number;
  /** RTCP port: `port` when RTP and RTCP are multiplexed, otherwise the next port. */
  readonly rtcpPort: number;
  /** Source IP address of the peer's signalling; undefined until a message has arrived. */
  readonly heardFrom: string | undefined;
  /** Carrier name, on carrier legs only. */
  readonly carrier: string | undefined;
}

/** Policy for RTP from hosts that SDP and signalling do not name. */
interface RtpSources {
  /** Setting `rtp.acceptOtherSources`. */
  readonly acceptOthers: boolean;
  /** Returns true for an edge proxy (`sip.edges`), which hides the peer's address. */
  isEdge(address: string): boolean;
}

export interface LegMediaNeeds {
  /** Decides how to use a media address from a peer's SDP. */
  readonly judgeRtp: (peer: RtpPeer) => RtpVerdict;
  /** Returns the addresses of a host name. Rejects if it has none. Default: host names in SDP are not resolved. */
  readonly resolveHost?: ((name: string) => Promise<readonly string[]>) | undefined;
  /** RTP source policy. Default: no other hosts and no edge proxies. */
  readonly rtpSources?: RtpSources | undefined;
  readonly media: Media;
  /** Returns the session ID for an `o=` line. */
  readonly sessionId: () => number;
  /** Returns random bytes for keys. */
  readonly bytes: (length: number) => Uint8Array;
  /** Default SRTP rule, for legs without a specific one. */
  readonly srtp: SrtpRule;
  readonly codecs: CodecPreferences;
  readonly mediaTimeoutMs: number;
  /** Returns the media of the leg that placed this call, once it exists. */
  readonly near?: () => MediaLeg | undefined;
  readonly log: CallLog;
}

type MediaProblem = SdpProblem | { readonly kind: 'notAllowed'; readonly detail: string };

/** Hold state of the peer for each direction of ours. */
const HOLDS = {
  sendrecv: undefined,
  sendonly: undefined,
  recvonly: 'sendonly',
  inactive: 'inactive',
} as const;

const IPV4_ONLY: readonly AddressFamily[] = ['IP4'];

/** Empty address: the leg learns the address from the peer's packets (see MediaLeg.configure). */
const NOWHERE = '';

/** RTP and SDP of one leg: ports, offers and answers, and the negotiated session. */
export class LegMedia {
  readonly #needs: LegMediaNeeds;
  readonly #events: MediaLegEvents;
  #leg: MediaLeg | undefined;
  #opening: Promise<void> | undefined;
  #negotiation: Negotiation | undefined;
  #negotiatedEvents = false;
  #settled = false;
  /** Latest session of the peer. */
  #latest: MediaSession | undefined;
  #closed = false;
  #codec: string | undefined;
  #hold: 'sendonly' | 'inactive' | undefined;
  #keypadEvents = false;
  #srtp: SrtpRule;
  #codecs: readonly CodecPreference[];
  #tonesWanted = false;
  /** Current source address of the peer's signalling, if it differs from the initial one. */
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

  /** Codec of the last negotiated session. */
  get codec(): string | undefined {
    return this.#codec;
  }

  /** Hold state set by the peer: `sendonly` (it sends and does not listen) or `inactive`. */
  get hold(): 'sendonly' | 'inactive' | undefined {
    return this.#hold;
  }

  /** True if the peer's last keypad press was an event (RFC 4733) and not an in-band tone. */
  get keypadEvents(): boolean {
    return this.#keypadEvents;
  }

  /** True while the ports are open, so that offers can be made and answered. */
  get isOpen(): boolean {
    return this.#negotiation !== undefined && !this.#closed;
  }

  /** Opens the RTP ports, once. Rejects with ServiceError if no port is available. */
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

  /** Enables or disables the detection of in-band keypad tones. */
  hearTones(wanted: boolean): void {
    this.#tonesWanted = wanted;
    this.#leg?.hearTones(wanted);
  }

  /** Sets the SRTP rule from the next description on; undefined restores the default. */
  protectBy(rule: SrtpRule | undefined): void {
    this.#srtp = rule ?? this.#needs.srtp;
  }

  /** Sets the source address of the peer's signalling. The next description uses it. */
  movedTo(address: string): void {
    this.#movedTo = address;
  }

  get #whereabouts(): Pick<RtpPeer, 'heardFrom' | 'carrier'> {
    const { heardFrom, carrier } = this.#peer();
    return { heardFrom: this.#movedTo ?? heardFrom, carrier };
  }

  /** Sets the codecs for the next descriptions: `codecs`, or by default those of `whom`. */
  speakTo(whom: keyof CodecPreferences, codecs?: readonly CodecPreference[]): void {
    this.#codecs = codecs ?? this.#needs.codecs[whom];
  }

  /** Returns why an offer cannot be answered, without allocating resources. */
  problemOf(offerSdp: string): SdpProblem | undefined {
    const { fingerprint } = this.#needs.media;
    return checkOffer(offerSdp, {
      codecs: this.#codecs,
      srtp: this.#srtp.policy,
      families: this.#families,
      dtls: fingerprint !== undefined,
    });
  }

  /** Returns our offer in a new dialog, for destinations of each address family. */
  offers(): Offer {
    return this.#negotiating.offers(this.#srtp, this.#codecs);
  }

  /** Sets the address family whose offer the peer received. The next answer belongs to it. */
  offeredTo(family: AddressFamily): void {
    this.#negotiation?.offeredTo(family);
  }

  /** Answers an offer of the peer and applies it to the media. Without `offerSdp`, returns an offer. */
  describe(offerSdp: string | undefined): Result<string, MediaProblem> {
    if (offerSdp === undefined) {
      const { heardFrom } = this.#whereabouts;
      const family = heardFrom === undefined ? undefined : familyOf(heardFrom);
      const isUsable = family !== undefined && this.#families.includes(family);
      const known = isUsable ? family : undefined;
      return ok(this.#negotiating.offer(this.#srtp, this.#codecs, known));
    }
    const answered = this.#negotiating.answer(offerSdp, this.#srtp, {
      families: this.#families,
      codecs: this.#codecs,
    });
    if (!answered.ok) return answered;
    const configured = this.#configure(answered.value.remote);
    return configured.ok ? ok(answered.value.sdp) : configured;
  }

  /** Applies a called party's answer to the `offers`. Several forks may answer. */
  settleFirst(answerSdp: string): Result<void, MediaProblem> {
    const remote = this.#negotiating.settleFirst(answerSdp);
    return remote.ok ? this.#configure(remote.value) : remote;
  }

  /** Applies the peer's answer to our last description. */
  settle(answerSdp: string): Result<void, MediaProblem> {
    const remote = this.#negotiating.settle(answerSdp);
    return remote.ok ? this.#configure(remote.value) : remote;
  }

  /** Media quality so far; undefined if the leg does not exist or is closed. */
  quality(): MediaQuality | undefined {
    return this.#closed ? undefined : this.#leg?.quality();
  }

  /** Frees the ports and returns the final media quality. `peer` describes a peer with which no session was negotiated. */
  close(peer: PeerAtEnd): MediaQuality | undefined {
    this.#closed = true;
    return this.#leg?.close(this.#settled ? 'known' : peer);
  }

  get #negotiating(): Negotiation {
    assert(this.#negotiation !== undefined, 'the leg has no media yet');
    return this.#negotiation;
  }

  get #families(): readonly AddressFamily[] {
    return this.#needs.media.families ?? IPV4_ONLY;
  }

  #configure(remote: MediaSession): Result<void, MediaProblem> {
    const { port, rtcpMux = false, rtcpPort = port + 1 } = remote;
    this.#latest = remote;
    const isName = !isIpAddress(remote.address);
    const address = inZoneOf(this.#whereabouts.heardFrom, remote.address);
    if (isName && remote.ice === undefined) void this.#resolve(remote);
    const isSupported =
      isName || isUnspecified(address) || this.#families.includes(familyOf(address));
    if (!isSupported && remote.ice === undefined) {
      const detail = `${familyName(address)} media is not supported on this node: ${address}`;
      return err({ kind: 'notAllowed', detail });
    }
    // RFC 2543 signals hold with address 0.0.0.0 (RFC 3264 §8.4): nothing can be sent there. With ICE, an address is
    // used once the peer has proved that it knows our password.
    const byIce = remote.ice !== undefined;
    const isNowhere = !byIce && isUnspecified(address);
    const verdict =
      isNowhere || byIce || isName
        ? ({ kind: 'learn', why: whyLearned(byIce, isName) } as const)
        : this.#needs.judgeRtp({
            address,
            port,
            rtcpPort: rtcpMux ? port : rtcpPort,
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
        ? { sendsTo: 'source address of received RTP', because: verdict.why }
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
      rtcpLearned: verdict.rtcp === 'learn' || remote.rtcpLearned === true,
      ...this.#sourcesOf(remote, { isLearned: verdict.kind === 'learn' && !isNowhere && !byIce }),
    });
    return ok(undefined);
  }

  /** Sends to the host name in the peer's SDP once DNS has answered. Until then, the leg learns the address from RTP. */
  async #resolve(remote: MediaSession): Promise<void> {
    const addresses = (await this.#needs.resolveHost?.(remote.address).catch(() => [])) ?? [];
    if (this.#closed || this.#latest !== remote) return;
    // The peer sends from the family of our description, so it is better reached there.
    const { family } = this.#negotiating;
    const usable = addresses.filter((found) => this.#families.includes(familyOf(found)));
    const address = usable.find((found) => familyOf(found) === family) ?? usable[0];
    const configured = address === undefined ? undefined : this.#configure({ ...remote, address });
    if (configured?.ok === true) return;
    const detail = configured?.error.detail ?? 'the name cannot be resolved';
    this.#needs.log.add('warning', 'host name in SDP not used', { host: remote.address, detail });
  }

  /** Returns which hosts may send RTP. With ICE or DTLS, checks and keys prove the source. */
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
      describedAddress:
        isLearned && isIpAddress(address) ? inZoneOf(heardFrom, address) : undefined,
      acceptOtherSources: rtpSources?.acceptOthers ?? false,
    };
  }
}

function whyLearned(byIce: boolean, isName: boolean): string {
  if (byIce) return 'ICE';
  return isName ? 'a host name, until DNS has answered' : 'on hold';
}

function protectionName(protection: MediaSession['protection']): string | undefined {
  if (protection === 'none') return undefined;
  return 'suite' in protection ? protection.suite : `DTLS, ${protection.role}`;
}
