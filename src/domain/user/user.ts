/** Manages console users, their sessions and the audit log. */
import type { Clock } from '../../base/clock.ts';
import { DAY_MS } from '../../base/duration.ts';
import { hashHex } from '../../base/hash.ts';
import { type AccountId, type Random, token, uuid } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { CredentialCheck, type Origin, type Proof } from './credential-check.ts';
import type { PasswordHasher, UserStore } from './needs.ts';
import type { PasswordPolicy } from './password-policy.ts';
import { type Asked, isRoleOf, mayDo } from './rights.ts';
import { newTotpSecret, stepOfCode } from './totp.ts';
import type {
  AuditEntry,
  AuditFilter,
  Invitation,
  Role,
  Session,
  SignedIn,
  User,
  UserRefusal,
} from './types.ts';

export type { Origin } from './credential-check.ts';
export { mayDo } from './rights.ts';
export { totpUri } from './totp.ts';
export { ROLES, type Role, type SignedIn, type UserRefusal } from './types.ts';

const US_PER_MS = 1000;
/** Idle timeout and maximum lifetime of a session. */
const IDLE_MS = 12 * 3_600_000;
const LIFE_MS = 30 * DAY_MS;
const SEEN_EVERY_MS = 60_000;
const MAX_SESSIONS = 20;
const INVITATION_MS = 7 * DAY_MS;
const AUDIT_MS = 400 * DAY_MS;
/** Audit entries deleted per transaction. Short enough that no call is delayed. */
const AUDIT_BATCH = 200;

export interface UserNeeds {
  readonly store: UserStore;
  readonly hasher: PasswordHasher;
  readonly passwords: PasswordPolicy;
  readonly clock: Clock;
  readonly random: Random;
}

export interface NewSession {
  /** Value of the session cookie. */
  readonly cookie: string;
  readonly user: SignedIn;
}

/** An invitation with its creation time. All invitations have the same lifetime, so it is derived from the expiry. */
export interface PendingInvitation extends Invitation {
  readonly madeUs: number;
}

type Refused = Result<never, UserRefusal>;
const refuse = (refusal: UserRefusal): Refused => err(refusal);

export class Users {
  readonly #needs: UserNeeds;
  readonly #check: CredentialCheck;

  constructor(needs: UserNeeds) {
    this.#needs = needs;
    this.#check = new CredentialCheck(needs, (entry) => this.note(entry));
  }

  /** Creates an invitation and returns its token, which is shown only once. */
  async invite(
    who: Pick<Invitation, 'email' | 'role' | 'accountId'>,
  ): Promise<Result<{ readonly token: string; readonly expiresUs: number }, UserRefusal>> {
    const { store, random } = this.#needs;
    if (!isRoleOf(who.role, who.accountId === undefined))
      return refuse({ kind: 'roleNotPossible' });
    const email = who.email?.toLowerCase();
    if (email !== undefined && (await store.byEmail(email)) !== undefined) {
      return refuse({ kind: 'emailTaken' });
    }
    const secret = token(random);
    const expiresUs = this.#nowUs() + INVITATION_MS * US_PER_MS;
    await store.putInvitation({ ...who, email, tokenHash: digest(secret), expiresUs });
    return ok({ token: secret, expiresUs });
  }

  /** Returns the invitation of a link token. */
  async invitation(secret: string): Promise<Result<Invitation, UserRefusal>> {
    const found = await this.#needs.store.invitation(digest(secret));
    const isLive = found !== undefined && found.expiresUs > this.#nowUs();
    return isLive ? ok(found) : refuse({ kind: 'unknownInvitation' });
  }

  /** Lists unused invitations, oldest first. `within` limits them to one account. */
  async pendingInvitations(within: AccountId | 'all'): Promise<readonly PendingInvitation[]> {
    const pending = await this.#needs.store.invitations(within, this.#nowUs());
    return pending.map((invitation) => ({
      ...invitation,
      madeUs: invitation.expiresUs - INVITATION_MS * US_PER_MS,
    }));
  }

