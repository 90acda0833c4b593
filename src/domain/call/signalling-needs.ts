/** Ports for signalling at leg level, independent of the signalling protocol. */
import type { CallUuid, TrunkId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CodecPreference, SrtpPolicy } from '../../protocol/sdp/sdp.ts';
import type { SipTransportName } from '../../protocol/sip/types.ts';
import type { PeerPolicy, SipTransport } from '../provisioning/types.ts';
import type { HangupCauseKey } from './hangup-cause.ts';

export interface Party {
  /** Address of record, received or to send, without parameters: `sip:user@host[:port]` or `tel:…`. */
  readonly uri: string;
  readonly user: string;
  readonly host: string;
  readonly displayName: string;
}

export interface RemoteAddress {
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
}

export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

/** Protocol-level end of a leg, reported exactly once. The call converts it to cause, source and disposition. */
export interface LegEnd {
  readonly by: 'remote' | 'local';
  readonly how:
    | 'bye' // after answer
    | 'cancel' // CANCEL before answer
    | 'refused' // final failure response in `status`
    | 'timeout' // no response to our request, or no ACK for our 200
    | 'transport' // sending failed or connection lost
    | 'unreachable' // no destination: no contact, or DNS without result
    | 'notAllowed' // destination not allowed: `reason`
    | 'sessionExpired'; // RFC 4028: not refreshed in time
  /** SIP status that ended the leg, if any. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  /** Scheduled time of the end (monotonic, ms), even if the end happens later. */
  readonly dueMs?: number;
  /** Retry-After of a 503, in ms: the peer wants no calls during that time. */
  readonly retryAfterMs?: number;
  /** Contacts of a 3xx: a few SIP URIs to try instead, best first. */
  readonly contacts?: readonly string[];
}

/** REFER from the peer: it wants to transfer its other party (RFC 3515). */
export interface Refer {
  /** SIP or tel URI of the transfer target. */
  readonly to: string;
  /** Leg (`Leg.id`) whose other party replaces the called party (Replaces, RFC 3891). `unknown`: no such leg exists. */
  readonly replaces: string | 'unknown' | undefined;
  readonly referredBy: string | undefined;
  /** Accepts the REFER; `refuse` answers it with 403. Exactly one of them is called, once and first. */
  accept(): void;
  refuse(): void;
  /** The transfer target rings. */
  ringing(): void;
  /** The transfer succeeded. `succeeded` or `failed` is called once, last. */
  succeeded(): void;
  failed(cause: HangupCauseKey): void;
}

/** REFER to the peer: it shall call another party (RFC 3515). */
export interface ReferCommand {
  /** SIP or tel URI. */
  readonly to: string;
  /** User part of Referred-By. */
  readonly by: string;
  /** True if a customer supplied the target, so that its destination must be checked. */
  readonly isGuarded: boolean;
}

/** Progress of a REFER. `refused`, `done` and `failed` are final. */
export type ReferProgress =
  | {
      /** `accepted` and `refused`: the peer's response. `progress` and `done`: the response of the called party. */
      readonly what: 'accepted' | 'refused' | 'progress' | 'done';
      readonly status: number;
    }
  | {
      readonly what: 'failed';
      readonly why: 'state' | 'timeout' | 'unreachable' | 'notAllowed' | 'untold';
    };

export interface ReferEvents {
  stepped(progress: ReferProgress): void;
}

/** Call that a leg carries. `parent`: the call whose document dialled it. */
export interface LegOwner {
  readonly uuid: CallUuid;
  readonly parent: CallUuid | undefined;
  /** Customer's trunk that is called. */
  readonly trunk?: TrunkId | undefined;
}

export interface LegEvents {
  ended(end: LegEnd): void;
  /**
   * A re-INVITE or UPDATE with an offer. Return the answer SDP, or undefined for 488, which keeps the old session. An
   * undefined `sdp` is an offerless re-INVITE: the returned SDP is our offer, and `answered` brings its answer.
   */
  offered(sdp: string | undefined): string | undefined;
  /** A request with SDP arrived from another address than earlier signalling. Called before `offered`. */
  movedTo?(source: RemoteAddress): void;
  /** The ACK brought the answer to an offer in our 200 (offerless INVITE or re-INVITE). */
  answered(sdp: string): void;
  /** A keypad press by SIP INFO (application/dtmf-relay or application/dtmf). */
  dtmf(digit: string, durationMs: number): void;
  /** Called with false when the connection of a browser closes, and with true when it has a new one. */
  connection?(connected: boolean): void;
  /** A REFER from the peer. Without a handler, it is refused. */
  referred?(refer: Refer): void;
}

/** Peer that responds to our INVITE. */
export interface RespondingPeer {
  /** Address that the INVITE was sent to. */
  readonly source: RemoteAddress;
  /** Value of its User-Agent or Server header field. */
  readonly userAgent: string | undefined;
  /** True if the INVITE had the offer for IPv6 (`sdp6`). */
  readonly isOfferedIpv6: boolean;
}

