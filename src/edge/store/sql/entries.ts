import { assert } from '../../../base/errors.ts';
import { type AccountId, uuidInOrder } from '../../../base/ids.ts';
import { canSpend, promotionAfterDebit } from '../../../domain/ledger/ledger.ts';
import type { Balance, EntryStatus, LedgerEntry, NewEntry } from '../../../domain/ledger/types.ts';
import { type Connection, integer } from '../connection.ts';
import type { LedgerHead } from '../ledger-heads.ts';
import { flag, int, optionalText, Table, text } from '../table.ts';
import { balanceById, dayOf, findBalance, moveBalance } from './balances.ts';
import { UnitRefused } from './unit-refused.ts';

/** A ledger entry with fields that only the store uses. */
export interface EntryRow extends LedgerEntry {
  readonly seq: number;
  /** Sign of the amount: -1 for a debit, including legacy types; 1 for a credit. */
  readonly sign: -1 | 1;
  readonly promotional: boolean;
  readonly idempotencyKey: string | undefined;
}

export const entryTable = new Table<EntryRow>('entry', {
  accountId: text,
  seq: int,
  id: text,
  balanceId: text,
  type: text,
  sign: int,
  amount: int,
  currency: text,
  description: text,
  reference: optionalText,
  referenceType: text,
  status: text,
  promotional: flag,
  idempotencyKey: optionalText,
  processedUs: int,
  createdUs: int,
  updatedUs: int,
});

/** Removes the fields that only the store uses. */
export function publicEntry(row: EntryRow): LedgerEntry {
  const { seq: _seq, sign: _sign, promotional: _promotional, idempotencyKey: _key, ...entry } = row;
  return entry;
}

export type PostingRefusal = 'unknownBalance' | 'insufficientFunds';

/** Options for posting an entry. */
export interface PostingOptions {
  /** Whether a debit must be covered by the balance. */
  readonly checked: boolean;
  /** Whether reusing a key with different fields is an error. Default: false. */
  readonly strict?: boolean | undefined;
  readonly status: EntryStatus;
}

/**
 * Posts one entry: writes its row, the daily total and the balance. A repeat (same key, or same reference and type) returns
 * the first entry and changes nothing.
 */
export function postEntry(
  db: Connection,
  entry: NewEntry,
  options: PostingOptions,
): LedgerEntry | PostingRefusal {
  const sign = entry.type === 'credit' ? 1 : -1;
  const isChecked = options.checked && sign === -1;
  const balance = findBalance(db, entry.accountId, entry.currency);
  // Repeats are rare, and the unique indexes detect them. Only an entry that may be refused is looked up first.
  const first = isChecked || balance === undefined ? findRepeated(db, entry) : undefined;
  if (first !== undefined) return repeatOf(first, entry, options);
  if (balance === undefined) return 'unknownBalance';
  if (isChecked && !canSpend(balance, entry.amount)) return 'insufficientFunds';
  const row = newRow(db, entry, balance, sign, options.status);
  if (!entryTable.insertNewLater(db, `entry ${row.accountId} ${row.seq}`, row)) {
    const repeated = findRepeated(db, entry);
    assert(repeated !== undefined, 'an entry is refused only as a repeat of another');
    return repeatOf(repeated, entry, options);
  }
  db.ledgerHeads.change(row.accountId, { seq: row.seq, createdUs: row.createdUs });
  addToTotal(db, row, 1);
  if (row.status === 'completed') applyToBalance(db, row, balance);
  return publicEntry(row);
}

/** Fields that must be equal when a key is reused. */
const REPEATED = [
  'currency',
  'type',
  'amount',
  'description',
  'reference',
  'referenceType',
] as const satisfies readonly (keyof NewEntry & keyof EntryRow)[];

function repeatOf(
  first: EntryRow,
  entry: NewEntry,
  { strict = false }: PostingOptions,
): LedgerEntry {
  const differs =
    REPEATED.some((field) => first[field] !== entry[field]) ||
    first.promotional !== (entry.promotional ?? false);
  if (strict && differs) throw new UnitRefused('keyReused');
  return publicEntry(first);
}

