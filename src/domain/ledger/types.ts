import type { Micros } from '../../base/money.ts';

export type ReferenceType =
  | 'cdr'
  | 'stream_cdr'
  | 'recording'
  | 'did_purchase'
  | 'did_rental'
  | 'manual_adjustment'
  | 'payment'
  | 'refund';

export type EntryStatus = 'completed' | 'pending' | 'failed' | 'cancelled';

/** One row of the append-only ledger. `amount` is positive; `type` says the direction. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
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
  readonly accountId: string;
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
  readonly accountId: string;
  readonly currency: string;
  readonly balance: Micros;
  readonly reservedFunds: Micros;
  readonly promotionalBalance: Micros;
  readonly promotionalReservedBalance: Micros;
  readonly creditLimit: Micros;
  readonly isPostpaid: boolean;
  readonly creditLimitType: 'soft' | 'hard';
  readonly lowBalanceThreshold: Micros;
  readonly status: string;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** Balance, promotional credit and credit line together, less what is held: what may still be spent. */
export type ReserveRefusal = 'insufficientFunds' | 'dailySpendLimit' | 'unknownBalance';

/** What a unit of use costs. Found by longest prefix; an account's own rate beats the common one of equal length. */
export interface Rate {
  readonly direction: 'outbound' | 'inbound' | 'sip' | 'stream' | 'recording' | 'number';
  readonly prefix: string;
  readonly perMinute: Micros;
  readonly pulseSeconds: number;
  readonly currency: string;
  readonly accountId: string | undefined;
}
