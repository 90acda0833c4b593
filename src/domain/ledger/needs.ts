import type { AccountId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { Result } from '../../base/result.ts';
import type { Price } from './rating.ts';
import type {
  Balance,
  BalancePatch,
  DailyTotal,
  EntryFilter,
  EntryStatus,
  EntrySummary,
  LedgerEntry,
  LedgerFault,
  LowBalanceAlert,
  NewEntry,
  NumberedEntry,
  Rate,
  RateKey,
  ReserveRefusal,
  Use,
} from './types.ts';

export type PostRefusal =
  | 'unknownBalance'
  | 'insufficientFunds'
  | 'keyReused'
  /** The balance would be larger than the largest exact integer. */
  | 'balanceLimit';
export type OpenBalanceRefusal = 'unknownAccount' | 'balanceExists';

export interface LedgerStore {
  openBalance(accountId: AccountId, currency: string): Promise<Result<Balance, OpenBalanceRefusal>>;
  balance(accountId: AccountId, currency: string): Promise<Balance | undefined>;
  balances(accountId: AccountId): Promise<readonly Balance[]>;
  patchBalance(
    accountId: AccountId,
    currency: string,
    patch: BalancePatch,
  ): Promise<Balance | undefined>;

  /**
   * Returns unreported low-balance alerts with an ID above `after`, oldest first. Each transaction that leaves a balance
   * below its threshold adds one. No further alert is added until the balance was above it again.
   */
  lowBalanceAlerts(after: number, limit: number): Promise<readonly LowBalanceAlert[]>;
  lowBalanceTold(id: number): Promise<void>;

  /**
   * Adds the entries and updates their balances in one transaction. An entry whose key, or reference and type,
   * already exists returns the first entry and changes nothing. `checked`: debits must be covered (`canSpend`).
   * `strict`: a repeat with different fields is refused with `keyReused`.
   */
  post(
    entries: readonly NewEntry[],
    options: { readonly checked: boolean; readonly strict?: boolean },
  ): Promise<Result<readonly LedgerEntry[], PostRefusal>>;
  /** Adds a credit that takes effect only when it is completed. */
  postPending(entry: NewEntry): Promise<Result<LedgerEntry, PostRefusal>>;
  /** Ends a pending entry. Returns undefined if there is no such pending entry. */
  completePending(
    entryId: string,
    status: Exclude<EntryStatus, 'pending'>,
  ): Promise<LedgerEntry | undefined>;

  /** Reserves `amount` under `reservationId`. A repeat with the same ID changes nothing. */
  reserve(reservation: {
    readonly reservationId: string;
    readonly accountId: AccountId;
    readonly currency: string;
    readonly amount: Micros;
    /** Daily limit. `ofAccount` uses the limit of the account's record. */
    readonly dailySpendLimit: Micros | 'ofAccount' | undefined;
  }): Promise<Result<void, ReserveRefusal>>;
  /** Raises the reserved amount to `amount`. */
  extend(reservationId: string, amount: Micros): Promise<Result<void, ReserveRefusal>>;
  /** Releases the reservation and posts `entries` in one transaction. */
  release(reservationId: string, entries: readonly NewEntry[]): Promise<void>;

  /**
   * Charges `usedMs` of a use and releases its reservation in one transaction. Beyond the reservation it charges what
   * the balance covers now, otherwise only the reserved pulses. A repeat returns the earlier charge.
   */
  chargeUse(use: Use, usedMs: number): Promise<Result<Price, 'unknownBalance'>>;

  /** Returns the entries of one page, newest first, and the size of the filtered set. */
  page(
    filter: EntryFilter,
    page: number,
    perPage: number,
  ): Promise<{ readonly entries: readonly LedgerEntry[]; readonly total: number }>;
  /** Returns the next entries older than number `before`, newest first. Walks any set in bounded memory. */
  walk(
    filter: EntryFilter,
    before: number | undefined,
    limit: number,
  ): Promise<readonly NumberedEntry[]>;
  /** Returns completed entries by day, currency and source for days `fromDay` to `toDay`, oldest first. */
  daily(accountId: AccountId, fromDay: number, toDay: number): Promise<readonly DailyTotal[]>;
  summary(filter: EntryFilter): Promise<EntrySummary>;
  /** Returns the reference types of the account's entries, sorted. */
  referenceTypes(accountId: AccountId): Promise<readonly string[]>;
  /** Returns the balances whose numbers are inconsistent. Empty if all are correct. */
  verify(): Promise<readonly LedgerFault[]>;
}

export interface RateStore {
  /** Stores a rate and replaces that of the same direction, prefix, currency and account. */
  put(rate: Rate): Promise<void>;
  remove(key: RateKey): Promise<boolean>;
  listAll(): Promise<readonly Rate[]>;
}
