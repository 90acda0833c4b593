import type { AccountId, EndpointId } from '../../base/ids.ts';

/** A SIP login created from a customer's access token. */
export interface PhoneLogin {
  /** ID within the digest user name. Derived from the token, so that the same token always gives the same login. */
  readonly id: string;
  /** Account that signed the token (`iss`): a main account or a sub-account. */
  readonly accountId: AccountId;
  /** Digest of the auth token that signed the access token. The login ends when that auth token ends. */
  readonly keyDigest: string;
  readonly jti: string;
  readonly endpointId: EndpointId;
  readonly username: string;
  /** Permission to receive calls and to place calls. */
  readonly incoming: boolean;
  readonly outgoing: boolean;
  /** Expiry (`exp`), microseconds since the epoch. */
  readonly expiresUs: number;
}

/** Credentials with which a phone registers and calls. */
export interface PhoneCredentials extends Omit<PhoneLogin, 'keyDigest'> {
  /** Digest user name. From, To and Contact use the endpoint name. */
  readonly authName: string;
  readonly password: string;
}

export type PhoneLoginRefusal =
  /** The token is malformed or its signature is invalid. The answer gives no further details. */
  | { readonly kind: 'wrongToken'; readonly detail: string }
  /** The token is authentic but refused: expired, revoked, or its endpoint does not exist. */
  | { readonly kind: 'tokenRefused'; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly limit: number; readonly what: string };

/** A login that was revoked before it expired. */
export interface RevokedLogin {
  readonly id: string;
  readonly username: string;
  /** Reason as a plain sentence. */
  readonly why: string;
}
