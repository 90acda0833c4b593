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
  /** Caller ID for calls of its endpoints if the document sets none. E.164 digits. */
  readonly callerId: string | undefined;
  /** Definition of the agent that answers its calls, as JSON. Undefined: the document of the answer URL. */
  readonly agent: string | undefined;
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

/** A SIP endpoint. Only HA1 per digest algorithm is stored (encrypted at rest), never the password. */
export interface Endpoint extends EndpointPermissions {
  readonly endpointId: EndpointId;
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Stored user name including its numeric suffix. The endpoint registers with it; unique in the whole service. */
  readonly username: string;
  readonly requestedUsername: string;
  readonly alias: string;
  readonly appId: AppId | undefined;
  /** Caller ID for its calls if the document sets none. E.164 digits. */
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
  /** True if SRTP is required. Independent of `transport`. */
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
  /** Further addresses, ranges and names that the operator permits for its origination URIs. */
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
  /**
   * Status. `suspended`: the renewal could not be paid. The number then takes no calls and is not charged; the
   * renewal is retried daily.
   */
  readonly status:
    | 'available'
    | 'active'
    | 'suspended'
    | 'pending_release'
    | 'released'
    | 'blocked';
  /** Name given by the account, at most 128 characters. */
  readonly alias?: string | undefined;
  readonly setupFeeMicros: number;
  readonly monthlyFeeMicros: number;
  readonly currency: string;
  readonly carrier: string | undefined;
  readonly applicationId: AppId | undefined;
  readonly trunkGroupId: TrunkId | undefined;
  readonly purchasedUs: number | undefined;
  /** Time of the next renewal, or for a suspended number of the next attempt. */
  readonly nextBillingUs: number | undefined;
  readonly lastBilledUs: number | undefined;
  /** Time of the last release by an account. */
  readonly releasedUs: number | undefined;
  /** End of the cooldown while `pending_release`. Until then the account may cancel the release. */
  readonly cooldownEndsUs: number | undefined;
  /** Time of the suspension. */
  readonly suspendedUs?: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** Header field that tells a peer the caller's identity (RFC 3325 §9.1, or the older Remote-Party-ID). */
type IdentityHeader = 'pai' | 'rpid' | 'both';

/** SIP behavior toward a carrier or trunk. An absent field selects the default. */
export interface PeerPolicy {
  /**
   * `trusted`: its caller identity is accepted, and it receives the caller's identity even if the caller requests
   * privacy (RFC 3325 §5). Default: carriers are trusted; customers' trunks and addresses are not.
   */
  readonly identity?: 'trusted' | 'untrusted';
  /** Header field for the caller's identity. Default `pai`. */
  readonly identityHeader?: IdentityHeader;
  /** Header fields of an inbound call to pass on to the peer. `X-*` matches a prefix. Default: `sip.passHeaders`. */
  readonly passHeaders?: readonly string[];
  readonly addHeaders?: Readonly<Record<string, string>>;
  /** Header fields to omit from those that the service would add. */
  readonly removeHeaders?: readonly string[];
  /** Whether requests above 1300 bytes use TCP if the peer accepts connections (RFC 3261 §18.1.1), else UDP. Default true. */
  readonly largeOverTcp?: boolean;
  /**
   * Whether the INVITE omits the offer: the peer offers in its 200 and the ACK answers (RFC 3264 §5, delayed offer).
   * Default false.
   */
  readonly delayedOffer?: boolean;
  /** Whether REFER may transfer the peer to another party. Default false. */
  readonly refer?: boolean;
  /** Whether calls to the carrier are signed if a key is configured. Default true. */
  readonly sign?: boolean;
}

/**
 * Handling of the caller's identity proof. `off`: not verified. `verify`: verified and reported. `refuse`: an invalid
 * proof refuses the call. `require`: a missing proof also refuses it.
 */
export type ProofPolicy = 'off' | 'verify' | 'refuse' | 'require';

/** Call settings of a carrier that differ from the global settings. An absent field uses the global setting. */
export interface CarrierPolicy extends PeerPolicy {
  /** Handling of identity proofs on its inbound calls. Default: `stir.policy`. */
  readonly stir?: ProofPolicy;

  /**
   * Timeouts for the first response to an INVITE and for the answer, in milliseconds. After either, the next carrier
   * is tried.
   */
  readonly firstResponseMs?: number;
  readonly answerMs?: number;
  /** Final statuses after which the next carrier is tried, such as `503` or `5xx`. */
  readonly failoverOn?: readonly string[];
  /** Maximum number of redirections (3xx) that one call follows. */
  readonly maxRedirects?: number;
  /** Whether the carrier is probed with OPTIONS. */
  readonly probe?: boolean;
  /** Weight among carriers with equal prefix, priority and cost. Each is tried first in proportion to it. */
  readonly weight?: number;
  /** Times in which it accepts calls, such as `mon-fri 08:00-18:00`, UTC. Empty: always. */
  readonly windows?: readonly string[];
  /** Price list: currency units per minute by prefix. Within a priority, the cheapest carrier is tried first. */
  readonly costs?: Readonly<Record<string, number>>;
  /** Rewrite rules for numbers. The first match applies instead of `strip` and `prepend`. */
  readonly rewrite?: readonly RewriteRule[];
}

/** A regular expression over E.164 digits, and its replacement (`$1` …). */
export interface RewriteRule {
  readonly match: string;
  readonly replace: string;
}

/** A SIP gateway of the operator. */
export interface Carrier {
  readonly name: string;
  readonly host: string;
  /** Port. Undefined: found by SRV (RFC 3263). */
  readonly port: number | undefined;
  readonly transport: SipTransport;
  readonly auth:
    | { readonly username: string; readonly password: string; readonly register: boolean }
    | undefined;
  /** Source addresses or CIDR ranges of its calls to this service. */
  readonly sourceAddresses: readonly string[];
  /** Prefixes in E.164 digits. The empty string matches everything. */
  readonly prefixes: readonly string[];
  /** Number of digits removed from the E.164 number in the request URI, and digits then prepended. */
  readonly strip: number;
  readonly prepend: string;
  readonly cpsLimit: number;
  readonly concurrentCallsLimit: number;
  readonly secure: boolean;
  /** Priority among carriers with a prefix of equal length. Lower values are tried first. */
  readonly priority: number;
  readonly enabled: boolean;
  readonly policy: CarrierPolicy;
}

/**
 * Credentials of a trunk or carrier. The password is stored encrypted instead of hashed, because peers choose their
 * own realm.
 */
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

/** A number that the operator verified as the account's, in addition to its rented numbers. */
export interface CallerId {
  readonly accountId: AccountId;
  readonly e164: string;
  readonly createdUs: number;
}

/** Keys of `T` that a patch may contain. A key that is present is set; the value `undefined` clears the field. */
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
