import type { AccountId } from '../../../base/ids.ts';
import { MICROS_PER_UNIT, type Micros, micros } from '../../../base/money.ts';
import type {
  DailyTotal,
  EntryFilter,
  EntrySummary,
  LedgerEntry,
  NumberedEntry,
} from '../../../domain/ledger/types.ts';
import { type Connection, integer, type Row, string } from '../connection.ts';
import { Where } from '../where.ts';
import { dayOf, dayStartUs } from './balances.ts';
import { entryTable, publicEntry } from './entries.ts';
import { firstSince, type SeqRange, seqRange } from './entry-range.ts';

/**
 * Lists ledger entries. Uses the cheapest of three strategies that the filters allow:
 * - Time window only: entries are numbered by age, so a page is a range of numbers.
 * - Filters on dimensions of `entry_total` (type, status, currency, reference type): whole days are counted from the totals,
 * so that summaries and late pages do not read earlier entries.
 * - Text or ID filter: reads the entries.
 */
export function entryPage(
  db: Connection,
  filter: EntryFilter,
  page: number,
  perPage: number,
): { readonly entries: readonly LedgerEntry[]; readonly total: number } {
  const offset = (page - 1) * perPage;
  const range = seqRange(db, filter);
  if (range === undefined) return { entries: [], total: 0 };
  if (isTextual(filter)) return scannedPage(db, filter, range, offset, perPage);
  if (!hasDimension(filter)) {
    const newest = range.last - offset;
    const oldest = Math.max(range.first, newest - perPage + 1);
    const entries = entryTable.all(
      db,
      'WHERE account_id = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC',
      [filter.accountId, oldest, newest],
    );
    return { entries: entries.map(publicEntry), total: range.last - range.first + 1 };
  }
  return skippingPage(db, filter, range, offset, perPage);
}

/** Iterates by number, so that new entries do not shift or repeat the remaining ones. */
export function walkEntries(
  db: Connection,
  filter: EntryFilter,
  before: number | undefined,
  limit: number,
): readonly NumberedEntry[] {
  const range = seqRange(db, filter);
  if (range === undefined) return [];
  const last = Math.min(range.last, (before ?? Number.MAX_SAFE_INTEGER) - 1);
  const where = entryWhere(filter, { first: range.first, last });
  return entryTable
    .all(db, `WHERE ${where.sql} ORDER BY seq DESC LIMIT ?`, [...where.values, limit])
    .map((row) => ({ seq: row.seq, entry: publicEntry(row) }));
}

/** Reads the stored daily totals: one row per day, for any number of entries. */
export const dailyTotals = (
  db: Connection,
  accountId: AccountId,
  fromDay: number,
  toDay: number,
): readonly DailyTotal[] =>
  db
    .all(
      `SELECT day, currency, reference_type, SUM(count) AS n,
          SUM(CASE sign WHEN -1 THEN amount ELSE 0 END) AS debit,
          SUM(CASE sign WHEN 1 THEN amount ELSE 0 END) AS credit
        FROM entry_total
        WHERE account_id = ? AND day BETWEEN ? AND ? AND status = 'completed'
        GROUP BY day, currency, reference_type ORDER BY day, currency, reference_type`,
      [accountId, fromDay, toDay],
    )
    .map((row) => ({
      day: integer(row, 'day'),
      currency: string(row, 'currency'),
      referenceType: string(row, 'reference_type'),
      count: integer(row, 'n'),
      debit: micros(integer(row, 'debit')),
      credit: micros(integer(row, 'credit')),
    }));

/** Sums the filtered set from stored totals where possible. */
export function entrySummary(db: Connection, filter: EntryFilter): EntrySummary {
  if (isTextual(filter)) {
    const range = seqRange(db, filter);
    return toSummary(range === undefined ? [] : sumEntries(db, entryWhere(filter, range)));
  }
  const rows: Row[] = [];
  for (const part of splitWindow(filter)) {
    rows.push(...('day' in part ? sumDays(db, filter, part) : sumWindow(db, filter, part)));
  }
  return toSummary(rows);
}

const isTextual = (filter: EntryFilter): boolean =>
  filter.description !== undefined || filter.reference !== undefined || filter.id !== undefined;

const hasDimension = (filter: EntryFilter): boolean =>
  filter.type !== undefined ||
  filter.status !== undefined ||
  filter.currency !== undefined ||
  filter.referenceType !== undefined;

