/** Builds the invoice of one balance and month from the ledger: opening balance, charges, credits and closing balance. */
import type { AccountId } from '../../base/ids.ts';
import { type Micros, micros } from '../../base/money.ts';
import type { EntrySummary } from './types.ts';

export interface InvoiceLine {
  /** The `reference_type` of the entries. */
  readonly source: string;
  readonly description: string;
  /** Number of debits of a charge, or of credits of a credit. */
  readonly count: number;
  readonly amount: Micros;
}

export interface Invoice {
  /** Invoice number. Always the same for one balance and month. */
  readonly number: string;
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly currency: string;
  /** First and last microsecond of the month, UTC. */
  readonly fromUs: number;
  readonly toUs: number;
  /** True if the month has not ended, so that amounts may still grow. */
  readonly preliminary: boolean;
  readonly opening: Micros;
  readonly charges: readonly InvoiceLine[];
  readonly totalCharges: Micros;
  readonly credits: readonly InvoiceLine[];
  readonly totalCredits: Micros;
  readonly closing: Micros;
}

export interface Month {
  /** Name such as `2026-11`. */
  readonly name: string;
  readonly fromUs: number;
  readonly toUs: number;
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  cdr: 'Calls',
  stream_cdr: 'Audio streams',
  recording: 'Recordings',
  did_purchase: 'Numbers, set-up',
  did_rental: 'Numbers, rental',
  manual_adjustment: 'Adjustments',
  payment: 'Payments',
  refund: 'Refunds',
};

/** Parses `YYYY-MM` as a UTC month. Returns undefined for other text. */
export function monthOf(text: string): Month | undefined {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return undefined;
  const fromUs = Date.UTC(Number(year), Number(month) - 1, 1) * 1000;
  const toUs = Date.UTC(Number(year), Number(month), 1) * 1000 - 1;
  return { name: text, fromUs, toUs };
}

export interface InvoiceFacts {
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly currency: string;
  readonly month: Month;
  readonly nowUs: number;
  /** Sums of completed entries before and within the month. */
  readonly before: EntrySummary;
  readonly within: EntrySummary;
}

type SourceSum = EntrySummary['byReferenceType'][number];

export function invoiceOf(facts: InvoiceFacts): Invoice {
  const { accountId, currency, month, before, within } = facts;
  const opening = micros(before.totalCredit - before.totalDebit);
  const lines = (sumOf: (part: SourceSum) => Pick<InvoiceLine, 'amount' | 'count'>) =>
    within.byReferenceType
      .map((part) => ({
        source: part.referenceType,
        description: DESCRIPTIONS[part.referenceType] ?? part.referenceType,
        ...sumOf(part),
      }))
      .filter(({ amount }) => amount > 0);
  return {
    number: `${accountId}-${month.name.replace('-', '')}-${currency}`,
    accountId,
    accountName: facts.accountName,
    currency,
    fromUs: month.fromUs,
    toUs: month.toUs,
    preliminary: facts.nowUs <= month.toUs,
    opening,
    charges: lines(({ totalDebit, debits }) => ({ amount: totalDebit, count: debits })),
    totalCharges: within.totalDebit,
    credits: lines(({ totalCredit, count, debits }) => ({
      amount: totalCredit,
      count: count - debits,
    })),
    totalCredits: within.totalCredit,
    closing: micros(opening + within.totalCredit - within.totalDebit),
  };
}
