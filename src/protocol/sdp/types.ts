/** Types of SDP (RFC 8866) and of offer/answer (RFC 3264) for audio calls. */

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** Address family in SDP (RFC 8866 §5.7). */
export type AddressFamily = 'IP4' | 'IP6';

/** Attribute `a=name` or `a=name:value`. */
export interface Attribute {
  readonly name: string;
  readonly value: string | undefined;
}

export interface Connection {
  readonly family: AddressFamily;
  /** Address without TTL or count; may be a domain name. */
  readonly address: string;
}

export interface Origin {
  readonly username: string;
  /** Digits as text, because the value can exceed the precision of a double. */
  readonly sessionId: string;
  readonly sessionVersion: string;
  readonly family: AddressFamily;
  readonly address: string;
}

export interface MediaDescription {
  /** Media type `audio`, `video`, `image`, … in lower case. */
  readonly media: string;
  /** Port; 0 means declined or disabled. */
  readonly port: number;
  /** Protocol `RTP/AVP`, `RTP/SAVPF`, `udptl`, … as written. */
  readonly protocol: string;
  /** Payload types for RTP; other formats for other protocols. */
  readonly formats: readonly string[];
  readonly connection: Connection | undefined;
  /** Values of `b=` lines. */
  readonly bandwidth: readonly string[];
  readonly attributes: readonly Attribute[];
}

/** Session description. i=, u=, e=, p=, r=, z= and k= lines are ignored, because they do not affect a call. */
export interface SessionDescription {
  readonly origin: Origin;
  readonly sessionName: string;
  readonly connection: Connection | undefined;
  readonly bandwidth: readonly string[];
  /** Values of `t=` lines. */
  readonly times: readonly string[];
  readonly attributes: readonly Attribute[];
  readonly media: readonly MediaDescription[];
}

/** Reason why a description is unusable. `malformed` maps to 400; all others map to 488 Not Acceptable Here. */
export interface SdpProblem {
  readonly kind:
    | 'malformed'
    /** No audio line, or only disabled ones. */
    | 'noAudio'
    /** Audio only over unsupported SRTP: DTLS, an unknown suite, or SRTP that the policy turns off. */
    | 'secureMediaRequired'
    /** Audio only in the clear, although SRTP is required. */
    | 'plainMediaRefused'
    /** Audio over an unsupported protocol. */
    | 'unsupportedProtocol'
    /** The destination address is not an IP address. */
    | 'unsupportedAddress'
    | 'noCommonCodec'
    /** The answer declines our audio or does not match our offer. */
    | 'declined'
    | 'answerMismatch';
  /** Detail for the log and the Warning header. */
  readonly detail: string;
}

export interface Codec {
  readonly payloadType: number;
  /** Codec name in upper case, such as `PCMU`. */
  readonly name: string;
  readonly clockRateHz: number;
  readonly channels: number;
  /** Value of `a=fmtp`; empty if absent. */
  readonly fmtp: string;
}

/** SRTP suites by their SDP names (RFC 4568 §6.2, RFC 6188 §4, RFC 7714 §14.2). */
export type SrtpSuite =
  | 'AES_CM_128_HMAC_SHA1_80'
  | 'AES_CM_128_HMAC_SHA1_32'
  | 'AES_256_CM_HMAC_SHA1_80'
  | 'AES_256_CM_HMAC_SHA1_32'
  | 'AEAD_AES_128_GCM'
  | 'AEAD_AES_256_GCM';

/**
 * SRTP policy of one leg. `off`: plain RTP only. `optional`: SRTP if the peer offers or answers it, otherwise plain
 * RTP. `required`: calls without SRTP fail.
 */
export type SrtpPolicy = 'off' | 'optional' | 'required';

/** A usable `a=crypto` line (RFC 4568). Never log it. */
export interface CryptoLine {
  readonly tag: number;
  readonly suite: SrtpSuite;
  /** Master key and master salt with which the writer of the line sends. */
  readonly key: Uint8Array;
  /** Length of the key identifier in each packet, in bytes; 0 if there is none. */
  readonly mkiBytes: number;
}

