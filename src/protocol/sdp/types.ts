/** Words of SDP (RFC 8866) and of offer/answer (RFC 3264), as far as audio calls need them. */

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** `a=name` or `a=name:value`. */
export interface Attribute {
  readonly name: string;
  readonly value: string | undefined;
}

export interface Connection {
  readonly family: 'IP4' | 'IP6';
  /** Without TTL or count. May be a domain name. */
  readonly address: string;
}

export interface Origin {
  readonly username: string;
  /** Digits; longer than a double can hold, so text. */
  readonly sessionId: string;
  readonly sessionVersion: string;
  readonly family: 'IP4' | 'IP6';
  readonly address: string;
}

export interface MediaDescription {
  /** `audio`, `video`, `image`, … in lower case. */
  readonly media: string;
  /** 0: declined or disabled. */
  readonly port: number;
  /** `RTP/AVP`, `RTP/SAVPF`, `udptl`, … as written. */
  readonly protocol: string;
  /** Payload types for RTP, anything for others. */
  readonly formats: readonly string[];
  readonly connection: Connection | undefined;
  /** `b=` values. */
  readonly bandwidth: readonly string[];
  readonly attributes: readonly Attribute[];
}

/** i=, u=, e=, p=, r=, z= and k= lines are read over: they change nothing about a call. */
export interface SessionDescription {
  readonly origin: Origin;
  readonly sessionName: string;
  readonly connection: Connection | undefined;
  readonly bandwidth: readonly string[];
  /** `t=` values. */
  readonly times: readonly string[];
  readonly attributes: readonly Attribute[];
  readonly media: readonly MediaDescription[];
}

/** Why a description cannot be used. All but `malformed` (400) mean 488 Not Acceptable Here. */
export interface SdpProblem {
  readonly kind:
    | 'malformed'
    /** No audio line, or only disabled ones. */
    | 'noAudio'
    /** Audio only over SRTP of a kind that is not to be had here: DTLS, an unknown suite, or by policy none at all. */
    | 'secureMediaRequired'
    /** Audio only in the clear, where SRTP is required. */
    | 'plainMediaRefused'
    /** Audio over a protocol we do not speak. */
    | 'unsupportedProtocol'
    /** The address to send to is no IP address. */
    | 'unsupportedAddress'
    | 'noCommonCodec'
    /** The answer declines our audio, or does not fit our offer. */
    | 'declined'
    | 'answerMismatch';
  /** For the log and the Warning header. */
  readonly detail: string;
}

export interface Codec {
  readonly payloadType: number;
  /** Upper case, e.g. `PCMU`. */
  readonly name: string;
  readonly clockRateHz: number;
  readonly channels: number;
  /** Value of `a=fmtp`; '' when absent. */
  readonly fmtp: string;
}

/** Suites of SRTP by their names in SDP (RFC 4568 §6.2, RFC 6188 §4, RFC 7714 §14.2). */
export type SrtpSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AES_256_CM_HMAC_SHA1_80'
  | 'AES_256_CM_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM'
  | 'AEAD_AES_256_GCM';

/**
 * What becomes of SRTP on one leg. `off`: plain RTP only. `optional`: SRTP where the peer offers or answers it, else plain
 * RTP. `required`: SRTP or no call.
 */
export type SrtpPolicy = 'off' | 'optional' | 'required';

/** An `a=crypto` line that can be used (RFC 4568). Never to be logged. */
export interface CryptoLine {
  readonly tag: number;
  readonly suite: SrtpSuite;
  /** Master key and master salt of whoever wrote the line: with it he sends. */
  readonly key: Uint8Array;
  /** Length of the key identifier that is in each of his packets; 0: none. */
  readonly mkiBytes: number;
}

export type FingerprintHash = 'sha-256' | 'sha-384' | 'sha-512';

/** Digest of the certificate that a peer will show (RFC 8122). */
export interface Fingerprint {
  readonly hash: FingerprintHash;
  readonly value: Uint8Array;
}

export interface DtlsOffer {
  readonly fingerprint: Fingerprint;
  readonly setup: 'actpass' | 'active' | 'passive';
}

export interface IceOffer {
  readonly ufrag: string;
  readonly password: string;
}

/** Who begins the handshake: the client. */
export type DtlsRole = 'client' | 'server';

export interface AudioOffer {
  /** Which m-line; the answer has as many, in the same order. */
  readonly index: number;
  readonly protocol: string;
  /** The profile allows SRTP only. */
  readonly secure: boolean;
  readonly address: string;
  readonly port: number;
  /** In the peer's order of preference, telephone-event and comfort noise left out. */
  readonly codecs: readonly Codec[];
  readonly telephoneEvents: readonly Codec[];
  /** Understands comfort noise under its static payload type, at 8000 Hz (RFC 3389). */
  readonly comfortNoise: boolean;
  /** As offered: what the peer wants to do. */
  readonly direction: Direction;
  /** The peer does not want to hear us: sendonly, inactive, or the connection address 0.0.0.0. */
  readonly held: boolean;
  /** What the peer asks us to send, milliseconds; undefined: nothing said. */
  readonly ptimeMs: number | undefined;
  readonly maxptimeMs: number | undefined;
  /** In the peer's order of preference. */
  readonly crypto: readonly CryptoLine[];
  /** Keys by DTLS; the profile then is one of DTLS, or of SRTP without keys in the description. */
  readonly dtls: DtlsOffer | undefined;
  readonly ice: IceOffer | undefined;
  readonly rtcpMux: boolean;
  /** Wants VoIP metrics in RTCP (RFC 3611 §5.1). */
  readonly voipMetrics: boolean;
  readonly mid: string | undefined;
}

export interface MediaOffer {
  readonly description: SessionDescription;
  /** The enabled audio lines that could be talked over, in their order; at least one. */
  readonly audio: readonly AudioOffer[];
}

/** Where and how to exchange audio with the peer, settled by an offer and its answer. */
export interface AudioSession {
  /** Which m-line. */
  readonly index: number;
  /** Where the peer receives RTP. */
  readonly address: string;
  readonly port: number;
  readonly codec: Codec;
  /** Payload type of RFC 4733 events, at the codec's clock rate where there are such. */
  readonly telephoneEvent: number | undefined;
  readonly telephoneEventClockHz: number;
  /** The peer understands comfort noise (RFC 3389) on the codec's clock. */
  readonly comfortNoise: boolean;
  /** Length of the packets that we send: 10…60 in steps of 10. */
  readonly ptimeMs: number;
  /** What we do. */
  readonly direction: Direction;
  /** The peer's line that both sides take; undefined: plain RTP, or keys by DTLS. */
  readonly crypto: CryptoLine | undefined;
  readonly dtls: { readonly role: DtlsRole; readonly fingerprint: Fingerprint } | undefined;
  readonly ice: IceOffer | undefined;
  readonly rtcpMux: boolean;
  /** The peer wants VoIP metrics in RTCP. */
  readonly voipMetrics: boolean;
  readonly mid: string | undefined;
}