/** Adds the conditions on columns that `entry` and `entry_total` share. */
function dimensions(where: Where, filter: EntryFilter): Where {
  if (filter.type === 'debit') where.also('sign = -1');
  else if (filter.type === 'credit') where.also('sign = 1');
  else if (filter.type !== undefined) {
    where.and('type = ?', filter.type).also("type NOT IN ('debit', 'credit')");
  }
  // Repeats a condition that follows from the value, so that the database can use a partial index.
  if (filter.status !== undefined && filter.status !== 'completed')
    where.also("status <> 'completed'");
  if (filter.referenceType !== undefined && filter.referenceType !== 'cdr')
    where.also("reference_type <> 'cdr'");
  return where
    .and('status = ?', filter.status)
    .and('currency = ?', filter.currency)
    .and('reference_type = ?', filter.referenceType);
}

function entryWhere(filter: EntryFilter, range: SeqRange): Where {
  const where = new Where()
    .and('account_id = ?', filter.accountId)
    .also('seq BETWEEN ? AND ?', [range.first, range.last]);
  return dimensions(where, filter)
    .and('id = ?', filter.id)
    .contains(['description'], filter.description)
    .contains(['reference'], filter.reference);
}

function scannedPage(
  db: Connection,
  filter: EntryFilter,
  range: SeqRange,
  offset: number,
  perPage: number,
) {
  const where = entryWhere(filter, range);
  const count = db.get(`SELECT COUNT(*) AS n FROM entry WHERE ${where.sql}`, where.values);
  return { entries: readPage(db, where, offset, perPage), total: integer(count, 'n') };
}

/** Skips whole days by their counts; reads individual entries only in the day where the page begins. */
function skippingPage(
  db: Connection,
  filter: EntryFilter,
  range: SeqRange,
  offset: number,
  perPage: number,
) {
  let toSkip = offset;
  let total = 0;
  let last: number | undefined;
  for (const part of splitWindow(filter).toReversed()) {
    const days = 'day' in part ? countDays(db, filter, part) : countWindow(db, filter, part);
    for (const day of days) {
      total += day.count;
      if (last !== undefined) continue;
      if (day.count > toSkip) last = newestUntil(db, filter.accountId, day.endUs, range);
      else toSkip -= day.count;
    }
  }
  if (last === undefined) return { entries: [], total };
  const where = entryWhere(filter, { first: range.first, last });
  return { entries: readPage(db, where, toSkip, perPage), total };
}

function readPage(db: Connection, where: Where, offset: number, perPage: number) {
  const rest = `WHERE ${where.sql} ORDER BY seq DESC LIMIT ? OFFSET ?`;
  return entryTable.all(db, rest, [...where.values, perPage, offset]).map(publicEntry);
}

const newestUntil = (
  db: Connection,
  accountId: AccountId,
  endUs: number,
  range: SeqRange,
): number => Math.min(firstSince(db, accountId, endUs + 1) - 1, range.last);

/** A part of the window: whole days `day`…`lastDay`, or a stretch within one day. */
type WindowPart =
  | { readonly day: number; readonly lastDay: number }
  | { readonly fromUs: number; readonly toUs: number };

const FIRST_DAY = 0;
/** Day number later than any clock value: year 9999. */
const LAST_DAY = 2_932_896;

/** Splits the window into a partial first day, whole days and a partial last day, oldest first. */
function splitWindow(filter: EntryFilter): readonly WindowPart[] {
  const fromUs = Math.max(filter.fromUs ?? dayStartUs(FIRST_DAY), dayStartUs(FIRST_DAY));
  const toUs = Math.min(filter.toUs ?? dayStartUs(LAST_DAY), dayStartUs(LAST_DAY));
  const firstWhole = dayOf(fromUs - 1) + 1;
  const lastWhole = dayOf(toUs + 1) - 1;
  if (fromUs > toUs) return [];
  if (firstWhole > lastWhole) return [{ fromUs, toUs }];
  const parts: WindowPart[] = [];
  if (dayStartUs(firstWhole) > fromUs) parts.push({ fromUs, toUs: dayStartUs(firstWhole) - 1 });
  parts.push({ day: firstWhole, lastDay: lastWhole });
  if (dayStartUs(lastWhole + 1) <= toUs) parts.push({ fromUs: dayStartUs(lastWhole + 1), toUs });
  return parts;
}

