import { ok, type Result } from '../../base/result.ts';
import {
  type AddressFamily,
  type AudioSession,
  buildAnswer,
  buildOffer,
  type Codec,
  chooseAudio,
  telephoneEvent as eventCodec,
  isUnspecified,
  type LocalCrypto,
  type LocalTransport,
  OFFERED_SUITES,
  offeredCodecs,
  offeredComfortNoise,
  readAnswer,
  readOffer,
  revise,
  type SdpProblem,
  type SrtpPolicy,
  type SrtpSuite,
  srtpKeyBytes,
} from '../../protocol/sdp/sdp.ts';
import { mediaSession, type Travel } from './media-session.ts';
import {
  type CodecPreference,
  isCodecName,
  type MediaProtection,
  type MediaSession,
  type Offer,
  type SrtpRule,
} from './needs.ts';
import { PayloadNumbers } from './payload-numbers.ts';

/** Payload types of telephone-event in our offers, per clock rate (RFC 4733 §2.1: the clock rate of the audio). */
const EVENT_PAYLOAD_TYPE = 101;
const WIDE_EVENT_PAYLOAD_TYPE = 102;
const WIDE_CLOCK = 48_000;
const PTIME_MS = 20;
const FIRST_VERSION = 1;

export interface NegotiationOptions {
  /** Session ID, unique among this node's sessions (RFC 8866 §5.2). */
  readonly sessionId: number;
  /** Returns random bytes for keys. */
  readonly bytes: (length: number) => Uint8Array;
  /** Certificate fingerprint; undefined: DTLS is not available. */
  readonly fingerprint: string | undefined;
}

interface Local {
  readonly address: string;
  readonly address6?: string | undefined;
  readonly port: number;
  /** ICE port; see `MediaLeg`. */
  readonly icePort?: number | undefined;
}

interface Description {
  readonly sdp: string;
  readonly version: number;
}

/** Our ICE credentials, and the peer's username fragment that they belong to. */
interface IceCredentials {
  readonly ufrag: string;
  readonly password: string;
  readonly remoteUfrag: string | undefined;
}

/** Offer of a new dialog, which each fork answers. */
interface FirstOffer {
  /** One per address family; each peer receives one of them. */
  readonly texts: Readonly<Record<AddressFamily, Description>>;
  readonly numbers: PayloadNumbers;
  readonly ice: IceCredentials | undefined;
  /** Address family of the peer that sent the last response. */
  family: AddressFamily;
}

/** Random bytes for the ICE username fragment and password, sent as Base64 (RFC 8445 §5.3). */
const UFRAG_BYTES = 6;
const PASSWORD_BYTES = 18;
const MID = '0';

/** Offer/answer state of one leg: our last description and the payload types in use. */
export class Negotiation {
  readonly #local: Local;
  readonly #options: NegotiationOptions;
  /** Our SRTP keys, one per suite. */
  readonly #keys = new Map<SrtpSuite, Uint8Array>();
  /** Suite of the current session. */
  #suite: SrtpSuite | undefined;
  #ice: IceCredentials | undefined;
  /** DTLS association, if the peer uses DTLS-SRTP, like a browser. */
  #association: AudioSession['dtls'];
  /** Address family of the peer. */
  #family: AddressFamily = 'IP4';
  #said: Description | undefined;
  /** Last result of `offers`, until the next `offer`. */
  #first: FirstOffer | undefined;
  /** Payload types of this session: a number keeps its codec (RFC 3264 §8.3.2). */
  #numbers = new PayloadNumbers();

  constructor(local: Local, options: NegotiationOptions) {
    this.#local = local;
    this.#options = options;
  }

  /** Address family of our last description. */
  get family(): AddressFamily {
    return this.#family;
  }

