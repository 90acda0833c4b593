import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../../base/clock.ts';
import type { AccountId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Accounts, Principal } from '../../../domain/account/account.ts';
import type { Users } from '../../../domain/user/user.ts';
import { type Admission, NOBODY, OPERATOR } from './admission.ts';
import type { CredentialUses } from './credential-uses.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import {
  ACCOUNT_MISMATCH,
  type Failure,
  failure,
  INVALID_TOKEN,
  NOT_ACTIVE,
  tooManyRequests,
} from './failure.ts';
import { OperatorAuthentication, type OperatorPages } from './operator-authentication.ts';
import { permissionMissing } from './permission.ts';
import type { Refusals } from './refusals.ts';
import type { RequestRate } from './request-rate.ts';
import type { Route } from './route.ts';
import { isOfConsole, SessionAuthentication, SIGN_IN } from './session-authentication.ts';

type Admitting = Pick<
  Route,
  'audience' | 'unknownAccountStatus' | 'mainAccountOnly' | 'tag' | 'method' | 'credential'
>;

const ACCESS_TOKEN_AUDIENCES: ReadonlySet<Route['audience']> = new Set([
  'accountOrAccessToken',
  'callerOrAccessToken',
]);

/** Audiences whose pages may be open without a token, depending on the settings. */
const OPERATOR_PAGES: ReadonlySet<Route['audience']> = new Set(['anyone', 'operator', 'scraper']);

export interface GateDeps {
  readonly accounts: Pick<
    Accounts,
    'authenticate' | 'authenticateBearer' | 'authorize' | 'get' | 'ownerOf'
  >;
  /** Compares the operator's token in constant time. */
  readonly isAdminToken: (token: string) => boolean;
  /** Compares the token that may only read metrics. */
  readonly isScrapeToken: (token: string) => boolean;
  readonly operatorPages: OperatorPages;
  readonly users: Pick<Users, 'signedIn'>;
  readonly credentialUses: Pick<CredentialUses, 'used'>;
  /** Request rate per account. */
  readonly rate: RequestRate;
  /** Rate of requests without valid credentials, per address and key. */
  readonly refusals: Refusals;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Admits or refuses a request. Checks the credentials, the request rate and the account of the path, in this order. */
export class Gate {
  readonly #deps: GateDeps;
  readonly #operatorAuthentication: OperatorAuthentication;
  readonly #sessions: SessionAuthentication;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#operatorAuthentication = new OperatorAuthentication(deps);
    this.#sessions = new SessionAuthentication(deps);
  }

