/** Authenticates users who are signed in at the console. They use the same routes as API clients, restricted by their role. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../../base/clock.ts';
import type { AccountId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Accounts, Principal } from '../../../domain/account/account.ts';
import type { Account } from '../../../domain/account/types.ts';
import { mayDo, type SignedIn, type Users } from '../../../domain/user/user.ts';
import { type Admission, NOBODY } from './admission.ts';
import { ACCOUNT_MISMATCH, type Failure, failure, NOT_ACTIVE, tooManyRequests } from './failure.ts';
import { permissionMissing } from './permission.ts';
import type { RequestRate } from './request-rate.ts';
import type { Route } from './route.ts';

const SESSION_COOKIE = 'carillon_session';
/**
 * Header that pages of other origins can only send after a preflight request, which is never allowed. Second defense against
 * CSRF in addition to SameSite=Strict (OWASP, Cross-Site Request Forgery Prevention).
 */
const CONSOLE_HEADER = 'x-console';

/** Has no challenge, which would open the browser's password dialog. */
export const SIGN_IN = failure(401, 'sign in first', {
  headers: { 'www-authenticate': 'Session' },
});
const NO_SUCH_ROUTE = failure(403, 'not possible from the console');

const OPERATORS: ReadonlySet<Route['audience']> = new Set(['admin', 'operator', 'scraper']);

export interface SessionAuthenticationDeps {
  readonly users: Pick<Users, 'signedIn'>;
  readonly accounts: Pick<Accounts, 'authorize' | 'get' | 'ownerOf'>;
  readonly rate: RequestRate;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

type Asked = Pick<Route, 'audience' | 'tag' | 'method' | 'credential' | 'mainAccountOnly'>;

export class SessionAuthentication {
  readonly #deps: SessionAuthenticationDeps;

  constructor(deps: SessionAuthenticationDeps) {
    this.#deps = deps;
  }

  /** Returns the signed-in user, or undefined if the request has no valid session. */
  async find(headers: IncomingHttpHeaders): Promise<SignedIn | undefined> {
    const cookie = isOfConsole(headers) ? cookieOf(headers) : undefined;
    return cookie === undefined ? undefined : this.#deps.users.signedIn(cookie);
  }

  async admit(
    route: Asked,
    user: SignedIn,
    pathAuthId: AccountId | undefined,
  ): Promise<Result<Admission, Failure>> {
    const waitMs = this.#deps.rate.take(`user ${user.userId}`, this.#deps.clock.monotonicMs());
    if (waitMs > 0) return err(tooManyRequests('request rate exceeded', waitMs));
    const { method, tag, credential = false } = route;
    if (!mayDo(user.role, { method, tag, isCredential: credential })) {
      return err(failure(403, `the role ${user.role} may not do this`));
    }
    if (route.audience === 'user') {
      const own = user.accountId && (await this.#deps.accounts.get(user.accountId));
      const lacking = own && permissionMissing(own, tag);
      return lacking === undefined ? ok({ ...NOBODY, user }) : err(lacking);
    }
    if (OPERATORS.has(route.audience)) {
      return user.accountId === undefined
        ? ok({ ...NOBODY, operator: true, user })
        : err(NOT_STAFF);
    }
    const access = await this.#access(user, pathAuthId);
    if (!access.ok) return access;
    const { account, owner } = access.value.principal;
    const missing = permissionMissing(account, tag);
    if (missing !== undefined) return err(missing);
    if (route.mainAccountOnly && access.value.addressed.parentAuthId !== undefined) {
      return err(failure(403, 'not available to sub-accounts'));
    }
    return ok({
      principal: access.value.principal,
      access: pathAuthId === undefined ? undefined : { account: access.value.addressed, owner },
      user,
    });
  }

  /** Customers act as their account; staff act as the account in the request. */
  async #access(
    user: SignedIn,
    pathAuthId: AccountId | undefined,
  ): Promise<Result<{ readonly principal: Principal; readonly addressed: Account }, Failure>> {
    const { accounts } = this.#deps;
    const authId = user.accountId ?? pathAuthId;
    if (authId === undefined) return err(NO_SUCH_ROUTE);
    const account = await accounts.get(authId);
    if (account === undefined) return err(ACCOUNT_MISMATCH);
    const owner = await accounts.ownerOf(account);
    const isActive = account.status === 'active' && owner.status === 'active';
    if (user.accountId !== undefined && !isActive) return err(NOT_ACTIVE);
    const principal: Principal = { account, owner, by: 'session' };
    if (pathAuthId === undefined) return ok({ principal, addressed: account });
    const access = await accounts.authorize(principal, pathAuthId);
    if (!access.ok) return err(ACCOUNT_MISMATCH);
    return ok({ principal, addressed: access.value.account });
  }
}

const NOT_STAFF = failure(403, "only the operator's staff may do this");

/** Returns whether the request comes from the console's page. */
export const isOfConsole = (headers: IncomingHttpHeaders): boolean =>
  headers[CONSOLE_HEADER] !== undefined && headers.authorization === undefined;

function cookieOf({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  for (const pair of cookie.split(';')) {
    const [name = '', value = ''] = pair.trim().split('=', 2);
    if (name === SESSION_COOKIE && value !== '') return value;
  }
  return undefined;
}

/** Formats the session cookie. An empty `value` deletes it. */
export const cookieWith = (value: string, isEncrypted: boolean): string =>
  `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${isEncrypted ? '; Secure' : ''}${value === '' ? '; Max-Age=0' : '; Max-Age=2592000'}`;
