import type { AccountId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { AuditEntry, Invitation, Session, User } from './types.ts';

export interface UserStore {
  insert(user: User): Promise<boolean>;
  get(id: string): Promise<User | undefined>;
  byEmail(email: string): Promise<User | undefined>;
  /** `accountId` undefined: the operator's staff; `all`: everybody. */
  list(accountId: AccountId | undefined | 'all'): Promise<readonly User[]>;
  patch(id: string, patch: Partial<User>): Promise<User | undefined>;
  /** With the sessions. */
  remove(id: string): Promise<void>;
  putInvitation(invitation: Invitation): Promise<void>;
  /** The invitation is gone with it; undefined: there is none, or it has ended. */
  takeInvitation(tokenHash: string, nowUs: number): Promise<Invitation | undefined>;
  invitation(tokenHash: string): Promise<Invitation | undefined>;
  /** Those that have not ended, the one that ends first before the others; `all`: also the staff's. */
  invitations(accountId: AccountId | 'all', nowUs: number): Promise<readonly Invitation[]>;
  /** The oldest of a user goes when there are more than `most`. */
  putSession(session: Session, most: number): Promise<void>;
  session(tokenHash: string): Promise<Session | undefined>;
  sessionsOf(userId: string): Promise<readonly Session[]>;
  sessionSeen(tokenHash: string, seenUs: number): Promise<void>;
  removeSession(tokenHash: string): Promise<void>;
  /** All of a user but `keep`. */
  removeSessions(userId: string, keep: string | undefined): Promise<void>;
  addAudit(entry: AuditEntry): Promise<void>;
  audit(accountId: AccountId | 'all', slice: Slice): Promise<Page<AuditEntry>>;
  /** Sessions, invitations and audit entries that are older. */
  purge(times: {
    readonly nowUs: number;
    readonly sessionsUs: number;
    readonly auditUs: number;
  }): Promise<void>;
}

/** A slow, salted hash; slow on purpose, so that few run at a time. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Takes as long for `undefined` as for a hash. */
  matches(password: string, hash: string | undefined): Promise<boolean>;
}
