import type { AccountId, AppId, EndpointId, TrunkId } from '../../base/ids.ts';
import type { HttpMethod } from '../callback/types.ts';

export interface Application {
  readonly appId: AppId;
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  readonly name: string;
  readonly answerUrl: string;
  readonly answerMethod: HttpMethod;
  readonly hangupUrl: string;
  readonly hangupMethod: HttpMethod;
  readonly fallbackAnswerUrl: string;
  readonly fallbackMethod: HttpMethod;
  readonly messageUrl: string;
  readonly messageMethod: HttpMethod;
  readonly defaultApp: boolean;
  readonly defaultEndpointApp: boolean;
  readonly enabled: boolean;
  readonly logIncomingMessage: boolean;
  readonly publicUri: boolean;
  /** What calls of its endpoints show where the document names no caller id; E.164 digits. */
  readonly callerId: string | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface EndpointPermissions {
  readonly allowVoice: boolean;
  readonly allowMessage: boolean;
  readonly allowVideo: boolean;
  readonly allowSameDomain: boolean;
  readonly allowOtherDomains: boolean;
  readonly allowPhones: boolean;
  readonly allowApps: boolean;
}

/** A SIP endpoint. Its password is never kept, only HA1 per digest algorithm (encrypted at rest). */
export interface Endpoint extends EndpointPermissions {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Stored name with its numeric suffix; unique in the whole service; what registers. */
  readonly username: string;
  readonly requestedUsername: string;
  readonly alias: string;
  readonly appId: AppId | undefined;
  /** What its calls show where the document names no caller id; E.164 digits. */
  readonly callerId: string | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** Hex HA1 = H(username:realm:password) for each algorithm (RFC 7616 §3.4.2). */
export interface EndpointSecrets {
  readonly md5: string;
  readonly sha256: string;
  readonly sha512256: string;
}

export type SipTransport = 'udp' | 'tcp' | 'tls';

export interface OriginationUri {
  readonly id: string;
  readonly accountId: AccountId;
  readonly name: string;
  readonly sipUri: string;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly description: string;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface Trunk {
  readonly trunkId: TrunkId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly direction: 'inbound' | 'outbound' | 'both';
  readonly enabled: boolean;
  readonly transport: SipTransport;
  /** SRTP wanted; independent of `transport`. */
  readonly secure: boolean;
  readonly primaryUriUuid: string | undefined;
  readonly fallbackUriUuid: string | undefined;
  readonly credentialUuid: string | undefined;
  readonly ipaclUuid: string | undefined;
  readonly concurrentCallsLimit: number;
  readonly cpsLimit: number;
  readonly description: string;
  readonly recording: boolean;
  readonly webhookUrl: string | undefined;
  readonly webhookMethod: HttpMethod;
  /** Addresses, ranges and names that the operator lets its origination URIs lead to besides. */
  readonly egressAllow: readonly string[];
  readonly policy: PeerPolicy;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface PhoneNumber {
  /** E.164 digits without `+`. */
  readonly e164: string;
  readonly id: string;
  readonly accountId: AccountId | undefined;
  readonly subAccount: AccountId | undefined;
  readonly country: string;
  readonly region: string;
  /** `suspended`: its renewal could not be paid. It takes no calls and is not charged; the renewal is retried daily. */
  readonly status:
    | 'available'
    | 'active'
    | 'suspended'
    | 'pending_release'
    | 'released'
    | 'blocked';
  /** Name that its account gave it; at most 128 characters. */
  readonly alias?: string | undefined;
  readonly setupFeeMicros: number;
  readonly monthlyFeeMicros: number;
  readonly currency: string;
  readonly carrier: string | undefined;
  readonly applicationId: AppId | undefined;
  readonly trunkGroupId: TrunkId | undefined;
  readonly purchasedUs: number | undefined;
  /** When it is renewed; of a suspended number: when the renewal is retried. */
  readonly nextBillingUs: number | undefined;
  readonly lastBilledUs: number | undefined;
  /** When its account last gave it back. */
  readonly releasedUs: number | undefined;
  /** While `pending_release`: until then the account may take it back. */
  readonly cooldownEndsUs: number | undefined;
  /** Since when it is suspended. */
  readonly suspendedUs?: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** Who calls, as it is told to a peer (RFC 3325 §9.1, and the older Remote-Party-ID). */
export type IdentityHeader = 'pai' | 'rpid' | 'both';

/** What a carrier or a trunk is told besides what every call has, and what it is believed. Absent: the default. */
export interface PeerPolicy {
  /**
   * `trusted`: what it says about callers is believed, and it is told who calls even where the caller hides (RFC 3325
   * §5). Default: carriers are trusted, trunks and addresses of customers are not.
   */
  readonly identity?: 'trusted' | 'untrusted';
  /** Default: pai. */
  readonly identityHeader?: IdentityHeader;
  /** Header fields of an inbound call that go on to it, `X-*` names all that begin so. Default: `sip.passHeaders`. */
  readonly passHeaders?: readonly string[];
  readonly addHeaders?: Readonly<Record<string, string>>;
  /** Of those that we would add ourselves. */
  readonly removeHeaders?: readonly string[];
  /** Requests above 1300 bytes go over TCP where it takes connections (RFC 3261 §18.1.1), else over UDP. Default: they do. */
  readonly largeOverTcp?: boolean;
  /** It makes the offer, in its 200, and our ACK answers (RFC 3264 §5: delayed offer). Default: we make it, in the INVITE. */
  readonly delayedOffer?: boolean;
  /** It may be asked with REFER to call somebody else. Default: it is not. */
  readonly refer?: boolean;
  /** Whether our calls to a carrier are signed, where there is a key. Default: they are. */
  readonly sign?: boolean;
}

/**
 * What becomes of a call by the proof of its caller's number: `off` none is looked at, `verify` the outcome is told, `refuse`
 * a wrong proof refuses the call, `require` so does none at all.
 */
export type ProofPolicy = 'off' | 'verify' | 'refuse' | 'require';

/** How calls to a carrier are made, as far as it differs from what the settings say. Absent: as they say. */
export interface CarrierPolicy extends PeerPolicy {
  /** Of its calls to us. Default: `stir.policy`. */
  readonly stir?: ProofPolicy;

  /** Time to any response to an INVITE, and to the answer; then the next carrier is tried. */
  readonly firstResponseMs?: number;
  readonly answerMs?: number;
  /** Final statuses after which the next carrier is tried, as `503` or `5xx`. */
  readonly failoverOn?: readonly string[];
  /** Redirections (3xx) that one call follows. */
  readonly maxRedirects?: number;
  /** Whether it is asked with OPTIONS if it is there. */
  readonly probe?: boolean;
  /** Of several with equal prefix, priority and cost it is tried first as often as its part of their weights. */
  readonly weight?: number;
  /** When it takes calls, as `mon-fri 08:00-18:00`, UTC; none: always. */
  readonly windows?: readonly string[];
  /** Its price list: currency units a minute by prefix. The cheapest of a priority is tried first. */
  readonly costs?: Readonly<Record<string, number>>;
  /** How numbers are written for it; the first rule that fits instead of `strip` and `prepend`. */
  readonly rewrite?: readonly RewriteRule[];
}

/** A regular expression over E.164 digits, and what they become (`$1` …). */
export interface RewriteRule {
  readonly match: string;
  readonly replace: string;
}

/** A SIP gateway of the operator. */
export interface Carrier {
  readonly name: string;
  readonly host: string;
  /** Undefined: found by SRV (RFC 3263). */
  readonly port: number | undefined;
  readonly transport: SipTransport;
  readonly auth:
    | { readonly username: string; readonly password: string; readonly register: boolean }
    | undefined;
  /** Addresses or CIDR ranges that its calls to us come from. */
  readonly sourceAddresses: readonly string[];
  /** E.164 digits; the empty string matches everything. */
  readonly prefixes: readonly string[];
  /** Digits removed from, then put before, the E.164 number in the request URI. */
  readonly strip: number;
  readonly prepend: string;
  readonly cpsLimit: number;
  readonly concurrentCallsLimit: number;
  readonly secure: boolean;
  /** Lower is tried first among carriers with a prefix of equal length. */
  readonly priority: number;
  readonly enabled: boolean;
  readonly policy: CarrierPolicy;
}

/** What a trunk or a carrier authenticates with. The password is kept encrypted: peers choose their own realm. */
export interface TrunkCredential {
  readonly id: string;
  readonly accountId: AccountId;
  readonly username: string;
  readonly realm: string;
  readonly enabled: boolean;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface IpAcl {
  readonly id: string;
  readonly accountId: AccountId;
  /** An address or a CIDR range. */
  readonly ipAddress: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** A number that the operator has verified to belong to the account, beside the numbers it rents. */
export interface CallerId {
  readonly accountId: AccountId;
  readonly e164: string;
  readonly createdUs: number;
}

/** Keys of `T` that a patch may carry; a key that is present is set, `undefined` clears. */
type PatchOf<T, Fixed extends keyof T> = { readonly [Key in Exclude<keyof T, Fixed>]?: T[Key] };
type Stamps = 'accountId' | 'createdUs' | 'updatedUs';

export type ApplicationPatch = PatchOf<Application, Stamps | 'appId'>;
export type EndpointPatch = PatchOf<
  Endpoint,
  Stamps | 'endpointId' | 'username' | 'requestedUsername'
>;
export type OriginationUriPatch = PatchOf<OriginationUri, Stamps | 'id'>;
export type TrunkPatch = PatchOf<Trunk, Stamps | 'trunkId'>;
export type TrunkCredentialPatch = PatchOf<TrunkCredential, Stamps | 'id'>;
export type IpAclPatch = PatchOf<IpAcl, Stamps | 'id'>;
export type PhoneNumberPatch = PatchOf<PhoneNumber, Stamps | 'e164' | 'id'>;
export type CarrierPatch = PatchOf<Carrier, 'name'>;
