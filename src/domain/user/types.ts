import type { AccountId } from '../../base/ids.ts';
import type { TimeFilter } from '../../base/page.ts';

/**
 * Role of a user. `operator` exists only for the operator's staff, `developer` only for customers. An `owner` may do
 * everything, including managing users. A `viewer` only reads. `billing` reads and changes money matters.
 */
export const ROLES = ['owner', 'operator', 'developer', 'viewer', 'billing'] as const;
export type Role = (typeof ROLES)[number];

/** A user of the console. */
export interface User {
  readonly id: string;
  /** E-mail address in lower case. */
  readonly email: string;
  readonly role: Role;
  /** Account that limits what the user sees. Undefined for the operator's staff. */
  readonly accountId: AccountId | undefined;
  readonly passwordHash: string;
  /** TOTP secret in Base32. Undefined if the user has no second factor. */
  readonly totpSecret: string | undefined;
  /** Last TOTP step used. Each step is accepted once (RFC 6238 §5.2). */
  readonly totpStep: number;
  readonly createdUs: number;
}

/** A link that creates one user. Stored by the digest of its token. */
export interface Invitation {
  readonly tokenHash: string;
  /** E-mail address. Undefined if the invited user chooses it. */
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

/** A signed-in user as other parts of the service see it. */
export interface SignedIn {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly accountId: AccountId | undefined;
  readonly session: string;
}

/** One recorded change. */
/** Filters of the audit log, combined with AND. */
export interface AuditFilter extends TimeFilter {
  readonly accountId: AccountId | 'all';
  /** Part of the user. */
  readonly who?: string | undefined;
  /** Part of the change, its path or details. */
  readonly what?: string | undefined;
}

export interface AuditEntry {
  readonly atUs: number;
  /** E-mail address of the user, or `operator` for the operator's token. */
  readonly who: string;
  /** Account that the change concerns. Undefined for the node. */
  readonly accountId: AccountId | undefined;
  /** Summary of the route. */
  readonly what: string;
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly status: number;
  /** IP address of the request; undefined in entries of older versions. */
  readonly address?: string | undefined;
  /** Details of the change: the amount of a credit or debit, why a sign-in failed. */
  readonly detail?: string | undefined;
}

export type UserRefusal =
  | { readonly kind: 'wrongPassword' }
  /** The password is correct, but the code of the second factor is missing or wrong. */
  | { readonly kind: 'codeNeeded' }
  | { readonly kind: 'tooManyAttempts'; readonly retryAfterMs: number }
  | { readonly kind: 'unknownInvitation' }
  | { readonly kind: 'unknownUser' }
  | { readonly kind: 'unknownSession' }
  | { readonly kind: 'emailTaken' }
  | { readonly kind: 'weakPassword'; readonly detail: string }
  | { readonly kind: 'roleNotPossible' }
  | { readonly kind: 'lastOwner' };
