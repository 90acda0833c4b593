import type { AccountId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { TimeFilter } from '../../base/page.ts';

type ReferenceType =
  | 'cdr'
  | 'stream_cdr'
  | 'recording'
  | 'transcription'
  | 'did_purchase'
  | 'did_rental'
  | 'manual_adjustment'
  | 'payment'
  | 'refund';

export type EntryStatus = 'completed' | 'pending' | 'failed' | 'cancelled';

/** One row of the append-only ledger. `amount` is positive; `type` gives the direction. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: AccountId;
  readonly balanceId: string;
  /** `debit`, `credit`, or a legacy type stored directly (`did_rental`), which counts as a debit. */
  readonly type: string;
  readonly amount: Micros;
  readonly currency: string;
  readonly description: string;
  /** Reference `<source>:<uuid>`. If set, it is unique with `type` per account, so that a repeat never charges twice. */
  readonly reference: string | undefined;
  readonly referenceType: string;
  readonly status: EntryStatus;
  readonly processedUs: number;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface NewEntry {
  readonly accountId: AccountId;
  readonly currency: string;
  readonly type: 'debit' | 'credit' | 'did_rental';
  readonly amount: Micros;
  readonly description: string;
  readonly reference: string | undefined;
  readonly referenceType: string;
  readonly promotional?: boolean;
  /** Idempotency key of the caller. A repeated key returns the first entry. */
  readonly key?: string;
}

export interface Balance {
  readonly id: string;
  readonly accountId: AccountId;
  readonly currency: string;
  /** Sum of all completed entries, including promotional credit. */
  readonly balance: Micros;
  readonly reservedFunds: Micros;
  /** Unspent promotional part of `balance`. It is spent first and never paid out. */
  readonly promotionalBalance: Micros;
  /** Part of `reservedFunds` that the promotional part covers. */
  readonly promotionalReservedBalance: Micros;
  readonly creditLimit: Micros;
  readonly isPostpaid: boolean;
  readonly creditLimitType: 'soft' | 'hard';
  readonly lowBalanceThreshold: Micros;
  readonly status: string;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** A balance whose available part fell below its threshold. */
export interface LowBalanceAlert {
  readonly id: number;
  readonly balanceId: string;
  readonly accountId: AccountId;
  readonly currency: string;
  readonly available: Micros;
  readonly threshold: Micros;
  readonly fallenUs: number;
}

/** Fields of a balance that the operator may change. */
export type BalancePatch = {
  readonly [Key in
    | 'creditLimit'
    | 'isPostpaid'
    | 'creditLimitType'
    | 'lowBalanceThreshold'
    | 'status']?: Balance[Key];
};

/** Sums over every entry of a filtered set, regardless of status. */
export interface EntrySummary {
  readonly totalTransactions: number;
  readonly totalDebit: Micros;
  readonly totalCredit: Micros;
  readonly byReferenceType: ReadonlyArray<{
    readonly referenceType: string;
    readonly totalDebit: Micros;
    readonly totalCredit: Micros;
    readonly count: number;
    /** Number of debits among the entries. */
    readonly debits: number;
  }>;
}

/** Charges and credits of one UTC day and source. */
export interface DailyTotal {
  /** Day number: days since 1970-01-01. */
  readonly day: number;
  readonly currency: string;
  readonly referenceType: string;
  readonly count: number;
  readonly debit: Micros;
  readonly credit: Micros;
}

/** An entry with its sequence number, which continues a walk. */
export interface NumberedEntry {
  readonly seq: number;
  readonly entry: LedgerEntry;
}

/** A balance whose stored numbers disagree with the sums of its entries and reservations. */
export interface LedgerFault {
  readonly balanceId: string;
  readonly accountId: AccountId;
  readonly currency: string;
  readonly balance: number;
  readonly sumOfEntries: number;
  /** Sum of the stored daily totals. Should equal the sum of entries. */
  readonly sumOfDailyTotals: number;
  readonly reservedFunds: number;
  readonly sumOfReservations: number;
}

/** Filters of the ledger list, combined with AND (spec: GET transactions). An absent filter matches everything. */
export interface EntryFilter extends TimeFilter {
  readonly accountId: AccountId;
  /** `credit` and `debit` are classes that include legacy types. Other values match exactly. */
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  /** Currency in upper case. */
  readonly currency?: string | undefined;
  readonly referenceType?: string | undefined;
  /** Case-insensitive substrings. */
  readonly description?: string | undefined;
  readonly reference?: string | undefined;
  readonly id?: string | undefined;
}

/** Reason why a reservation was refused. The rule is `canSpend` in funds.ts. */
export type ReserveRefusal = 'insufficientFunds' | 'dailySpendLimit' | 'unknownBalance';

/** Kinds of use that have a price. */
export const RATE_DIRECTIONS = [
  'outbound',
  'inbound',
  'sip',
  'stream',
  'recording',
  'transcription',
  'number',
] as const;

/** Price of a unit of use. Found by longest prefix; an account's own rate overrides the common one of equal length. */
export interface Rate {
  readonly direction: (typeof RATE_DIRECTIONS)[number];
  /** Prefix in E.164 digits. The empty string matches everything. */
  readonly prefix: string;
  /** Price per minute of use; for `number`, per month of rental. */
  readonly perMinute: Micros;
  readonly pulseMs: number;
  readonly currency: string;
  readonly accountId: AccountId | undefined;
}

/** Fields that identify a rate. */
export type RateKey = Omit<Rate, 'perMinute' | 'pulseMs'>;

/** Price and pulse of a use. */
export type UseRate = Pick<Rate, 'perMinute' | 'pulseMs'>;

/** A use with its own ledger entry, separate from a call record: a recording or recognized speech. */
export interface Use {
  readonly reservationId: string;
  readonly accountId: AccountId;
  readonly currency: string;
  /** Rate quoted when the use began. */
  readonly rate: UseRate;
  /** Description. The ledger appends the billed time. */
  readonly description: string;
  /** Reference `<source>:<uuid>`. Also the idempotency key, so that a use is charged once. */
  readonly reference: string;
  readonly referenceType: ReferenceType;
}