type Days = Extract<WindowPart, { day: number }>;
type Stretch = Extract<WindowPart, { fromUs: number }>;

/** Units and millionths are summed separately, because the turnover of years may exceed the exact integers of JavaScript. */
const SUMS = `reference_type, sign, SUM(amount / ${MICROS_PER_UNIT}) AS units, SUM(amount % ${MICROS_PER_UNIT}) AS millionths`;

const amountOf = (row: Row): number =>
  integer(row, 'units') * MICROS_PER_UNIT + integer(row, 'millionths');

const dayWhere = (filter: EntryFilter, part: Days): Where =>
  dimensions(
    new Where()
      .and('account_id = ?', filter.accountId)
      .also('day BETWEEN ? AND ?', [part.day, part.lastDay]),
    filter,
  );

/** Returns the conditions for the stretch, or undefined if it has no entries. */
function stretchWhere(db: Connection, filter: EntryFilter, part: Stretch): Where | undefined {
  const range = seqRange(db, { accountId: filter.accountId, ...part });
  if (range === undefined) return undefined;
  const where = new Where()
    .and('account_id = ?', filter.accountId)
    .also('seq BETWEEN ? AND ?', [range.first, range.last]);
  return dimensions(where, filter);
}

function sumDays(db: Connection, filter: EntryFilter, part: Days): readonly Row[] {
  const where = dayWhere(filter, part);
  return db.all(
    `SELECT ${SUMS}, SUM(count) AS n FROM entry_total WHERE ${where.sql}
      GROUP BY reference_type, sign`,
    where.values,
  );
}

function sumWindow(db: Connection, filter: EntryFilter, part: Stretch): readonly Row[] {
  const where = stretchWhere(db, filter, part);
  return where === undefined ? [] : sumEntries(db, where);
}

const sumEntries = (db: Connection, where: Where): readonly Row[] =>
  db.all(
    `SELECT ${SUMS}, COUNT(*) AS n FROM entry WHERE ${where.sql} GROUP BY reference_type, sign`,
    where.values,
  );

/** Counts entries per day, newest day first. */
function countDays(db: Connection, filter: EntryFilter, part: Days) {
  const where = dayWhere(filter, part);
  const rows = db.all(
    `SELECT day, SUM(count) AS n FROM entry_total WHERE ${where.sql} GROUP BY day ORDER BY day DESC`,
    where.values,
  );
  return rows.map((row) => ({
    count: integer(row, 'n'),
    endUs: dayStartUs(integer(row, 'day') + 1) - 1,
  }));
}

function countWindow(db: Connection, filter: EntryFilter, part: Stretch) {
  const where = stretchWhere(db, filter, part);
  if (where === undefined) return [];
  const row = db.get(`SELECT COUNT(*) AS n FROM entry WHERE ${where.sql}`, where.values);
  return [{ count: integer(row, 'n'), endUs: part.toUs }];
}

interface Sums {
  debit: number;
  credit: number;
  count: number;
  debits: number;
}

/** Above 9 × 10⁹ units, a turnover is rounded to a few millionths. */
const turnover = (sum: number): Micros => sum as Micros;

function toSummary(rows: readonly Row[]): EntrySummary {
  const types = new Map<string, Sums>();
  for (const row of rows) {
    const name = string(row, 'reference_type');
    const sums = types.get(name) ?? { debit: 0, credit: 0, count: 0, debits: 0 };
    const count = integer(row, 'n');
    if (integer(row, 'sign') === 1) sums.credit += amountOf(row);
    else {
      sums.debit += amountOf(row);
      sums.debits += count;
    }
    sums.count += count;
    types.set(name, sums);
  }
  const sums = [...types].filter(([, sum]) => sum.count > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  const total = (pick: (sum: Sums) => number) => sums.reduce((all, [, sum]) => all + pick(sum), 0);
  return {
    totalTransactions: total((sum) => sum.count),
    totalDebit: turnover(total((sum) => sum.debit)),
    totalCredit: turnover(total((sum) => sum.credit)),
    byReferenceType: sums.map(([referenceType, sum]) => ({
      referenceType,
      totalDebit: turnover(sum.debit),
      totalCredit: turnover(sum.credit),
      count: sum.count,
      debits: sum.debits,
    })),
  };
}
