import type { AccountId, EndpointId } from '../../base/ids.ts';

/** A token of a customer, turned into a SIP login: what is kept of it. */
export interface PhoneLogin {
  /** Names it within digest credentials; made of the token's claims, so that a token gives one login however often it is shown. */
  readonly id: string;
  /** Who signed the token: `iss`, a main account or a sub-account. */
  readonly accountId: AccountId;
  /** Of the auth token that signed it, a digest: the login ends with it. */
  readonly keyDigest: string;
  readonly jti: string;
  readonly endpointId: EndpointId;
  readonly username: string;
  /** May be called · may call. */
  readonly incoming: boolean;
  readonly outgoing: boolean;
  /** Microseconds since the epoch: `exp`. */
  readonly expiresUs: number;
}

/** What a phone registers and calls with. */
export interface PhoneCredentials extends Omit<PhoneLogin, 'keyDigest'> {
  /** The user name of digest credentials; From, To and Contact name the endpoint. */
  readonly authName: string;
  readonly password: string;
}

export type PhoneLoginRefusal =
  /** It is no token, or not one of who it says; nothing more is told. */
  | { readonly kind: 'wrongToken'; readonly detail: string }
  /** It is one, and leads nowhere: expired, revoked, an endpoint that is not there. */
  | { readonly kind: 'tokenRefused'; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly limit: number; readonly what: string };

/** A login that ended before its time. */
export interface RevokedLogin {
  readonly id: string;
  readonly username: string;
  /** A plain sentence. */
  readonly why: string;
}
