import type { AccountId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { TransferRefusal, TransferRequest } from './partner.ts';
import type { Account, AccountPatch, CapacityTransfer, NetAllocation } from './types.ts';

export interface AccountFilter {
  /** `undefined`: main accounts; an auth id: the sub-accounts of that account. */
  readonly parentAuthId: AccountId | undefined;
  /** Main accounts that are customers of this one. */
  readonly partnerAuthId?: AccountId | undefined;
}

/** An account with the tokens that open it; an older token has an end. */
export interface AccountCredentials {
  readonly account: Account;
  readonly tokens: ReadonlyArray<{
    readonly token: string;
    readonly expiresUs: number | undefined;
  }>;
}

export interface AccountStore {
  /** Account, first token and (main accounts) a balance in its currency, in one unit of work. */
  create(account: Account, token: string): Promise<Result<Account, 'authIdTaken'>>;
  get(authId: AccountId): Promise<Account | undefined>;
  list(filter: AccountFilter, slice: Slice): Promise<Page<Account>>;
  patch(authId: AccountId, patch: AccountPatch): Promise<Account | undefined>;
  /**
   * Only sub-accounts are ever removed: a main account owns a ledger and is closed instead. Its endpoints go with it,
   * its applications and numbers fall to the main account. Answers the SIP users that are gone.
   */
  removeSubAccount(authId: AccountId): Promise<readonly string[]>;
  credentials(authId: AccountId): Promise<AccountCredentials | undefined>;
  /** Adds `token`; every older token, access tokens included, ends at `othersEndUs` at the latest. */
  addToken(authId: AccountId, token: string, othersEndUs: number): Promise<boolean>;
  /** Access tokens are known by their SHA-256 alone. */
  addAccessToken(hash: string, authId: AccountId, expiresUs: number): Promise<void>;
  accessTokenOwner(
    hash: string,
  ): Promise<{ readonly authId: AccountId; readonly expiresUs: number } | undefined>;
}

export interface PartnerStore {
  /** Reads both accounts, decides and writes both, in one unit of work. */
  transfer(request: TransferRequest): Promise<Result<CapacityTransfer, TransferRefusal>>;
  netAllocation(partnerAuthId: AccountId, customerAuthId: AccountId): Promise<NetAllocation>;
  /** Newest first. */
  history(partnerAuthId: AccountId, slice: Slice): Promise<Page<CapacityTransfer>>;
}

export type IdempotencyOutcome =
  /** First time: do the work, then `finish`. */
  | { readonly kind: 'first' }
  /** The same request is being worked on. */
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly response: string }
  /** The key was used with another request. */
  | { readonly kind: 'mismatch' };

/** `Idempotency-Key` of a request: remembered for a day per `owner`, an account or the operator. */
export interface IdempotencyStore {
  begin(owner: string, key: string, fingerprint: string): Promise<IdempotencyOutcome>;
  finish(owner: string, key: string, response: string): Promise<void>;
  /** The work failed before it had an effect: the key is free again. */
  forget(owner: string, key: string): Promise<void>;
}