/** Completes a pending entry. Its amount then counts, or is discarded. */
export function completePending(
  db: Connection,
  entryId: string,
  status: Exclude<EntryStatus, 'pending'>,
): LedgerEntry | undefined {
  const pending = entryTable.get(db, "id = ? AND status = 'pending'", [entryId]);
  if (pending === undefined) return undefined;
  const row: EntryRow = { ...pending, status, processedUs: db.nowUs, updatedUs: db.nowUs };
  const ended = db.run(
    `UPDATE entry SET status = ?, processed_us = ?, updated_us = ?
      WHERE account_id = ? AND seq = ? AND status = 'pending'`,
    [row.status, row.processedUs, row.updatedUs, row.accountId, row.seq],
  );
  if (ended === 0) return undefined; // another node was faster
  addToTotal(db, pending, -1);
  addToTotal(db, row, 1);
  const balance = balanceById(db, row.balanceId);
  assert(balance !== undefined, 'an entry belongs to a balance');
  if (status === 'completed') applyToBalance(db, row, balance);
  return publicEntry(row);
}

/** Finds an entry with the same key, or with the same reference and type. */
export function findRepeated(db: Connection, entry: NewEntry): EntryRow | undefined {
  if (entry.key !== undefined) {
    const byKey = entryTable.get(db, 'account_id = ? AND idempotency_key = ?', [
      entry.accountId,
      entry.key,
    ]);
    if (byKey !== undefined) return byKey;
  }
  if (entry.reference === undefined) return undefined;
  return entryTable.get(db, 'account_id = ? AND reference = ? AND type = ?', [
    entry.accountId,
    entry.reference,
    entry.type,
  ]);
}

/** `created` never decreases within an account, even if the wall clock moves back, because pagination relies on it. */
function newRow(
  db: Connection,
  entry: NewEntry,
  balance: Balance,
  sign: -1 | 1,
  status: EntryStatus,
): EntryRow {
  const head = headOf(db, entry.accountId);
  const createdUs = Math.max(head.createdUs, db.nowUs);
  return {
    accountId: entry.accountId,
    seq: head.seq + 1,
    id: uuidInOrder(db.random, createdUs / 1000),
    balanceId: balance.id,
    type: entry.type,
    sign,
    amount: entry.amount,
    currency: entry.currency,
    description: entry.description,
    reference: entry.reference,
    referenceType: entry.referenceType,
    status,
    promotional: entry.promotional ?? false,
    idempotencyKey: entry.key,
    processedUs: createdUs,
    createdUs,
    updatedUs: createdUs,
  };
}

function headOf(db: Connection, accountId: AccountId): LedgerHead {
  const known = db.ledgerHeads.get(accountId);
  if (known !== undefined) return known;
  const row = db.get('SELECT seq, created_us FROM ledger_head WHERE account_id = ?', [accountId]);
  return { seq: integer(row, 'seq'), createdUs: integer(row, 'created_us') };
}

function applyToBalance(db: Connection, row: EntryRow, balance: Balance): void {
  const promotional =
    row.sign === -1
      ? promotionAfterDebit(balance.promotionalBalance, row.amount)
      : balance.promotionalBalance + (row.promotional ? row.amount : 0);
  const after = balance.balance + row.sign * row.amount;
  if (![after, promotional].every(Number.isSafeInteger)) throw new UnitRefused('balanceLimit');
  moveBalance(db, balance.id, row.sign * row.amount, promotional);
}

/** Updates the daily total of the entry. `by`: 1 adds the entry, -1 removes it. */
function addToTotal(db: Connection, row: EntryRow, by: 1 | -1): void {
  const { accountId, currency, referenceType, type, sign, status } = row;
  const day = dayOf(row.createdUs);
  const amount = by * row.amount;
  db.entryTotals.add({
    accountId,
    day,
    currency,
    referenceType,
    type,
    sign,
    status,
    count: by,
    amount,
  });
}