  /** Answers the peer's offer. Returns our SDP and the resulting session. */
  answer(
    offerSdp: string,
    srtp: SrtpRule,
    { families, codecs }: AnswerWishes,
  ): Result<{ readonly sdp: string; readonly remote: MediaSession }, SdpProblem> {
    const offer = readOffer(offerSdp);
    if (!offer.ok) return offer;
    const { fingerprint } = this.#options;
    const dtls = fingerprint !== undefined;
    const association = this.#association;
    const wishes = { codecs, srtp: srtp.policy, families, dtls, association };
    const choice = chooseAudio(offer.value, wishes);
    if (!choice.ok) return choice;
    const { crypto, ice, address, family } = choice.value;
    if (!isUnspecified(address)) this.#family = family;
    // Other forks still answer the first offer.
    if (this.#numbers === this.#first?.numbers) this.#numbers = this.#numbers.copy();
    this.#numbers.keep(
      offer.value.audio.flatMap(({ codecs: theirs, telephoneEvents }) => [
        ...theirs,
        ...telephoneEvents,
      ]),
    );
    const remote = mediaSession(choice.value, this.#travel(choice.value));
    if (!remote.ok) return remote;
    const ours = {
      key: crypto === undefined ? undefined : this.#key(crypto.suite),
      ice: ice === undefined ? undefined : this.#iceFor(ice.ufrag),
      fingerprint,
    };
    this.#said = revise(
      this.#said,
      (version) =>
        buildAnswer(offer.value, choice.value, this.#endpoint(version, ice !== undefined), ours),
      FIRST_VERSION,
    );
    return ok({ sdp: this.#said.sdp, remote: remote.value });
  }

  /** Returns our first offer to a peer whose address family is unknown; see `offeredTo`. */
  offers(srtp: SrtpRule, codecs: readonly CodecPreference[]): Offer {
    this.#family = 'IP4';
    const four = revise(this.#said, this.#offerWith(srtp, codecs), FIRST_VERSION);
    const { sdp, version } = four;
    let six = four;
    if (this.#local.address6 !== undefined) {
      this.#family = 'IP6';
      // Each peer receives one of them, in a separate dialog, so they have the same version.
      six = { sdp: this.#offerWith(srtp, codecs)(version), version };
    }
    const texts = { IP4: four, IP6: six };
    this.#first = { texts, numbers: this.#numbers, ice: this.#ice, family: 'IP4' };
    this.#said = four;
    this.#family = 'IP4';
    return six === four ? { sdp } : { sdp, sdp6: six.sdp };
  }

  /** Selects which of the `offers` the peer received. No effect after the next offer; after an answer see `settleFirst`. */
  offeredTo(family: AddressFamily): void {
    const first = this.#first;
    if (first === undefined || first.texts.IP4 === first.texts.IP6) return;
    const isLast = this.#said === first.texts[first.family];
    first.family = family;
    if (isLast) this.#describeAs(first);
  }

  #describeAs({ texts, family, numbers }: FirstOffer): void {
    this.#said = texts[family];
    this.#family = family;
    this.#numbers = numbers;
  }

  /** Returns our offer. `family`: address family of the peer; undefined: unchanged, IPv4 at first. */
  offer(srtp: SrtpRule, codecs: readonly CodecPreference[], family?: AddressFamily): string {
    this.#first = undefined;
    this.#family = family ?? this.#family;
    this.#said = revise(this.#said, this.#offerWith(srtp, codecs, this.#suite), FIRST_VERSION);
    return this.#said.sdp;
  }

  /** Returns a function that builds the offer with a version. A session keeps the keys of its suite `current`. */
  #offerWith(srtp: SrtpRule, codecs: readonly CodecPreference[], current?: SrtpSuite) {
    const offered = offeredOf(codecs).map((codec) => this.#numbers.given(codec));
    const wide = offered.some(({ clockRateHz }) => clockRateHz === WIDE_CLOCK);
    const events = this.#numbers.given(eventCodec(EVENT_PAYLOAD_TYPE)).payloadType;
    const wideCodec = eventCodec(WIDE_EVENT_PAYLOAD_TYPE, WIDE_CLOCK);
    const wideEvents = this.#numbers.given(wideCodec).payloadType;
    const { fingerprint } = this.#options;
    const byDtls =
      fingerprint !== undefined && (srtp.byDtls === true || this.#association !== undefined);
    const suites = byDtls ? [] : suitesOf(srtp, current);
    const crypto: LocalCrypto[] = suites.map((suite, index) => ({
      tag: index + 1,
      suite,
      key: this.#key(suite),
    }));
    const isSecure = current !== undefined && SECURE_PROFILE.test(this.#said?.sdp ?? '');
    const transport: LocalTransport | undefined = byDtls
      ? {
          ice: this.#iceFor(undefined),
          dtls: { fingerprint, setup: 'actpass' },
          rtcpMux: true,
          mid: MID,
        }
      : undefined;
    return (version: number): string =>
      buildOffer({
        ...this.#endpoint(version, byDtls),
        codecs: offered,
        telephoneEventPayloadType: events,
        ...(wide ? { wideTelephoneEventPayloadType: wideEvents } : {}),
        direction: 'sendrecv',
        crypto,
        plainToo: srtp.policy === 'optional' && !isSecure,
        ...(transport === undefined ? {} : { transport }),
      });
  }

  /**
   * Reads a called party's answer to the `offers`, also after another fork replaced its session by an UPDATE or PRACK
   * (RFC 3311 §5.1). The session continues in the dialog of that party.
   */
  settleFirst(answerSdp: string): Result<MediaSession, SdpProblem> {
    if (this.#first !== undefined) {
      this.#describeAs(this.#first);
      this.#ice = this.#first.ice;
    }
    return this.settle(answerSdp);
  }

  /** Reads the peer's answer to our last description. */
  settle(answerSdp: string): Result<MediaSession, SdpProblem> {
    const session = readAnswer(this.#said?.sdp ?? '', answerSdp);
    if (!session.ok) return session;
    // The peer knows the credentials of our offer, whatever its own are.
    const remoteUfrag = session.value.ice?.ufrag;
    if (this.#ice !== undefined && remoteUfrag !== undefined)
      this.#ice = { ...this.#ice, remoteUfrag };
    return mediaSession(session.value, this.#travel(session.value), this.#numbers);
  }

  /** Returns the transport attributes of a session. */
  #travel(session: AudioSession): Travel {
    const { ice, rtcpMux, rtcp, voipMetrics } = session;
    const local = ice === undefined ? undefined : this.#iceFor(ice.ufrag);
    return {
      protection: this.#protection(session),
      rtcpMux,
      rtcpPort: rtcp === 'elsewhere' ? undefined : rtcp,
      rtcpLearned: rtcp === 'elsewhere',
      voipMetrics,
      ice:
        ice === undefined || local === undefined
          ? undefined
          : {
              localUfrag: local.ufrag,
              localPassword: local.password,
              remoteUfrag: ice.ufrag,
            },
    };
  }

  /**
   * Returns our ICE credentials. Creates new ones when the peer restarts ICE with another username fragment (RFC 8445
   * §9).
   */
  #iceFor(remoteUfrag: string | undefined): IceCredentials {
    const known = this.#ice;
    const restarted =
      remoteUfrag !== undefined &&
      known?.remoteUfrag !== undefined &&
      known.remoteUfrag !== remoteUfrag;
    if (known !== undefined && !restarted) {
      this.#ice = { ...known, remoteUfrag: remoteUfrag ?? known.remoteUfrag };
      return this.#ice;
    }
    const text = (bytes: number): string =>
      Buffer.from(this.#options.bytes(bytes)).toString('base64');
    this.#ice = { ufrag: text(UFRAG_BYTES), password: text(PASSWORD_BYTES), remoteUfrag };
    return this.#ice;
  }

  #protection({ crypto, dtls }: AudioSession): MediaProtection {
    this.#association = dtls;
    this.#protectBy(crypto?.suite);
    if (dtls !== undefined) {
      const { hash, value } = dtls.fingerprint;
      return { role: dtls.role, hash, fingerprint: value };
    }
    if (crypto === undefined) return 'none';
    const { suite, key: receive, mkiBytes: receiveMkiBytes } = crypto;
    return { suite, send: this.#key(suite), receive, receiveMkiBytes };
  }

  /**
   * Sets the suite of the session. Drops the key of the previous suite, because the media engine no longer counts its
   * packets, and a key must never protect two packets with one index (RFC 3711 §9.1).
   */
  #protectBy(suite: SrtpSuite | undefined): void {
    if (this.#suite !== undefined && this.#suite !== suite) this.#keys.delete(this.#suite);
    this.#suite = suite;
  }

  #key(suite: SrtpSuite): Uint8Array {
    const known = this.#keys.get(suite);
    if (known !== undefined) return known;
    const key = this.#options.bytes(srtpKeyBytes(suite));
    this.#keys.set(suite, key);
    return key;
  }

  #endpoint(version: number, byIce: boolean) {
    const { sessionId } = this.#options;
    const { address: address4, address6, port, icePort } = this.#local;
    const [address, other] =
      this.#family === 'IP6' && address6 !== undefined
        ? [address6, address4]
        : [address4, address6];
    const shared = byIce ? icePort : undefined;
    const place = {
      address,
      otherAddress: byIce ? other : undefined,
      port: shared ?? port,
      byTcpToo: shared !== undefined,
    };
    return { ...place, sessionId, version, ptimeMs: PTIME_MS };
  }
}

const SECURE_PROFILE = /^m=audio \d+ RTP\/SAVPF? /m;

/** Suites of an offer: that of the current session first, so that a call with SRTP never continues in the clear. */
const suitesOf = ({ offered }: SrtpRule, current: SrtpSuite | undefined): readonly SrtpSuite[] =>
  current === undefined
    ? OFFERED_SUITES.filter(() => offered)
    : [current, ...OFFERED_SUITES.filter((suite) => suite !== current)];

interface AnswerWishes {
  readonly families: readonly AddressFamily[];
  readonly codecs: readonly CodecPreference[];
}

/** Offered codecs, cached per list of preferences. Settings and policies keep their few lists. */
const offeredLists = new WeakMap<readonly CodecPreference[], readonly Codec[]>();

function offeredOf(codecs: readonly CodecPreference[]): readonly Codec[] {
  let offered = offeredLists.get(codecs);
  if (offered === undefined) {
    const speech = codecs.filter(isCodecName).flatMap(offeredCodecs);
    // Some peers select the first format, and comfort noise is not a choice for speech.
    const noise = codecs.some((name) => !isCodecName(name)) ? offeredComfortNoise(speech) : [];
    offered = [...speech, ...noise];
    offeredLists.set(codecs, offered);
  }
  return offered;
}

/** Returns why an offer cannot be answered, or undefined if it can. */
export function checkOffer(
  sdp: string,
  preferences: {
    readonly codecs: readonly CodecPreference[];
    readonly srtp: SrtpPolicy;
    readonly families: readonly AddressFamily[];
    readonly dtls: boolean;
  },
): SdpProblem | undefined {
  const offer = readOffer(sdp);
  if (!offer.ok) return offer.error;
  const choice = chooseAudio(offer.value, preferences);
  return choice.ok ? undefined : choice.error;
}
