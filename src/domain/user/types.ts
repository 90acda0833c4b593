import type { AccountId } from '../../base/ids.ts';

/**
 * What a person may do. `operator` stands for the operator's staff, `developer` for a customer's; the others are both: an
 * owner may everything, users included, a viewer looks, `billing` looks at money and changes what belongs to it.
 */
export const ROLES = ['owner', 'operator', 'developer', 'viewer', 'billing'] as const;
export type Role = (typeof ROLES)[number];

/** A person who signs in at the console. */
export interface User {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly role: Role;
  /** The account that is all this person sees; undefined: the operator's staff. */
  readonly accountId: AccountId | undefined;
  readonly passwordHash: string;
  /** Base32; undefined: no second factor. */
  readonly totpSecret: string | undefined;
  /** The last step that a code was taken of: none is taken twice (RFC 6238 §5.2). */
  readonly totpStep: number;
  readonly createdUs: number;
}

/** A link that makes a user once. Known by the digest of its token alone. */
export interface Invitation {
  readonly tokenHash: string;
  /** Undefined: whoever opens it says. */
  readonly email: string | undefined;
  readonly role: Role;
  readonly accountId: AccountId | undefined;
  readonly expiresUs: number;
}

export interface Session {
  /** Digest of the cookie. */
  readonly tokenHash: string;
  readonly userId: string;
  readonly createdUs: number;
  readonly seenUs: number;
  readonly userAgent: string;
  readonly address: string;
}

/** Who signed in, as far as the rest of the service wants to know. */
export interface SignedIn {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly accountId: AccountId | undefined;
  readonly session: string;
}

/** One change that somebody made. */
export interface AuditEntry {
  readonly atUs: number;
  /** E-mail of a user, or `operator` for the operator's token. */
  readonly who: string;
  /** The account that it is about; undefined: the node. */
  readonly accountId: AccountId | undefined;
  /** The route in words. */
  readonly what: string;
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly status: number;
  /** IP address of the request; undefined in entries of older versions. */
  readonly address?: string | undefined;
  /** Details of the change: the amount of a credit or debit, why a sign-in failed. */
  readonly detail?: string | undefined;
}

export type UserRefusal =
  | { readonly kind: 'wrongPassword' }
  /** Right so far: the code of the second factor is missing or wrong. */
  | { readonly kind: 'codeNeeded' }
  | { readonly kind: 'tooManyAttempts'; readonly retryAfterMs: number }
  | { readonly kind: 'unknownInvitation' }
  | { readonly kind: 'unknownUser' }
  | { readonly kind: 'emailTaken' }
  | { readonly kind: 'weakPassword'; readonly detail: string }
  | { readonly kind: 'roleNotPossible' }
  | { readonly kind: 'lastOwner' };
