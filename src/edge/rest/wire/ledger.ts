import { unitsFromMicros } from '../../../base/money.ts';
import { isoMicros } from '../../../base/time-format.ts';
import { availableOf, type EntryPage, type Ledger } from '../../../domain/ledger/ledger.ts';
import type {
  Balance,
  EntryFilter,
  EntrySummary,
  LedgerEntry,
} from '../../../domain/ledger/types.ts';
import { type Static, Type, timestamp } from '../http/schema.ts';
import { ENTRY_COLUMNS } from './entry-columns.ts';
import { mapped, type RowSet } from './rows.ts';

/** Amounts are JSON numbers of currency units, exact to a millionth. */
const amount = () => Type.Number();

export const TransactionSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  account_id: Type.String(),
  balance_id: Type.String({ format: 'uuid' }),
  type: Type.String({ description: 'debit, credit, or a legacy type such as did_rental' }),
  amount: amount(),
  currency: Type.String(),
  description: Type.String(),
  reference: Type.Optional(
    Type.String({ description: '<source>:<uuid>; absent if there is none' }),
  ),
  reference_type: Type.String(),
  status: Type.String(),
  processed_at: timestamp(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const SummarySchema = Type.Object({
  total_transactions: Type.Integer(),
  total_debit: amount(),
  total_credit: amount(),
  net_amount: amount(),
  by_reference_type: Type.Array(
    Type.Object({
      reference_type: Type.String(),
      total_debit: amount(),
      total_credit: amount(),
      count: Type.Integer(),
    }),
  ),
});

export const TransactionListSchema = Type.Object({
  transactions: Type.Array(TransactionSchema),
  summary: SummarySchema,
  total: Type.Integer(),
  page: Type.Integer(),
  per_page: Type.Integer(),
  total_pages: Type.Integer(),
});

export const BalanceSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  account_id: Type.String(),
  currency: Type.String(),
  balance: amount(),
  reserved_funds: amount(),
  promotional_balance: amount(),
  promotional_reserved_balance: amount(),
  available_balance: amount(),
  credit_limit: amount(),
  is_postpaid: Type.Boolean(),
  credit_limit_type: Type.String(),
  low_balance_threshold: amount(),
  status: Type.String(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const showEntry = (entry: LedgerEntry): Static<typeof TransactionSchema> => ({
  id: entry.id,
  account_id: entry.accountId,
  balance_id: entry.balanceId,
  type: entry.type,
  amount: unitsFromMicros(entry.amount),
  currency: entry.currency,
  description: entry.description,
  ...(entry.reference !== undefined && { reference: entry.reference }),
  reference_type: entry.referenceType,
  status: entry.status,
  processed_at: isoMicros(entry.processedUs),
  created_at: isoMicros(entry.createdUs),
  updated_at: isoMicros(entry.updatedUs),
});

const showSummary = (summary: EntrySummary): Static<typeof SummarySchema> => ({
  total_transactions: summary.totalTransactions,
  total_debit: unitsFromMicros(summary.totalDebit),
  total_credit: unitsFromMicros(summary.totalCredit),
  net_amount: unitsFromMicros(summary.totalCredit - summary.totalDebit),
  by_reference_type: summary.byReferenceType.map((part) => ({
    reference_type: part.referenceType,
    total_debit: unitsFromMicros(part.totalDebit),
    total_credit: unitsFromMicros(part.totalCredit),
    count: part.count,
  })),
});

export const showEntryPage = (page: EntryPage): Static<typeof TransactionListSchema> => ({
  transactions: page.entries.map(showEntry),
  summary: showSummary(page.summary),
  total: page.total,
  page: page.page,
  per_page: page.perPage,
  total_pages: page.totalPages,
});

export const showBalance = (balance: Balance): Static<typeof BalanceSchema> => ({
  id: balance.id,
  account_id: balance.accountId,
  currency: balance.currency,
  balance: unitsFromMicros(balance.balance),
  reserved_funds: unitsFromMicros(balance.reservedFunds),
  promotional_balance: unitsFromMicros(balance.promotionalBalance),
  promotional_reserved_balance: unitsFromMicros(balance.promotionalReservedBalance),
  available_balance: unitsFromMicros(availableOf(balance)),
  credit_limit: unitsFromMicros(balance.creditLimit),
  is_postpaid: balance.isPostpaid,
  credit_limit_type: balance.creditLimitType,
  low_balance_threshold: unitsFromMicros(balance.lowBalanceThreshold),
  status: balance.status,
  created_at: isoMicros(balance.createdUs),
  updated_at: isoMicros(balance.updatedUs),
});

/** Yields all entries, newest first, in bounded memory. */
export const entryRows = (ledger: Ledger, filter: EntryFilter): RowSet => ({
  name: 'transactions',
  columns: ENTRY_COLUMNS,
  rows: mapped(ledger.walk(filter), showEntry),
});
