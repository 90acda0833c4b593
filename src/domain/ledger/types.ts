import type { AccountId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';

export type ReferenceType =
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

/** One row of the append-only ledger. `amount` is positive; `type` says the direction. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: AccountId;
  readonly balanceId: string;
  /** `debit`, `credit`, or a legacy type stored directly (`did_rental`), which counts as a debit. */
  readonly type: string;
  readonly amount: Micros;
  readonly currency: string;
  readonly description: string;
  /** `<source>:<uuid>`; unique with `type` per account where set, so that a repeat never charges twice. */
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
  /** Caller-made idempotency key: the same key answers the first entry again. */
  readonly key?: string;
}

export interface Balance {
  readonly id: string;
  readonly accountId: AccountId;
  readonly currency: string;
  /** Sum of every completed entry, promotional credit included. */
  readonly balance: Micros;
  readonly reservedFunds: Micros;
  /** The part of `balance` that was given as promotion and is not spent yet; spent first, never paid out. */
  readonly promotionalBalance: Micros;
  /** The part of `reservedFunds` that the promotional part covers. */
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

/** What may be changed of a balance by the operator. */
export type BalancePatch = {
  readonly [Key in
    | 'creditLimit'
    | 'isPostpaid'
    | 'creditLimitType'
    | 'lowBalanceThreshold'
    | 'status']?: Balance[Key];
};

/** Sums over every entry of a filtered set, whatever its status. */
export interface EntrySummary {
  readonly totalTransactions: number;
  readonly totalDebit: Micros;
  readonly totalCredit: Micros;
  readonly byReferenceType: ReadonlyArray<{
    readonly referenceType: string;
    readonly totalDebit: Micros;
    readonly totalCredit: Micros;
    readonly count: number;
  }>;
}

/** What was charged and credited in one UTC day for one source. */
export interface DailyTotal {
  /** Days since the epoch. */
  readonly day: number;
  readonly currency: string;
  readonly referenceType: string;
  readonly count: number;
  readonly debit: Micros;
  readonly credit: Micros;
}

/** An entry and its number, by which a walk goes on. */
export interface NumberedEntry {
  readonly seq: number;
  readonly entry: LedgerEntry;
}

/** Filters of the ledger's list, AND-ed (spec: GET transactions). Absent: no filter. */
export interface EntryFilter {
  readonly accountId: AccountId;
  /** Inclusive bounds of `created_at`, microseconds UTC. */
  readonly fromUs?: number | undefined;
  readonly toUs?: number | undefined;
  /** `credit` and `debit` are classifications and sweep in legacy types; anything else matches exactly. */
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  /** Upper case. */
  readonly currency?: string | undefined;
  readonly referenceType?: string | undefined;
  /** Case-insensitive substrings. */
  readonly description?: string | undefined;
  readonly reference?: string | undefined;
  readonly id?: string | undefined;
}

/** A balance whose stored numbers disagree with what its entries and reservations add up to. */
export interface LedgerFault {
  readonly balanceId: string;
  readonly accountId: AccountId;
  readonly currency: string;
  readonly balance: number;
  readonly sumOfEntries: number;
  /** The same sum from the kept daily totals. */
  readonly sumOfDailyTotals: number;
  readonly reservedFunds: number;
  readonly sumOfReservations: number;
}

/** Why a hold was not granted; `canSpend` in funds.ts is the rule. */
export type ReserveRefusal = 'insufficientFunds' | 'dailySpendLimit' | 'unknownBalance';

/** What a unit of use costs. Found by longest prefix; an account's own rate beats the common one of equal length. */
export interface Rate {
  readonly direction:
    | 'outbound'
    | 'inbound'
    | 'sip'
    | 'stream'
    | 'recording'
    | 'transcription'
    | 'number';
  /** E.164 digits; the empty string matches everything. */
  readonly prefix: string;
  /** Per minute of use; for `number` per month of rental. */
  readonly perMinute: Micros;
  readonly pulseMs: number;
  readonly currency: string;
  readonly accountId: AccountId | undefined;
}

/** What makes a rate the one that it is. */
export type RateKey = Omit<Rate, 'perMinute' | 'pulseMs'>;

/** What a use costs. */
export type UseRate = Pick<Rate, 'perMinute' | 'pulseMs'>;

/** A use with its own ledger entry, apart from the record of a call: a recording, recognised speech. */
export interface Use {
  readonly reservationId: string;
  readonly accountId: AccountId;
  readonly currency: string;
  /** As quoted when it began. */
  readonly rate: UseRate;
  /** The ledger adds the billed time. */
  readonly description: string;
  /** `<source>:<uuid>`, also the idempotency key: a use is charged once. */
  readonly reference: string;
  readonly referenceType: ReferenceType;
}