export interface OutboundLegEvents extends LegEvents {
  /** Called before the first response is processed, and again if another address or phone responds. */
  heardFrom(peer: RespondingPeer): void;
  /** Provisional response; `status` is 180 to 183. `sdp` is defined if it carries early media. */
  progress(status: number, sdp: string | undefined): void;
  /**
   * 200 with its SDP, or undefined if it has none. The ACK is sent automatically. After an INVITE without SDP, `sdp` is
   * the peer's offer, and the returned answer is sent in the ACK.
   */
  connected(sdp: string | undefined): string | undefined;
}

export interface Leg {
  /** Identifier within the signalling layer; not the call UUID. */
  readonly id: string;
  readonly sipCallId: string;
  /** Ends the leg with BYE, CANCEL or a final response. Idempotent. `detail`: Warning text of a 488. */
  hangup(cause: HangupCauseKey, detail?: string): void;
  /**
   * Sends REFER on an answered leg, one at a time. The returned function stops the progress events. Absent if the leg
   * does not support REFER.
   */
  refer?(command: ReferCommand, events: ReferEvents): () => void;
}

/** Caller identity claimed by an INVITE. It is not verified at this point. */
export interface IdentityClaims {
  /** P-Asserted-Identity (RFC 3325 §9.1), used between networks that trust each other. */
  readonly asserted: readonly Party[];
  /** P-Preferred-Identity (RFC 3325 §9.2): the identity that a phone asks to present. */
  readonly preferred: Party | undefined;
  /** Remote-Party-ID, the predecessor of both. */
  readonly remoteParty: { readonly party: Party; readonly hides: boolean } | undefined;
  /** Values of Privacy (RFC 3323 §4.2), lower case. */
  readonly privacy: readonly string[];
}

export interface InboundLeg extends Leg {
  readonly from: Party;
  readonly to: Party;
  /** Dialled number: user part of the request URI. */
  readonly dialled: string;
  readonly requestUri: string;
  readonly source: RemoteAddress;
  /** Username of the endpoint that passed digest authentication; undefined for a call from a carrier or trunk. */
  readonly endpointUsername: string | undefined;
  /** Temporary login used for authentication; absent if the endpoint used its password. */
  readonly login?: string | undefined;
  /** Carrier whose source addresses match; undefined for endpoints. */
  readonly carrier: string | undefined;
  readonly userAgent: string;
  /** Header fields that signalling does not process: X-*, Diversion, User-to-User, Identity and similar; also Date. */
  readonly headers: Headers;
  readonly claims?: IdentityClaims | undefined;
  /** Max-Forwards of the INVITE. */
  readonly maxForwards?: number | undefined;
  /** SDP offer; undefined in an offerless INVITE. */
  readonly sdp: string | undefined;
  /**
   * Refuses the INVITE with `status` before a call exists. `why` is sent in a Warning header field. `phrase` is the
   * reason phrase; default: the registered one.
   */
  refuse(status: number, why: string, phrase?: string): void;
  /** Leg (`Leg.id`) that this INVITE replaces (Replaces, RFC 3891). No application is involved. */
  readonly replaces?: string | undefined;
  /** Replaces the event handlers, first in the event-loop turn of the INVITE. Reports the end of an ended leg again. */
  attach(events: LegEvents): void;
  /** Assigns the messages of this leg to a call. */
  belongsTo?(owner: LegOwner): void;
  /** Sends 180, or 183 with early media if `sdp` is given. */
  ring(sdp?: string): void;
  /** Sends 200 with SDP. Resolves at the ACK, or with the leg's end if none arrives. Repeated calls have no effect. */
  answer(sdp: string): Promise<Result<void, LegEnd>>;
}

/** SRTP policy of one leg. */
export interface SrtpRule {
  readonly policy: SrtpPolicy;
  /** True if our offers contain keys. Offers from the peer are answered by `policy` in any case. */
  readonly offered: boolean;
  /** True if our offers use ICE and DTLS-SRTP, for browsers. */
  readonly byDtls?: boolean;
}

/**
 * Returns the SRTP rule for a policy. `secured`: the signalling is encrypted, so that third parties cannot read the
 * keys.
 */
export const srtpRule = (policy: SrtpPolicy, { secured }: { secured: boolean }): SrtpRule => ({
  policy,
  offered: policy === 'required' || (policy === 'optional' && secured),
});

/** SRTP rule of carriers and trunks with `secure`: never downgraded. */
export const SRTP_REQUIRED: SrtpRule = { policy: 'required', offered: true };

/** Conditions for trying another target after this one. */
interface TargetPolicy {
  /** Final statuses such as `503` or `5xx` that allow another target; undefined: those of `mayFailOver`. */
  readonly failoverOn?: readonly string[];
  /** Maximum number of redirections (3xx) per call. Default: 3. */
  readonly maxRedirects?: number;
}

