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

export type PostRefusal = 'unknownBalance' | 'insufficientFunds' | 'keyReused';
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
   * Falls below a threshold that are not told yet, oldest first. Each unit of work that leaves a balance below its
   * threshold adds one, once until the balance was above again.
   */
  lowBalanceAlerts(limit: number): Promise<readonly LowBalanceAlert[]>;
  lowBalanceTold(id: number): Promise<void>;

  /**
   * Adds the entries and moves their balances, all or nothing. An entry whose key, or reference and type, is there
   * already answers that first entry and moves nothing. `checked`: debits must be covered (`canSpend`). `strict`: a
   * repeat whose fields differ from the first entry is refused with `keyReused`.
   */
  post(
    entries: readonly NewEntry[],
    options: { readonly checked: boolean; readonly strict?: boolean },
  ): Promise<Result<readonly LedgerEntry[], PostRefusal>>;
  /** A credit that counts only once it is completed. */
  postPending(entry: NewEntry): Promise<Result<LedgerEntry, PostRefusal>>;
  /** Ends a pending entry; undefined when there is no such pending entry. */
  completePending(
    entryId: string,
    status: Exclude<EntryStatus, 'pending'>,
  ): Promise<LedgerEntry | undefined>;

  /** Holds `amount` under `reservationId`; a repeat with the same id changes nothing. */
  reserve(reservation: {
    readonly reservationId: string;
    readonly accountId: AccountId;
    readonly currency: string;
    readonly amount: Micros;
    /** `ofAccount`: the one that the account's record has. */
    readonly dailySpendLimit: Micros | 'ofAccount' | undefined;
  }): Promise<Result<void, ReserveRefusal>>;
  /** Raises what is held to `amount`. */
  extend(reservationId: string, amount: Micros): Promise<Result<void, ReserveRefusal>>;
  /** Gives the hold back and posts `entries`, in one unit of work. */
  release(reservationId: string, entries: readonly NewEntry[]): Promise<void>;

  /**
   * Charges a use of `usedMs` and gives its hold back, in one unit of work. Beyond the hold it charges what the balance
   * covers at that moment, else the pulses that were held. A use that was charged before answers that charge.
   */
  chargeUse(use: Use, usedMs: number): Promise<Result<Price, 'unknownBalance'>>;

  /** Entries of one page, newest first, and the size of the filtered set. */
  page(
    filter: EntryFilter,
    page: number,
    perPage: number,
  ): Promise<{ readonly entries: readonly LedgerEntry[]; readonly total: number }>;
  /** The next entries older than number `before`, newest first: walks any set in bounded memory. */
  walk(
    filter: EntryFilter,
    before: number | undefined,
    limit: number,
  ): Promise<readonly NumberedEntry[]>;
  /** Completed entries by day, currency and source, of days `fromDay` to `toDay`; oldest first. */
  daily(accountId: AccountId, fromDay: number, toDay: number): Promise<readonly DailyTotal[]>;
  summary(filter: EntryFilter): Promise<EntrySummary>;
  /** Reference types present on the account, sorted. */
  referenceTypes(accountId: AccountId): Promise<readonly string[]>;
  /** Balances whose numbers do not add up; empty when all is well. */
  verify(): Promise<readonly LedgerFault[]>;
}

export interface RateStore {
  /** Replaces the rate of the same direction, prefix, currency and account. */
  put(rate: Rate): Promise<void>;
  remove(key: RateKey): Promise<boolean>;
  listAll(): Promise<readonly Rate[]>;
}
