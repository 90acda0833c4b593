/** What calls need of the signalling: legs, whatever messages they are made of. */
import type { CallUuid, TrunkId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CodecWish, SrtpPolicy } from '../../protocol/sdp/sdp.ts';
import type { PeerPolicy, SipTransport } from '../provisioning/types.ts';
import type { HangupCauseKey } from './hangup-cause.ts';

export interface Party {
  /** Address of record as received or to be sent, without parameters: `sip:user@host[:port]` or `tel:…`. */
  readonly uri: string;
  readonly user: string;
  readonly host: string;
  readonly displayName: string;
}

export interface RemoteAddress {
  readonly transport: 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';
  readonly address: string;
  readonly port: number;
}

export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

/** How a leg ended, in facts; the call turns them into cause, source and disposition. Reported exactly once. */
export interface LegEnd {
  readonly by: 'remote' | 'local';
  readonly how:
    | 'bye' // after answer
    | 'cancel' // CANCEL before answer
    | 'refused' // final failure response: `status`
    | 'timeout' // no answer to our request, or no ACK to our 200
    | 'transport' // could not be sent, connection gone
    | 'unreachable' // nowhere to send: no contact, DNS without result
    | 'notAllowed' // nothing may be sent there: `reason`
    | 'sessionExpired'; // RFC 4028: not refreshed in time
  /** SIP status that ended it, where one did. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  /** Of an end that was due at a moment of the monotonic clock: that moment, however late the end itself is. */
  readonly dueMs?: number;
  /** Of a 503: the peer wants no calls for so long. */
  readonly retryAfterMs?: number;
  /** Of a 3xx: SIP URIs to try instead, best first; a few at most. */
  readonly contacts?: readonly string[];
}

/** A REFER of the peer: it wants its other party to talk to somebody else (RFC 3515). */
export interface Refer {
  /** SIP or tel URI of whom to call. */
  readonly to: string;
  /** Instead of a call: the other party of this leg (`Leg.id`) is taken (Replaces, RFC 3891). `unknown`: there is none such. */
  readonly replaces: string | 'unknown' | undefined;
  readonly referredBy: string | undefined;
  /** Once, before anything else: it is tried, or not (403). */
  accept(): void;
  refuse(): void;
  /** The called party rings. */
  ringing(): void;
  /** Once, at the end. */
  succeeded(): void;
  failed(cause: HangupCauseKey): void;
}

/** The peer is asked with REFER to call somebody else (RFC 3515). */
export interface ReferCommand {
  /** SIP or tel URI. */
  readonly to: string;
  /** User of Referred-By. */
  readonly by: string;
  /** The target is an address of a customer: where it leads is looked at first. */
  readonly isGuarded: boolean;
}