export type OutboundTarget = (
  | /**
   * Registered endpoint. The INVITE is forked to its contacts; all forks share one leg. `secure`: only contacts
   * registered with `sips:`.
   */
  { readonly kind: 'endpoint'; readonly username: string; readonly secure?: boolean }
  /** SIP URI, resolved by RFC 3263. */
  | ({
      readonly kind: 'uri';
      readonly uri: string;
      readonly transport?: SipTransport;
      /** Addresses, ranges and names that the operator allows for this target in addition to `egress.allow`. */
      readonly allow?: readonly string[];
      /** Carrier that redirected the call to this URI. It may name its own addresses. */
      readonly redirectedBy?: string;
      /**
       * Another node of this service. It is trusted, and in-dialog requests go to the INVITE's destination regardless
       * of its Contact.
       */
      readonly isNode?: boolean;
    } & TargetPolicy)
  | ({
      readonly kind: 'carrier';
      readonly carrier: string;
      readonly number: string;
    } & TargetPolicy)
) & {
  /** SRTP rule; undefined: the default. */
  readonly srtp?: SrtpRule | undefined;
  /** Peer policy; undefined: the policy for arbitrary SIP addresses. */
  readonly policy?: PeerPolicy | undefined;
  /** Codecs; undefined: the default for phones or carriers. */
  readonly codecs?: readonly CodecPreference[] | undefined;
  /** True selects the default codecs of carriers. */
  readonly isTrunk?: boolean;
};

/** Media properties of a leg that differ from the defaults. */
export type LegPolicy = Pick<OutboundTarget, 'srtp' | 'codecs'>;

/** Parsed SIP URI. */
export interface SipAddress {
  /** User part, unescaped; '' if the URI has none. */
  readonly user: string;
  /** Host in lower case; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly secure: boolean;
  readonly whose: 'ours' | 'carrier' | 'elsewhere';
}

export interface SipAddresses {
  /** Parses a SIP URI; returns undefined if the text is not one. */
  read(uri: string): SipAddress | undefined;
}

/** Caller and called numbers of a call, to be verified with its Identity header fields (RFC 8224). */
export interface CallerClaim {
  readonly identity: readonly string[];
  /** Numbers or URIs of the caller and of the called party in the message. One of each must be verified. */
  readonly orig: readonly string[];
  readonly dest: readonly string[];
  /** Value of the Date header field, unparsed. */
  readonly date?: string | undefined;
}

export type CallerProof =
  | { readonly isVerified: true; readonly attestation: '' | 'A' | 'B' | 'C' }
  /** `status`: SIP status for refusing the call (RFC 8224 §6.2.2). */
  | {
      readonly isVerified: false;
      readonly status: number;
      readonly why: string;
      /** Reason phrase; absent: the registered phrase of the status. */
      readonly phrase?: string;
    };

/** Statement to sign for an outbound call. */
export interface CallerStatement {
  /** Calling number, in E.164 digits. */
  readonly orig: string;
  readonly dest: string;
  /**
   * Attestation level (RFC 8588 §4). A: the account may use the number. B: the account is known. C: another party
   * passed the call to us.
   */
  readonly attestation: 'A' | 'B' | 'C';
  /** Account that places the call. */
  readonly account: string;
}

/** Verification and signing of caller identities, where configured. */
export interface CallerProofs {
  /** Verifies a claim. Never rejects. */
  verify?(claim: CallerClaim): Promise<CallerProof>;
  /** Returns the value of an Identity header field. */
  sign?(statement: CallerStatement): Promise<string>;
}

/** Caller identity shown to the called party in From and P-Asserted-Identity. */
export interface PresentedCaller {
  readonly user: string;
  readonly host?: string;
  readonly displayName: string;
  /** True hides the identity (RFC 3323): From is anonymous, and only trusted peers receive the identity. */
  readonly hidden?: boolean;
  /** Identity for trusted peers, instead of `user`. */
  readonly asserted?: string | undefined;
}

/** Our SDP offer. */
export interface Offer {
  /** '': the called party makes the offer. */
  readonly sdp: string;
  /** Offer for destinations with IPv6. Default: `sdp`. */
  readonly sdp6?: string | undefined;
}

export interface InviteOptions extends Offer {
  readonly from: PresentedCaller;
  /** Validated additional header fields, such as X-VH-…. */
  readonly headers: Headers;
  /** `realm`: the only realm that gets credentials. Undefined: the first that the peer names. */
  readonly auth?: { username: string; password: string; realm?: string | undefined } | undefined;
  /** Remaining Max-Forwards of a call that follows from another; undefined: 70. */
  readonly maxForwards?: number | undefined;
  readonly owner?: LegOwner;
}

export interface Signalling {
  /** Starts an outbound INVITE. All failures arrive through `events.ended` in a later event-loop turn. */
  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg;
  /** Sets the handler for authenticated inbound INVITEs, already answered with 100. Must be called exactly once. */
  onInbound(handler: (leg: InboundLeg) => void): void;
  /** True if the endpoint has at least one active contact. `secure`: counts only contacts registered with `sips:`. */
  isRegistered(username: string, secure?: boolean): boolean;
  /** True if the endpoint has active contacts, all over TLS. */
  isSecured(username: string): boolean;
  /** True if the target recently failed or asked for a pause (Retry-After). Try such targets last. */
  isDown(target: OutboundTarget): boolean;
  /** True if the endpoint has active contacts, all over WebSocket. */
  isBrowser(username: string): boolean;
}
