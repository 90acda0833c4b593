import type { AccountId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { BalancePatch } from '../ledger/types.ts';
import type { TransferRefusal } from './partner.ts';
import type {
  Account,
  AccountPatch,
  CapacityTransfer,
  NetAllocation,
  TransferRequest,
} from './types.ts';

export interface AccountFilter {
  /** ID of the parent whose sub-accounts are listed. Undefined lists main accounts. */
  readonly parentAuthId: AccountId | undefined;
  /** ID of the partner whose customers are listed. */
  readonly partnerAuthId?: AccountId | undefined;
  /** Part of the name or of the ID. */
  readonly search?: string | undefined;
}

/** An account with its auth tokens. Older tokens have an expiry time. */
export interface AccountCredentials {
  readonly account: Account;
  readonly tokens: ReadonlyArray<{
    readonly token: string;
    readonly expiresUs: number | undefined;
  }>;
}

/** An access token, of which only the SHA-256 hash is stored. */
export interface StoredAccessToken {
  readonly hash: string;
  readonly expiresUs: number;
}

/** Credit terms of the balance of an account in one currency. */
export interface BalanceTerms {
  /** Currency in upper case, of a balance that the account has. */
  readonly currency: string;
  readonly terms: BalancePatch;
}

export interface AccountStore {
  /**
   * Writes the account, its first token, an access token if there is one and, for a main account, a balance in its
   * currency with `terms`. All in one transaction.
   */
  create(
    account: Account,
    token: string,
    access?: StoredAccessToken,
    terms?: BalancePatch,
  ): Promise<Result<Account, 'authIdTaken'>>;
  get(authId: AccountId): Promise<Account | undefined>;
  list(filter: AccountFilter, slice: Slice): Promise<Page<Account>>;
  /** Changes the account and its balances in one transaction. */
  patch(
    authId: AccountId,
    patch: AccountPatch,
    terms?: readonly BalanceTerms[],
  ): Promise<Account | undefined>;
  /**
   * Deletes a sub-account and its endpoints. Its applications and numbers move to the main account. Returns the
   * deleted SIP user names. Main accounts own a ledger, so they are closed and never deleted.
   */
  removeSubAccount(authId: AccountId): Promise<readonly string[]>;
  credentials(authId: AccountId): Promise<AccountCredentials | undefined>;
  /**
   * Adds `token`. All older tokens, including access tokens, expire no later than `othersEndUs`. Returns false for an
   * unknown account.
   */
  addToken(authId: AccountId, token: string, othersEndUs: number): Promise<boolean>;
  addAccessToken(authId: AccountId, access: StoredAccessToken): Promise<void>;
  accessTokenOwner(
    hash: string,
  ): Promise<{ readonly authId: AccountId; readonly expiresUs: number } | undefined>;
}

export interface PartnerStore {
  /** Reads both accounts, decides, and writes both accounts in one transaction. */
  transfer(request: TransferRequest): Promise<Result<CapacityTransfer, TransferRefusal>>;
  netAllocation(partnerAuthId: AccountId, customerAuthId: AccountId): Promise<NetAllocation>;
  /** Returns the transfers of a partner, newest first. */
  history(partnerAuthId: AccountId, slice: Slice): Promise<Page<CapacityTransfer>>;
}

type IdempotencyOutcome =
  /** The key is new. The caller does the work and then calls `finish`. */
  | { readonly kind: 'first' }
  /** The same request is in progress. */
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly response: string }
  /** The key was used with a different request. */
  | { readonly kind: 'mismatch' };

/** Stores each `Idempotency-Key` for one day. `owner` is an account or the operator. */
export interface IdempotencyStore {
  begin(owner: string, key: string, fingerprint: string): Promise<IdempotencyOutcome>;
  finish(owner: string, key: string, response: string): Promise<void>;
  /** Frees the key after the work failed without an effect. */
  forget(owner: string, key: string): Promise<void>;
  /** Deletes up to `limit` older keys. Returns their number. */
  purge(beforeUs: number, limit: number): Promise<number>;
}

/** Last use of an account's API credentials on all nodes. */
export interface CredentialUse {
  /** Time of the last request, microseconds UTC. */
  readonly atUs: number;
  readonly address: string;
  readonly userAgent: string;
  /** Number of requests. */
  readonly requests: number;
}

export interface CredentialUseStore {
  /** Adds the uses since the last call: the number of requests is added, and the latest request replaces an earlier one. */
  add(uses: readonly (readonly [AccountId, CredentialUse])[]): Promise<void>;
  get(accountId: AccountId): Promise<CredentialUse | undefined>;
  /** Deletes the uses of accounts that do not exist any more. */
  purge(): Promise<void>;
}