export type FingerprintHash = 'sha-256' | 'sha-384' | 'sha-512';

/** Digest of the peer's certificate (RFC 8122). */
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

/** DTLS role; the client starts the handshake. */
export type DtlsRole = 'client' | 'server';

/** Keys by DTLS: our role and the certificate of the peer. */
export interface DtlsAssociation {
  readonly role: DtlsRole;
  readonly fingerprint: Fingerprint;
}

/**
 * Port at which the peer receives RTCP (RFC 3605); `elsewhere` if that is at another address. It applies without
 * rtcp-mux. Default: the port above RTP.
 */
export type RtcpPlace = number | 'elsewhere';

export interface AudioOffer {
  /** Index of the m-line. The answer has the same number of m-lines in the same order. */
  readonly index: number;
  readonly protocol: string;
  /** True if the profile allows only SRTP. */
  readonly secure: boolean;
  /** IP address in canonical form, or a host name. */
  readonly address: string;
  /** Family of the address. A host name has the family of its c= line. */
  readonly family: AddressFamily;
  readonly port: number;
  /** Codecs in the peer's order of preference, without telephone-event and comfort noise. */
  readonly codecs: readonly Codec[];
  readonly telephoneEvents: readonly Codec[];
  /** Formats of comfort noise (RFC 3389), one per clock rate. */
  readonly comfortNoise: readonly Codec[];
  /** Direction as offered, from the peer's point of view. */
  readonly direction: Direction;
  /** True if the peer does not want to receive audio: sendonly, inactive, or the connection address 0.0.0.0. */
  readonly held: boolean;
  /** Packet length requested by the peer in milliseconds, or undefined if none is stated. */
  readonly ptimeMs: number | undefined;
  readonly maxptimeMs: number | undefined;
  /** Keys in the peer's order of preference. */
  readonly crypto: readonly CryptoLine[];
  /** DTLS parameters. The profile then is one of DTLS, or of SRTP without keys in the description. */
  readonly dtls: DtlsOffer | undefined;
  readonly ice: IceOffer | undefined;
  readonly rtcpMux: boolean;
  readonly rtcp: RtcpPlace | undefined;
  /** True if the peer requests VoIP metrics in RTCP (RFC 3611 §5.1). */
  readonly voipMetrics: boolean;
  readonly mid: string | undefined;
}

export interface MediaOffer {
  readonly description: SessionDescription;
  /** Enabled audio lines with a supported profile, in order; at least one. */
  readonly audio: readonly AudioOffer[];
}

/** Media parameters agreed by an offer and its answer. */
export interface AudioSession {
  /** Index of the m-line. */
  readonly index: number;
  /** Address at which the peer receives RTP. */
  readonly address: string;
  readonly family: AddressFamily;
  readonly port: number;
  readonly codec: Codec;
  /** Payload type of RFC 4733 events, at the codec's clock rate if available. */
  readonly telephoneEvent: number | undefined;
  readonly telephoneEventClockHz: number;
  /** Payload type of comfort noise (RFC 3389) at the codec's clock rate, if the peer supports it. */
  readonly comfortNoise: number | undefined;
  /** Length of the packets that we send, in milliseconds: 10…60 in steps of 10. */
  readonly ptimeMs: number;
  /** Direction from the local point of view. */
  readonly direction: Direction;
  /** Crypto line of the peer that was agreed; undefined for plain RTP or keys by DTLS. */
  readonly crypto: CryptoLine | undefined;
  readonly dtls: DtlsAssociation | undefined;
  readonly ice: IceOffer | undefined;
  readonly rtcpMux: boolean;
  readonly rtcp: RtcpPlace | undefined;
  /** True if the peer requests VoIP metrics in RTCP. */
  readonly voipMetrics: boolean;
  readonly mid: string | undefined;
}