  async admit(
    route: Admitting,
    headers: IncomingHttpHeaders,
    pathAuthId: AccountId | undefined,
    address: string,
  ): Promise<Result<Admission, Failure>> {
    if (route.audience === 'public') return ok(NOBODY);
    if (route.audience === 'guest') return this.#guest(address);
    const isPage = OPERATOR_PAGES.has(route.audience);
    if (isPage && this.#operatorAuthentication.isOpen(headers)) return ok(OPERATOR);
    if (route.audience === 'anyone' && credentialsOf(headers) === undefined) return ok(NOBODY);
    const session = await this.#sessions.find(headers);
    if (session !== undefined) return this.#sessions.admit(route, session, pathAuthId);
    // Asks a console user to sign in again, without a Basic authentication challenge.
    if (route.audience === 'user' || isOfConsole(headers)) return err(SIGN_IN);
    const { refusals, clock } = this.#deps;
    const credentials = credentialsOf(headers);
    const quietMs = refusals.quietMs(address, credentials, clock.monotonicMs());
    const guessing = quietMs > 0 && tooManyRequests('too many refused requests', quietMs);
    const isOperators = isPage || route.audience === 'admin';
    if (guessing && isOperators && !(credentials && refusals.isProven(credentials))) {
      return err(guessing);
    }
    const admitted = await this.#admit(route, credentials, pathAuthId);
    if (admitted.ok && admitted.value.principal !== undefined) {
      const { authId } = admitted.value.principal.account;
      this.#deps.credentialUses.used(authId, address, String(headers['user-agent'] ?? ''));
    }
    if (admitted.ok && isOperators && credentials !== undefined) refusals.proved(credentials);
    if (!admitted.ok && admitted.error === INVALID_TOKEN) {
      if (guessing) return err(guessing);
      refusals.refused(address, credentials, clock.monotonicMs());
      // Public routes ignore wrong credentials, because clients send credentials with every request.
      if (route.audience === 'anyone') return ok(NOBODY);
    }
    return admitted;
  }

  /** Returns the failure if the account of a signed link is not active, otherwise undefined. */
  async refusesLink(pathAuthId: AccountId): Promise<Failure | undefined> {
    const { accounts } = this.#deps;
    const account = await accounts.get(pathAuthId);
    const owner = account && (await accounts.ownerOf(account));
    const active = account?.status === 'active' && owner?.status === 'active';
    return active ? undefined : NOT_ACTIVE;
  }

  /** Counts wrong credentials in the body of a guest's request. */
  guestRefused(address: string): void {
    this.#deps.refusals.refused(address, undefined, this.#deps.clock.monotonicMs());
  }

  #guest(address: string): Result<Admission, Failure> {
    const { refusals, rate, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const waitMs =
      refusals.quietMs(address, undefined, nowMs) || rate.take(`guest ${address}`, nowMs);
    return waitMs > 0 ? err(tooManyRequests('request rate exceeded', waitMs)) : ok(NOBODY);
  }

  async #admit(
    route: Admitting,
    credentials: Credentials | undefined,
    pathAuthId: AccountId | undefined,
  ): Promise<Result<Admission, Failure>> {
    if (credentials === undefined) return err(INVALID_TOKEN);
    if (OPERATOR_PAGES.has(route.audience)) {
      const known = this.#operatorAuthentication.takes(credentials, route.audience === 'scraper');
      return known ? ok(OPERATOR) : err(INVALID_TOKEN);
    }
    if (route.audience === 'admin') {
      const known = credentials.kind === 'bearer' && this.#deps.isAdminToken(credentials.token);
      return known ? ok(NOBODY) : err(INVALID_TOKEN);
    }
    const principal = await this.#authenticate(credentials, route.audience);
    if (!principal.ok) return principal;
    const waitMs = this.#rateWaitMs(principal.value);
    if (waitMs > 0) return err(tooManyRequests('request rate exceeded', waitMs));
    const missing = permissionMissing(principal.value.account, route.tag);
    if (missing !== undefined) return err(missing);
    if (pathAuthId === undefined) return ok({ principal: principal.value, access: undefined });
    return this.#authorize(route, principal.value, pathAuthId);
  }

  /** A sub-account's own limit applies in addition to its parent's. */
  #rateWaitMs({ account, owner }: Principal): number {
    const { rate, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const { rateLimit } = account;
    const ownMs = rateLimit === undefined ? 0 : rate.take(account.authId, nowMs, rateLimit);
    return ownMs > 0 ? ownMs : rate.take(owner.authId, nowMs);
  }

  async #authenticate(
    credentials: Credentials,
    audience: Route['audience'],
  ): Promise<Result<Principal, Failure>> {
    const { accounts } = this.#deps;
    if (credentials.kind === 'bearer' && !ACCESS_TOKEN_AUDIENCES.has(audience)) {
      return err(INVALID_TOKEN);
    }
    const principal =
      credentials.kind === 'bearer'
        ? await accounts.authenticateBearer(credentials.token)
        : await accounts.authenticate(credentials.authId, credentials.authToken);
    if (principal.ok) return principal;
    return err(principal.error.kind === 'inactive' ? NOT_ACTIVE : INVALID_TOKEN);
  }

  async #authorize(
    route: Admitting,
    principal: Principal,
    pathAuthId: AccountId,
  ): Promise<Result<Admission, Failure>> {
    const access = await this.#deps.accounts.authorize(principal, pathAuthId);
    if (access.ok) {
      const { account } = access.value;
      if (route.mainAccountOnly && account.parentAuthId !== undefined) {
        return err(failure(403, 'not available to sub-accounts'));
      }
      return ok({ principal, access: access.value });
    }
    if (
      route.unknownAccountStatus !== undefined &&
      (await this.#deps.accounts.get(pathAuthId)) === undefined
    ) {
      return err(failure(route.unknownAccountStatus, 'account not found'));
    }
    return err(ACCOUNT_MISMATCH);
  }
}
