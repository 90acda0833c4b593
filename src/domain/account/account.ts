import { type Clock, wallUs } from '../../base/clock.ts';
import { BugError } from '../../base/errors.ts';
import { hashHex, secretsEqual } from '../../base/hash.ts';
import { type AccountId, newAccountId, type Random, token, uuid } from '../../base/ids.ts';
import { Listeners } from '../../base/listeners.ts';
import type { Logger } from '../../base/logger.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { BalancePatch } from '../ledger/types.ts';
import { afterCommit } from './after-commit.ts';
import { type CreatedAccess, type CreatedAccount, drawAccess } from './created.ts';
import { CredentialCache } from './credential-cache.ts';
import type {
  AccountCredentials,
  AccountFilter,
  AccountStore,
  BalanceTerms,
  IdempotencyStore,
  PartnerStore,
  StoredAccessToken,
} from './needs.ts';
import { type AccountDefaults, type NewAccount, newAccount } from './new-account.ts';
import { OncePerKey } from './once-per-key.ts';
import { checkParties, type TransferRefusal } from './partner.ts';
import { permits } from './permissions.ts';
import type {
  Account,
  AccountPatch,
  CapacityTransfer,
  NetAllocation,
  RevokedAccount,
  TransferRequest,
} from './types.ts';

export type { AccountDefaults, NewAccount } from './new-account.ts';
export { decideTransfer, type TransferRefusal } from './partner.ts';
export { PERMISSIONS, type Permission, type Permissions, permits } from './permissions.ts';
export type { RevokedAccount } from './types.ts';

/** Default lifetime of an access token (dialect §3.0: `expires_in: 1800`). */
const ACCESS_TOKEN_MS = 1_800_000;

/** Attempts to draw a free account ID. With 36^17 possible IDs, repeated collisions indicate a broken random source. */
const AUTH_ID_DRAWS = 5;

const NO_CALLS = 'calls are not permitted to the sub-account';

export type AccountRefusal =
  | { readonly kind: 'unknownAccount' }
  | { readonly kind: 'unknownParent' }
  /** The account does not exist or is not a partner. */
  | { readonly kind: 'unknownPartner' }
  /** The account has customers and therefore must remain a partner. */
  | { readonly kind: 'partnerInUse' };
export type AuthenticationRefusal =
  | { readonly kind: 'badCredentials' }
  /** The credentials are correct, but the account is suspended or closed. */
  | { readonly kind: 'inactive' };

/** Authenticated sender of a request. `owner` is the main account, which holds the ledger, the limits and the resources. */
export interface Principal {
  readonly account: Account;
  readonly owner: Account;
  readonly by: 'token' | 'accessToken' | 'session';
}

/** Result of authorization: the accounts that a request acts on. */
export interface Access {
  /** Account named in the path. A sub-account has its own resources. */
  readonly account: Account;
  readonly owner: Account;
}

export interface AccountDeps {
  readonly store: AccountStore;
  readonly partners: PartnerStore;
  readonly idempotency: IdempotencyStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'error'>;
  readonly defaults: AccountDefaults;
}

