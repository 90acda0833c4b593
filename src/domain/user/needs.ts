import type { AccountId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { AuditEntry, AuditFilter, Invitation, Role, Session, User } from './types.ts';

export interface UserStore {
  insert(user: User): Promise<boolean>;
  get(id: string): Promise<User | undefined>;
  byEmail(email: string): Promise<User | undefined>;
  /** Lists users. `accountId` undefined selects the operator's staff, `all` selects every user. */
  list(accountId: AccountId | undefined | 'all'): Promise<readonly User[]>;
  patch(id: string, patch: Partial<User>): Promise<User | undefined>;
  /** Notes the step of a code of the second factor as used. False if it, or a later one, was used before. */
  useTotpStep(id: string, step: number): Promise<boolean>;
  /** Changes the role of a user. Returns false without a change if the operator's staff would have no owner. */
  changeRole(id: string, role: Role): Promise<boolean>;
  /** Deletes a user and the user's sessions. Returns false without a change if the staff would have no owner. */
  remove(id: string): Promise<boolean>;
  putInvitation(invitation: Invitation): Promise<void>;
  /** Deletes the invitation and returns it, or undefined if it does not exist or has expired. */
  takeInvitation(tokenHash: string, nowUs: number): Promise<Invitation | undefined>;
  invitation(tokenHash: string): Promise<Invitation | undefined>;
  /** Lists unexpired invitations, the earliest expiry first. `all` includes those of the staff. */
  invitations(accountId: AccountId | 'all', nowUs: number): Promise<readonly Invitation[]>;
  /** Adds a session. Deletes the user's oldest sessions beyond `most`. */
  putSession(session: Session, most: number): Promise<void>;
  session(tokenHash: string): Promise<Session | undefined>;
  sessionsOf(userId: string): Promise<readonly Session[]>;
  sessionSeen(tokenHash: string, seenUs: number): Promise<void>;
  removeSession(tokenHash: string): Promise<void>;
  /** Deletes all sessions of a user except `keep`. */
  removeSessions(userId: string, keep: string | undefined): Promise<void>;
  addAudit(entry: AuditEntry): Promise<void>;
  audit(filter: AuditFilter, slice: Slice): Promise<Page<AuditEntry>>;
  /** Deletes older sessions and invitations. */
  purge(times: { readonly nowUs: number; readonly sessionsUs: number }): Promise<void>;
  /** Deletes up to `limit` older audit entries. Returns their number. */
  purgeAudit(beforeUs: number, limit: number): Promise<number>;
}

/** A slow, salted password hash. Few computations run in parallel. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Compares a password with a hash. Takes the same time if the hash is undefined. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}

export interface PasswordStrength {
  /** Returns whether an attacker guesses the password early. `known` are texts about the user. */
  isGuessable(password: string, known: readonly string[]): Promise<boolean>;
}