/** What comes of it; `refused`, `done` and `failed` are the last. */
export type ReferProgress =
  | {
      /** Its answer (`accepted`, `refused`), and what the party that was called for it has answered. */
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

/** The call that a leg carries; `parent`: the one whose document dialled it. */
export interface LegOwner {
  readonly uuid: CallUuid;
  readonly parent: CallUuid | undefined;
  /** The customer's trunk that is called. */
  readonly trunk?: TrunkId | undefined;
}

export interface LegEvents {
  ended(end: LegEnd): void;
  /**
   * A re-INVITE or UPDATE with an offer. Answer with SDP, or undefined for 488 (the old session goes on).
   * `sdp` undefined: an offerless re-INVITE; the returned SDP is the offer, and `answered` brings its answer.
   */
  offered(sdp: string | undefined): string | undefined;
  /** A request with a description comes from another address than the signalling before; comes before `offered`. */
  movedTo?(source: RemoteAddress): void;
  /** The answer to an offer that we made in a 200 (offerless INVITE or re-INVITE), from the ACK. */
  answered(sdp: string): void;
  /** A keypad press by SIP INFO (application/dtmf-relay or application/dtmf). */
  dtmf(digit: string, durationMs: number): void;
  /** The connection of a peer that no address leads to (a browser) has closed (false), or there is another one (true). */
  connection?(connected: boolean): void;
  /** Refused where nobody listens. */
  referred?(refer: Refer): void;
}

/** Who answers an INVITE of ours. */
export interface RespondingPeer {
  /** Where the INVITE had been sent. */
  readonly source: RemoteAddress;
  /** The software that it says it is. */
  readonly userAgent: string | undefined;
}

export interface OutboundLegEvents extends LegEvents {
  /** Before what the first response leads to; again when another address or phone turns out to be the one. */
  heardFrom(peer: RespondingPeer): void;
  /** 18x. `sdp` when it carries early media. `status` 180…183. */
  progress(status: number, sdp: string | undefined): void;
  /**
   * 200 with its SDP (undefined when the peer sent none); the ACK goes out by itself. After an INVITE without SDP it is the peer's offer,
   * and what is returned goes into the ACK as its answer.
   */
  connected(sdp: string | undefined): string | undefined;
}

export interface Leg {
  /** Id inside the signalling; not the call UUID. */
  readonly id: string;
  readonly sipCallId: string;
  /** Ends the leg in whatever way its state demands: BYE, CANCEL or a final refusal mapped from the cause. Idempotent. */
  /** `detail`: what the peer is told in words where its offer cannot be used (Warning of a 488). */
  hangup(cause: HangupCauseKey, detail?: string): void;
  /** One at a time, of an answered leg. The returned function: nobody waits for it any more. Absent: it cannot be asked. */
  refer?(command: ReferCommand, events: ReferEvents): () => void;
}

/** What an INVITE says about who calls, as far as it can be read. Whether it is believed is decided elsewhere. */
export interface IdentityClaims {
  /** P-Asserted-Identity (RFC 3325 §9.1): of networks that trust each other. */
  readonly asserted: readonly Party[];
  /** P-Preferred-Identity (RFC 3325 §9.2): what a phone wishes to be shown as. */
  readonly preferred: Party | undefined;
  /** Remote-Party-ID, the older form of both. */
  readonly remoteParty: { readonly party: Party; readonly hides: boolean } | undefined;
  /** Values of Privacy (RFC 3323 §4.2), lower case. */
  readonly privacy: readonly string[];
}

export interface InboundLeg extends Leg {
  readonly from: Party;
  readonly to: Party;
  /** User part of the request URI: what was dialled. */
  readonly dialled: string;
  readonly requestUri: string;
  readonly source: RemoteAddress;
  /** Username of the endpoint that passed digest authentication; undefined for a call from a carrier or trunk. */
  readonly endpointUsername: string | undefined;
  /** The login for a time that it passed with; absent: its own password. */
  readonly login?: string | undefined;
  /** Name of the carrier whose source addresses match; undefined for endpoints. */
  readonly carrier: string | undefined;
  readonly userAgent: string;
  /** Header fields that are no part of the signalling itself: X-*, Diversion, User-to-User, Identity and the like; and Date. */
  readonly headers: Headers;
  readonly claims?: IdentityClaims | undefined;
  /** Max-Forwards of the INVITE. */
  readonly maxForwards?: number | undefined;
  /** SDP offer; undefined in an offerless INVITE. */
  readonly sdp: string | undefined;
  /**
   * Refuses it with that status, before there is a call. `why` goes into a Warning; `phrase` is the reason phrase, by default
   * the registered one.
   */
  refuse(status: number, why: string, phrase?: string): void;
  /** The leg (`Leg.id`) whose place it is to take: no application is asked (Replaces, RFC 3891). */
  readonly replaces?: string | undefined;
  /** Must be called in the same turn in which the leg was handed over. */
  attach(events: LegEvents): void;
  /** Its messages are that call's. */
  belongsTo?(owner: LegOwner): void;
  /** 180, or 183 with early media when `sdp` is given. */
  ring(sdp?: string): void;
  /** 200 with SDP; resolves at the ACK, or with the leg's end when none came. Repeated calls do nothing. */
  answer(sdp: string): Promise<Result<void, LegEnd>>;
}

/** What becomes of SRTP on one leg. */
export interface SrtpRule {
  readonly policy: SrtpPolicy;
  /** Our own offers have keys. A peer's offers are answered by the policy in any case. */
  readonly offered: boolean;
  /** Our own offers are for a browser: ICE, and keys by DTLS. */
  readonly byDtls?: boolean;
}

/** `secured`: the signalling is encrypted, so that nobody else reads the keys. */
export const srtpRule = (policy: SrtpPolicy, { secured }: { secured: boolean }): SrtpRule => ({
  policy,
  offered: policy === 'required' || (policy === 'optional' && secured),
});

/** Of carriers and trunks with `secure`: never downgraded. */
export const SRTP_REQUIRED: SrtpRule = { policy: 'required', offered: true };

/** When another target may be tried after this one. */
export interface TargetPolicy {
  /** Final statuses, as `503` or `5xx`; undefined: those of `mayFailOver`. */
  readonly failoverOn?: readonly string[];
  /** Redirections (3xx) that one call follows; undefined: a few. */
  readonly maxRedirects?: number;
}

export type OutboundTarget = (
  | /** A registered endpoint: forked to its contacts; all of them end in one leg. `secure`: only contacts that are registered with `sips:`. */
  { readonly kind: 'endpoint'; readonly username: string; readonly secure?: boolean }
  /** Any SIP URI, resolved by RFC 3263. */
  | ({
      readonly kind: 'uri';
      readonly uri: string;
      readonly transport?: SipTransport;
      /** Addresses, ranges and names that the operator allows for this target besides `egress.allow`. */
      readonly allow?: readonly string[];
      /** The carrier that redirected a call there: it may name addresses of its own. */
      readonly redirectedBy?: string;
      /** Another node of this service: it is believed, and what follows goes where the INVITE went, whatever its Contact says. */
      readonly isNode?: boolean;
    } & TargetPolicy)
  | ({
      readonly kind: 'carrier';
      readonly carrier: string;
      readonly number: string;
    } & TargetPolicy)
) & {
  /** Undefined: as for all that nothing is said of. */
  readonly srtp?: SrtpRule | undefined;
  /** What it is told, and believed; undefined: as for somebody's address. */
  readonly policy?: PeerPolicy | undefined;
  /** Undefined: those of phones, or of carriers. */
  readonly codecs?: readonly CodecWish[] | undefined;
  /** Is offered what carriers are, where nothing is said of codecs. */
  readonly isTrunk?: boolean;
};

/** How a leg's media is to be, where that differs from what holds elsewhere. */
export type MediaWish = Pick<OutboundTarget, 'srtp' | 'codecs'>;

/** A SIP URI, taken apart. */
export interface SipAddress {
  /** Plain text, escapes decoded; '' when it names a host alone. */
  readonly user: string;
  /** Lower case; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly secure: boolean;
  readonly whose: 'ours' | 'carrier' | 'elsewhere';
}

export interface SipAddresses {
  /** Undefined: the text is no SIP URI. */
  read(uri: string): SipAddress | undefined;
}

/** What a call says of its numbers, to be proved by its Identity header fields (RFC 8224). */
export interface CallerClaim {
  readonly identity: readonly string[];
  /** Numbers or URIs by which the message names its caller, and whom it calls: one of each has to be proved. */
  readonly orig: readonly string[];
  readonly dest: readonly string[];
  /** Date, as written. */
  readonly date?: string | undefined;
}

export type CallerProof =
  | { readonly isVerified: true; readonly attestation: '' | 'A' | 'B' | 'C' }
  /** `status`: what a refusal for it is answered with (RFC 8224 §6.2.2). */
  | {
      readonly isVerified: false;
      readonly status: number;
      readonly why: string;
      /** Reason phrase; absent: the registered phrase of the status. */
      readonly phrase?: string;
    };

/** What we state of a call that goes out. */
export interface CallerStatement {
  /** E.164 digits. */
  readonly orig: string;
  readonly dest: string;
  /** A: the account may use the number. B: we know the account. C: the call came to us from somebody else (RFC 8588 §4). */
  readonly attestation: 'A' | 'B' | 'C';
  /** Whose call it is. */
  readonly account: string;
}

/** Proofs of callers' numbers, as far as they are configured. */
export interface CallerProofs {
  /** Never rejects. */
  verify?(claim: CallerClaim): Promise<CallerProof>;
  /** The value of an Identity header field. */
  sign?(statement: CallerStatement): Promise<string>;
}

/** Who calls, as the called party sees it: From and P-Asserted-Identity. */
export interface PresentedCaller {
  readonly user: string;
  readonly host?: string;
  readonly displayName: string;
  /** It is not to be shown (RFC 3323): From is anonymous, and only trusted peers are told who it is. */
  readonly hidden?: boolean;
  /** What trusted peers are told in place of `user`. */
  readonly asserted?: string | undefined;
}

export interface InviteOptions {
  readonly from: PresentedCaller;
  /** '': the called party makes the offer. */
  readonly sdp: string;
  /** Additional headers (X-VH-… and the like), already checked. */
  readonly headers: Headers;
  readonly auth?: { readonly username: string; readonly password: string } | undefined;
  /** Hops that are left to a call that goes on from another one; undefined: 70. */
  readonly maxForwards?: number | undefined;
  readonly owner?: LegOwner;
}

/** A text that somebody sends (RFC 3428). */
export interface InboundText {
  readonly from: Party;
  readonly to: Party;
  /** User part of the request URI. */
  readonly dialled: string;
  readonly requestUri: string;
  /** Who proved a password; undefined: a carrier. */
  readonly endpointUsername: string | undefined;
  readonly carrier: string | undefined;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Once, with a final status. `why` is told in words. */
  answer(status: number, more?: { readonly why?: string; readonly retryAfterS?: number }): void;
}

/** A text of ours to all phones of an endpoint. */
export interface OutboundText {
  readonly username: string;
  readonly from: { readonly user: string; readonly displayName: string };
  readonly headers: Headers;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface Texting {
  /** Exactly one handler. */
  onText(handler: (text: InboundText) => void): void;
  /** The best final status; undefined: no phone has answered. */
  sendText(text: OutboundText): Promise<number | undefined>;
}

export interface Signalling {
  /** Starts an outbound INVITE; failures, even immediate ones, come through `events.ended` in a later turn. */
  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg;
  /** Exactly one handler; called for each new INVITE that passed authentication (100 was sent already). */
  onInbound(handler: (leg: InboundLeg) => void): void;
  /** True when the endpoint has at least one live contact. */
  /** `secure`: with a `sips:` contact. */
  isRegistered(username: string, secure?: boolean): boolean;
  /** True when it has live contacts, each of them over TLS. */
  isSecured(username: string): boolean;
  /** It took no calls lately, or wants none for a while: to be tried after all others. */
  isDown(target: OutboundTarget): boolean;
  /** True when it has live contacts, each of them over WebSocket. */
  isBrowser(username: string): boolean;
}