/** Manages accounts, sub-accounts, their credentials and the capacity that partners allocate. */
export class Accounts {
  readonly #deps: AccountDeps;
  readonly #credentials: CredentialCache;
  readonly revocations = new Listeners<RevokedAccount>();
  readonly #onTokensChanged: ((accountId: AccountId) => Promise<void>)[] = [];
  readonly oncePerKey: OncePerKey;
  #onChanged: (authId: AccountId) => void = () => undefined;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
    this.#credentials = new CredentialCache(deps.store, (authId) => this.#onChanged(authId));
    this.oncePerKey = new OncePerKey(deps.idempotency);
  }

  /** Creates a main account and a balance with `terms` in its currency, both or none. */
  async create(
    input: NewAccount,
    terms?: BalancePatch,
  ): Promise<Result<CreatedAccount, AccountRefusal>> {
    if (!(await this.#isPartner(input.partnerAuthId))) return err({ kind: 'unknownPartner' });
    return this.#insert(input, undefined, { terms });
  }

  /**
   * Creates an account with an ID and token that were drawn and stored earlier, so that a retry after a crash creates
   * it only once.
   */
  async createDrawn(
    input: NewAccount,
    { authId, authToken }: { readonly authId: AccountId; readonly authToken: string },
  ): Promise<void> {
    const { store, defaults } = this.#deps;
    const made = { authId, defaults, nowUs: this.#nowUs() };
    await store.create(newAccount(input, undefined, made), authToken);
    this.#credentials.changed(authId);
  }

  /** Creates a sub-account. It shares the balance and limits of its parent, and has separate credentials. */
  async createSubAccount(
    parentAuthId: AccountId,
    input: NewAccount,
    access?: StoredAccessToken,
  ): Promise<Result<CreatedAccount, AccountRefusal>> {
    const parent = await this.get(parentAuthId);
    if (parent === undefined || parent.parentAuthId !== undefined) {
      return err({ kind: 'unknownParent' });
    }
    return this.#insert(input, parent, { access });
  }

  /** Creates a sub-account and its first access token, both or none. */
  async createSubAccountWithAccess(
    parentAuthId: AccountId,
    input: NewAccount,
  ): Promise<Result<CreatedAccount & CreatedAccess, AccountRefusal>> {
    const { created, stored } = drawAccess(this.#deps.random, this.#nowUs(), ACCESS_TOKEN_MS);
    const made = await this.createSubAccount(parentAuthId, input, stored);
    return made.ok ? ok({ ...made.value, ...created }) : made;
  }

  async get(authIdentifier: AccountId): Promise<Account | undefined> {
    return (await this.#credentials.get(authIdentifier))?.account;
  }

  /** Returns the main account of `account`: its parent, or the account itself. */
  async ownerOf(account: Account): Promise<Account> {
    if (account.parentAuthId === undefined) return account;
    return (await this.get(account.parentAuthId)) ?? account;
  }

  list(filter: AccountFilter, slice: Slice): Promise<Page<Account>> {
    return this.#deps.store.list(filter, slice);
  }

  /** Changes an account, and `terms` of its balances, all or none. The account must have these balances. */
  async patch(
    authIdentifier: AccountId,
    patch: AccountPatch,
    terms: readonly BalanceTerms[] = [],
  ): Promise<Result<Account, AccountRefusal>> {
    const { partnerAuthId } = patch;
    if (partnerAuthId === authIdentifier || !(await this.#isPartner(partnerAuthId))) {
      return err({ kind: 'unknownPartner' });
    }
    if (patch.isPartner === false && (await this.#hasCustomers(authIdentifier))) {
      return err({ kind: 'partnerInUse' });
    }
    const changed = await this.#deps.store.patch(authIdentifier, patch, terms);
    this.#credentials.changed(authIdentifier);
    if (changed === undefined) return err({ kind: 'unknownAccount' });
    if (changed.status !== 'active') {
      await this.#revoked(changed, `the ${nounOf(changed)} is ${changed.status}`);
    } else if (!permits(changed, 'calls')) {
      await this.#revoked(changed, NO_CALLS, { callsOnly: true });
    }
    return ok(changed);
  }

  /** Sets the callback for accounts that this process changed. Other processes must then `forget` their cached copy. */
  onChanged(act: (authId: AccountId) => void): void {
    this.#onChanged = act;
  }

  /** Drops the cached copy of an account that another process changed. Undefined drops all cached accounts. */
  forget(authId: AccountId | undefined): void {
    this.#credentials.forget(authId);
  }

  /** Registers a callback that runs after an account lost rights. The revoking operation waits for it. */
  onRevoked(act: (revoked: RevokedAccount) => Promise<void>): void {
    this.revocations.add(act);
  }

  async removeSubAccount(
    parentAuthId: AccountId,
    subAuthId: AccountId,
  ): Promise<Result<void, AccountRefusal>> {
    const sub = await this.get(subAuthId);
    if (sub?.parentAuthId !== parentAuthId) return err({ kind: 'unknownAccount' });
    const removed = await this.#deps.store.removeSubAccount(subAuthId);
    this.#credentials.changed(subAuthId);
    await afterCommit(this.#deps.logger, subAuthId, [
      this.#revoked(sub, 'the sub-account was deleted', { removedUsernames: removed }),
    ]);
    return ok(undefined);
  }

  /** Authenticates `X-Auth-ID` and `X-Auth-Token`, or HTTP Basic (spec: Authentication 1, 2). Compares in constant time. */
  async authenticate(
    authIdentifier: AccountId,
    authToken: string,
  ): Promise<Result<Principal, AuthenticationRefusal>> {
    const credentials = await this.#credentials.get(authIdentifier);
    const nowUs = this.#nowUs();
    let matches = false;
    for (const candidate of credentials?.tokens ?? [{ token: '', expiresUs: undefined }]) {
      const equal = secretsEqual(candidate.token, authToken);
      const alive = candidate.expiresUs === undefined || candidate.expiresUs > nowUs;
      matches ||= equal && alive && candidate.token !== '';
    }
    if (credentials === undefined || !matches) return err({ kind: 'badCredentials' });
    return this.#principal(credentials.account, 'token');
  }

  /** Authenticates `Authorization: Bearer` with an access token (spec: Authentication 3). */
  async authenticateBearer(accessToken: string): Promise<Result<Principal, AuthenticationRefusal>> {
    const found = await this.#deps.store.accessTokenOwner(hashHex('sha256', accessToken));
    if (found === undefined || found.expiresUs <= this.#nowUs()) {
      return err({ kind: 'badCredentials' });
    }
    const account = await this.get(found.authId);
    if (account === undefined) return err({ kind: 'badCredentials' });
    return this.#principal(account, 'accessToken');
  }

  /**
   * Returns whether `principal` may act on the account named in a path (spec: Authentication 4; Transactions rule 6).
   * An account may act on itself and on its sub-accounts. A sub-account may not act on its parent.
   */
  async authorize(
    principal: Principal,
    pathAuthId: AccountId,
  ): Promise<Result<Access, { readonly kind: 'accountMismatch' }>> {
    if (pathAuthId === principal.account.authId) {
      return ok({ account: principal.account, owner: principal.owner });
    }
    if (!pathAuthId.startsWith('SA_')) return err({ kind: 'accountMismatch' });
    const addressed = await this.get(pathAuthId);
    if (addressed?.parentAuthId !== principal.account.authId) {
      return err({ kind: 'accountMismatch' });
    }
    return ok({ account: addressed, owner: principal.owner });
  }

  /** Creates a new auth token. Older tokens, and access tokens created with them, stay valid for `overlapMs`. */
  async rotateToken(
    authIdentifier: AccountId,
    overlapMs: number,
  ): Promise<Result<{ readonly authToken: string }, AccountRefusal>> {
    const authToken = token(this.#deps.random);
    const othersEndUs = this.#nowUs() + Math.round(overlapMs * 1000);
    const known = await this.#deps.store.addToken(authIdentifier, authToken, othersEndUs);
    this.#credentials.changed(authIdentifier);
    if (!known) return err({ kind: 'unknownAccount' });
    const acts = this.#onTokensChanged.map((act) => act(authIdentifier));
    await afterCommit(this.#deps.logger, authIdentifier, acts);
    return ok({ authToken });
  }

  /** Returns the currently valid auth tokens, newest first. Returns an empty list for an unknown account. */
  async liveTokens(authIdentifier: AccountId): Promise<AccountCredentials['tokens']> {
    const credentials = await this.#credentials.get(authIdentifier);
    const nowUs = this.#nowUs();
    return (credentials?.tokens ?? []).filter(
      ({ expiresUs }) => expiresUs === undefined || expiresUs > nowUs,
    );
  }

  /** Registers a callback that runs after an account received a new auth token. Older tokens may still be valid. */
  onTokensChanged(act: (accountId: AccountId) => Promise<void>): void {
    this.#onTokensChanged.push(act);
  }

  async createAccessToken(
    authIdentifier: AccountId,
    expiresInMs: number = ACCESS_TOKEN_MS,
  ): Promise<CreatedAccess> {
    const { created, stored } = drawAccess(this.#deps.random, this.#nowUs(), expiresInMs);
    await this.#deps.store.addAccessToken(authIdentifier, stored);
    return created;
  }

  /** Transfers capacity to a customer or reclaims it (spec: Partner capacity allocation). */
  async moveCapacity(
    request: Omit<TransferRequest, 'reference'>,
  ): Promise<Result<CapacityTransfer, TransferRefusal>> {
    const reference = `capacity_${request.operation}:${uuid(this.#deps.random)}`;
    const moved = await this.#deps.partners.transfer({ ...request, reference });
    this.#credentials.changed(request.partnerAuthId);
    this.#credentials.changed(request.customerAuthId);
    return moved;
  }

  async allocation(
    partnerAuthId: AccountId,
    customerAuthId: AccountId,
  ): Promise<
    Result<
      { readonly partner: Account; readonly customer: Account; readonly net: NetAllocation },
      TransferRefusal
    >
  > {
    const parties = checkParties({
      partner: await this.get(partnerAuthId),
      customer: await this.get(customerAuthId),
    });
    if (!parties.ok) return parties;
    const net = await this.#deps.partners.netAllocation(partnerAuthId, customerAuthId);
    return ok({ ...parties.value, net });
  }

  /** Returns the transfers of an active partner, newest first. Refuses other accounts. */
  async transferHistory(
    partnerAuthId: AccountId,
    slice: Slice,
  ): Promise<Result<Page<CapacityTransfer>, TransferRefusal>> {
    const partner = await this.get(partnerAuthId);
    if (!partner?.isPartner || partner.status !== 'active') return err({ kind: 'notAPartner' });
    return ok(await this.#deps.partners.history(partnerAuthId, slice));
  }

  async #insert(
    input: NewAccount,
    parent: Account | undefined,
    {
      access,
      terms,
    }: {
      readonly access?: StoredAccessToken | undefined;
      readonly terms?: BalancePatch | undefined;
    },
  ): Promise<Result<CreatedAccount, AccountRefusal>> {
    const { random, store, defaults } = this.#deps;
    for (let draw = 0; draw < AUTH_ID_DRAWS; draw += 1) {
      const authToken = token(random);
      const made = { authId: newAccountId(random, parent === undefined ? 'MA' : 'SA'), defaults };
      const account = newAccount(input, parent, { ...made, nowUs: this.#nowUs() });
      const created = await store.create(account, authToken, access, terms);
      if (created.ok) return ok({ account: created.value, authToken });
    }
    throw new BugError(
      `${AUTH_ID_DRAWS} account ids in a row are in use: the random source is broken`,
    );
  }

  async #principal(
    account: Account,
    by: Principal['by'],
  ): Promise<Result<Principal, AuthenticationRefusal>> {
    const owner = await this.ownerOf(account);
    if (account.status !== 'active' || owner.status !== 'active') return err({ kind: 'inactive' });
    return ok({ account, owner, by });
  }

  async #isPartner(partnerAuthId: AccountId | undefined): Promise<boolean> {
    return partnerAuthId === undefined || (await this.get(partnerAuthId))?.isPartner === true;
  }

  async #hasCustomers(partnerAuthId: AccountId): Promise<boolean> {
    const filter = { parentAuthId: undefined, partnerAuthId };
    return (await this.list(filter, { limit: 1, offset: 0 })).total > 0;
  }

  async #revoked(
    { authId: id, parentAuthId }: Account,
    why: string,
    more: Partial<Pick<RevokedAccount, 'removedUsernames' | 'callsOnly'>> = {},
  ): Promise<void> {
    const revoked = {
      accountId: parentAuthId ?? id,
      subAccount: parentAuthId === undefined ? undefined : id,
      why,
      removedUsernames: [],
      callsOnly: false,
      ...more,
    };
    await this.revocations.notify(revoked);
  }

  #nowUs(): number {
    return wallUs(this.#deps.clock);
  }
}

const nounOf = ({ parentAuthId }: Account): string =>
  parentAuthId === undefined ? 'account' : 'sub-account';