  /** Revokes an invitation. `id` is the digest of its token. */
  async revokeInvitation(
    id: string,
    within: AccountId | 'all',
  ): Promise<Result<void, UserRefusal>> {
    const { store } = this.#needs;
    const found = await store.invitation(id);
    const isTheirs = found !== undefined && (within === 'all' || found.accountId === within);
    // Uses the same operation as `accept`, so that only one of two concurrent calls succeeds.
    const taken = isTheirs ? await store.takeInvitation(id, this.#nowUs()) : undefined;
    return taken === undefined ? refuse({ kind: 'unknownInvitation' }) : ok(undefined);
  }

  /** Creates the invited user and signs the user in. The link cannot be used again. */
  async accept(
    {
      secret,
      ...given
    }: { readonly secret: string; readonly email: string; readonly password: string },
    origin: Origin,
  ): Promise<Result<NewSession, UserRefusal>> {
    const { store, hasher, random } = this.#needs;
    const known = await this.invitation(secret);
    if (!known.ok) return known;
    const email = (known.value.email ?? given.email).toLowerCase();
    const weak = await this.#needs.passwords.problemOf(given.password, [email]);
    if (weak !== undefined) return refuse({ kind: 'weakPassword', detail: weak });
    if ((await store.byEmail(email)) !== undefined) return refuse({ kind: 'emailTaken' });
    const passwordHash = await hasher.hash(given.password);
    const taken = await store.takeInvitation(digest(secret), this.#nowUs());
    if (taken === undefined) return refuse({ kind: 'unknownInvitation' });
    const user: User = {
      id: uuid(random),
      email,
      role: taken.role,
      accountId: taken.accountId,
      passwordHash,
      totpSecret: undefined,
      totpStep: 0,
      createdUs: this.#nowUs(),
    };
    if (!(await store.insert(user))) return refuse({ kind: 'emailTaken' });
    this.#check.noteSignIn(user, origin, { status: 200, detail: 'invitation accepted' });
    return ok(await this.#begin(user, origin));
  }

  /** Signs a user in. An unknown e-mail address and a wrong password get the same answer after the same time. */
  async signIn(
    {
      password,
      code,
      ...given
    }: { readonly email: string; readonly password: string; readonly code: string },
    origin: Origin,
  ): Promise<Result<NewSession, UserRefusal>> {
    const user = await this.#check.signIn({ password, code, ...given }, origin);
    if (!user.ok) return user;
    const { id, passwordHash } = user.value;
    const begun = await this.#begin(user.value, origin);
    // A later change of the password ends this session, an earlier one is seen here.
    if ((await this.#needs.store.get(id))?.passwordHash === passwordHash) return ok(begun);
    await this.#needs.store.removeSession(begun.user.session);
    return refuse({ kind: 'wrongPassword' });
  }

  /** Returns the user of a session cookie, or undefined if the session does not exist or has expired. */
  async signedIn(cookie: string): Promise<SignedIn | undefined> {
    const { store } = this.#needs;
    const session = await store.session(digest(cookie));
    if (session === undefined || !this.#isLive(session)) return undefined;
    const user = await store.get(session.userId);
    if (user === undefined) return undefined;
    const nowUs = this.#nowUs();
    if (nowUs - session.seenUs > SEEN_EVERY_MS * US_PER_MS) {
      void store.sessionSeen(session.tokenHash, nowUs).catch(() => undefined);
    }
    return shown(user, session.tokenHash);
  }

  /** Returns whether an earlier session is still valid, and its user's role still permits the request. */
  async stillMay(tokenHash: string, asked: Asked): Promise<boolean> {
    const { store } = this.#needs;
    const session = await store.session(tokenHash);
    if (session === undefined || !this.#isLive(session)) return false;
    const user = await store.get(session.userId);
    return user !== undefined && mayDo(user.role, asked);
  }

  async signOut(session: string): Promise<void> {
    await this.#needs.store.removeSession(session);
  }

  /** Minimum length of passwords, characters. */
  get minPasswordLength(): number {
    return this.#needs.passwords.minLength;
  }

  /** Lists the sessions of a user, the latest use first. `within` is the account that the user must belong to. */
  async sessionsOf(
    userId: string,
    within: AccountId | 'all',
  ): Promise<Result<readonly Session[], UserRefusal>> {
    const found = await this.#find(userId, within);
    if (!found.ok) return found;
    const all = await this.#needs.store.sessionsOf(userId);
    const live = all.filter((session) => this.#isLive(session));
    return ok(live.toSorted((a, b) => b.seenUs - a.seenUs));
  }

  /** Ends one session of a user. Its pages show the sign-in form with their next request. */
  async endSession(
    userId: string,
    session: string,
    within: AccountId | 'all',
  ): Promise<Result<void, UserRefusal>> {
    const sessions = await this.sessionsOf(userId, within);
    if (!sessions.ok) return sessions;
    if (!sessions.value.some(({ tokenHash }) => tokenHash === session))
      return refuse({ kind: 'unknownSession' });
    await this.#needs.store.removeSession(session);
    return ok(undefined);
  }

  /** Ends all sessions of the user except `keep`. */
  async signOutElsewhere(userId: string, keep: string | undefined): Promise<void> {
    await this.#needs.store.removeSessions(userId, keep);
  }

  /** Changes the password and ends the user's other sessions. */
  async changePassword(
    signedIn: SignedIn,
    { old, password }: { readonly old: string; readonly password: string },
  ): Promise<Result<void, UserRefusal>> {
    const { store, hasher, passwords } = this.#needs;
    const weak = await passwords.problemOf(password, [signedIn.email]);
    if (weak !== undefined) return refuse({ kind: 'weakPassword', detail: weak });
    const proved = await this.#check.prove(signedIn, { password: old });
    if (!proved.ok) return proved;
    const { userId, session } = signedIn;
    await store.patch(userId, { passwordHash: await hasher.hash(password) });
    await store.removeSessions(userId, session);
    return ok(undefined);
  }

  /** Returns a new secret for an authenticator app. It takes effect when `confirmTotp` accepts a code. */
  newTotpSecret(): string {
    return newTotpSecret(this.#needs.random);
  }

  /** Sets or replaces the second factor. Needs the password, or a code of the factor that is set. */
  async confirmTotp(
    signedIn: SignedIn,
    { secret, code, ...proof }: { readonly secret: string; readonly code: string } & Proof,
  ): Promise<Result<void, UserRefusal>> {
    const proved = await this.#check.prove(signedIn, proof);
    if (!proved.ok) return proved;
    const step = stepOfCode({ secret, usedStep: 0 }, code, this.#needs.clock.wallMs());
    if (step === undefined) return refuse({ kind: 'codeNeeded' });
    const patch = { totpSecret: secret, totpStep: step };
    const changed = await this.#needs.store.patch(signedIn.userId, patch);
    return changed === undefined ? refuse({ kind: 'unknownUser' }) : ok(undefined);
  }

  async removeTotp(signedIn: SignedIn, password: string): Promise<Result<void, UserRefusal>> {
    const proved = await this.#check.prove(signedIn, { password });
    if (!proved.ok) return proved;
    await this.#needs.store.patch(signedIn.userId, { totpSecret: undefined });
    return ok(undefined);
  }

  list(accountId: AccountId | undefined | 'all'): Promise<readonly User[]> {
    return this.#needs.store.list(accountId);
  }

  /** Deletes a user. `within` is the account that the user must belong to; `all` allows any user. */
  async remove(
    id: string,
    within: AccountId | undefined | 'all',
  ): Promise<Result<void, UserRefusal>> {
    const found = await this.#find(id, within);
    if (!found.ok) return found;
    const isRemoved = await this.#needs.store.remove(id);
    return isRemoved ? ok(undefined) : refuse({ kind: 'lastOwner' });
  }

  async changeRole(
    id: string,
    role: Role,
    within: AccountId | undefined | 'all',
  ): Promise<Result<User, UserRefusal>> {
    const found = await this.#find(id, within);
    if (!found.ok) return found;
    const user = found.value;
    if (!isRoleOf(role, user.accountId === undefined)) return refuse({ kind: 'roleNotPossible' });
    if (!(await this.#needs.store.changeRole(id, role))) return refuse({ kind: 'lastOwner' });
    const changed = await this.#needs.store.get(id);
    return changed === undefined ? refuse({ kind: 'unknownUser' }) : ok(changed);
  }

  /** Adds an audit entry in the background. Write errors are ignored. */
  note(entry: Omit<AuditEntry, 'atUs'>): void {
    const whole = { ...entry, atUs: this.#nowUs() };
    void this.#needs.store.addAudit(whole).catch(() => undefined);
  }

  audit(filter: AuditFilter, slice: Slice): Promise<Page<AuditEntry>> {
    return this.#needs.store.audit(filter, slice);
  }

  async purge(): Promise<void> {
    const { store } = this.#needs;
    const nowUs = this.#nowUs();
    await store.purge({ nowUs, sessionsUs: nowUs - IDLE_MS * US_PER_MS });
    const auditUs = nowUs - AUDIT_MS * US_PER_MS;
    while ((await store.purgeAudit(auditUs, AUDIT_BATCH)) === AUDIT_BATCH);
  }

  async #find(
    id: string,
    within: AccountId | undefined | 'all',
  ): Promise<Result<User, UserRefusal>> {
    const user = await this.#needs.store.get(id);
    const isTheirs = user !== undefined && (within === 'all' || user.accountId === within);
    return isTheirs ? ok(user) : refuse({ kind: 'unknownUser' });
  }

  async #begin(user: User, { userAgent, address }: Origin): Promise<NewSession> {
    const { store, random } = this.#needs;
    const cookie = token(random);
    const nowUs = this.#nowUs();
    const session = {
      tokenHash: digest(cookie),
      userId: user.id,
      createdUs: nowUs,
      seenUs: nowUs,
      userAgent: userAgent.slice(0, 200),
      address,
    };
    await store.putSession(session, MAX_SESSIONS);
    return { cookie, user: shown(user, session.tokenHash) };
  }

  #isLive({ createdUs, seenUs }: Session): boolean {
    const nowUs = this.#nowUs();
    return nowUs - seenUs < IDLE_MS * US_PER_MS && nowUs - createdUs < LIFE_MS * US_PER_MS;
  }

  #nowUs(): number {
    return Math.round(this.#needs.clock.wallMs() * US_PER_MS);
  }
}

const digest = (secret: string): string => hashHex('sha256', secret);

const shown = ({ id, email, role, accountId }: User, session: string): SignedIn => ({
  userId: id,
  email,
  role,
  accountId,
  session,
});
