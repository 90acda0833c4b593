/** Checks of passwords and codes: who signs in, and who may change credentials. Failures are limited and recorded. */
import type { Clock } from '../../base/clock.ts';
import type { AccountId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Attempt, Attempts } from './attempts.ts';
import type { PasswordHasher, UserStore } from './needs.ts';
import { stepOfCode } from './totp.ts';
import type { AuditEntry, SignedIn, User, UserRefusal } from './types.ts';

/** Browser and address of a sign-in. */
export interface Origin {
  readonly userAgent: string;
  readonly address: string;
}

/** Shows that a session is its user's: one of both. `oldCode`: of the second factor that is set. */
export interface Proof {
  readonly password?: string | undefined;
  readonly oldCode?: string | undefined;
}

export interface CredentialCheckNeeds {
  readonly store: Pick<UserStore, 'byEmail' | 'get' | 'useTotpStep'>;
  readonly hasher: PasswordHasher;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
}

const refuse = (refusal: UserRefusal): Result<never, UserRefusal> => err(refusal);

export class CredentialCheck {
  readonly #needs: CredentialCheckNeeds;
  readonly #note: (entry: Omit<AuditEntry, 'atUs'>) => void;
  readonly #attempts = new Attempts();

  /** `note` writes into the audit log. */
  constructor(needs: CredentialCheckNeeds, note: (entry: Omit<AuditEntry, 'atUs'>) => void) {
    this.#needs = needs;
    this.#note = note;
  }

  /** An unknown e-mail and a wrong password get the same answer, after the same time. */
  async signIn(
    given: { readonly email: string; readonly password: string; readonly code: string },
    origin: Origin,
  ): Promise<Result<User, UserRefusal>> {
    const { store, hasher } = this.#needs;
    const { password, code } = given;
    const email = given.email.toLowerCase();
    const attempt = { address: origin.address, account: email };
    const blocked = this.#blocked(attempt);
    if (!blocked.ok) return blocked;
    const user = await store.byEmail(email);
    const who = { email, accountId: user?.accountId };
    const matches = await hasher.matches(password, user?.passwordHash);
    // Other sign-ins that were checked in parallel may have failed.
    const late = this.#blocked(attempt);
    if (!late.ok) return late;
    if (user === undefined || !matches) {
      this.#failed(attempt, who, { ...origin, detail: 'wrong e-mail or password' });
      return refuse({ kind: 'wrongPassword' });
    }
    if (user.totpSecret !== undefined && !(await this.#useCode(user, code))) {
      // The page asks for a code only once the password is right: a missing code does not count as a failure.
      if (code !== '') this.#failed(attempt, who, { ...origin, detail: 'wrong code' });
      return refuse({ kind: 'codeNeeded' });
    }
    this.#attempts.passed(attempt);
    this.noteSignIn(user, origin, { status: 200, detail: 'signed in' });
    return ok(user);
  }

  #blocked(attempt: Attempt): Result<void, UserRefusal> {
    const retryAfterMs = this.#attempts.blockedMs(attempt, this.#needs.clock.monotonicMs());
    return retryAfterMs > 0 ? refuse({ kind: 'tooManyAttempts', retryAfterMs }) : ok(undefined);
  }

  /** Counts and records a failed sign-in, and that it was the last one that is checked for a while. */
  #failed(
    attempt: Attempt,
    who: { readonly email: string; readonly accountId: AccountId | undefined },
    { detail, ...origin }: Origin & { readonly detail: string },
  ): void {
    const nowMs = this.#needs.clock.monotonicMs();
    this.#attempts.failed(attempt, nowMs);
    this.noteSignIn(who, origin, { status: 401, detail });
    if (this.#attempts.blockedMs(attempt, nowMs) === 0) return;
    this.noteSignIn(who, origin, { status: 429, detail: 'too many failures: blocked' });
  }

  noteSignIn(
    { email, accountId }: Pick<User, 'email' | 'accountId'>,
    { address }: Origin,
    { status, detail }: { readonly status: number; readonly detail: string },
  ): void {
    const what = status === 200 ? 'Signed in' : 'Sign-in failed';
    const request = { method: 'POST', path: '/console/api/sign-in' };
    this.#note({ who: email, accountId, what, ...request, status, address, detail });
  }

  /** Whether the code of the second factor is right; it cannot be used again. */
  async #useCode(
    { id, totpSecret: secret, totpStep: usedStep }: User,
    code: string,
  ): Promise<boolean> {
    if (secret === undefined) return false;
    const step = stepOfCode({ secret, usedStep }, code, this.#needs.clock.wallMs());
    if (step === undefined) return false;
    return this.#needs.store.useTotpStep(id, step);
  }

  /** A session alone changes no credentials. Wrong proofs are counted by session, so that they block no other one. */
  async prove(
    { userId, session }: SignedIn,
    { password, oldCode }: Proof,
  ): Promise<Result<void, UserRefusal>> {
    const { store, hasher, clock } = this.#needs;
    const attempt = { address: `session of ${userId}`, account: session };
    const blocked = this.#blocked(attempt);
    if (!blocked.ok) return blocked;
    const user = await store.get(userId);
    if (user === undefined) return refuse({ kind: 'unknownUser' });
    const isProved =
      password === undefined
        ? await this.#useCode(user, oldCode ?? '')
        : await hasher.matches(password, user.passwordHash);
    const late = this.#blocked(attempt);
    if (!late.ok) return late;
    if (isProved) return ok(undefined);
    this.#attempts.failed(attempt, clock.monotonicMs());
    return refuse({ kind: password === undefined ? 'codeNeeded' : 'wrongPassword' });
  }
}
