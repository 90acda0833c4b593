/** Searches of call records whose duration does not depend on the number of records. */
import { micros } from '../../../base/money.ts';
import type { CdrStore } from '../../../domain/cdr/needs.ts';
import type { CdrFilter, CdrRecord, MosRange } from '../../../domain/cdr/types.ts';
import { type Connection, integer, type Row } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import type { Where } from '../where.ts';

const HOUR_US = 3_600_000_000;
/** Records per step of a search by score, which the database cannot compare. */
const SCORED_BATCH = 2000;

const isWithin = (record: CdrRecord, { from, to }: MosRange): boolean => {
  const mos = record.cdr.quality?.mos;
  return mos !== undefined && mos >= (from ?? 0) && mos <= (to ?? Number.POSITIVE_INFINITY);
};

type Search = Pick<Synchronously<CdrStore>, 'search' | 'hourly' | 'averageMos'>;

/** How records are read and selected. */
interface Reading {
  readonly readRecord: (db: Connection, row: Row) => CdrRecord;
  readonly whereOf: (filter: CdrFilter) => Where;
}

export function searchRepository(
  db: Connection,
  readRecord: Reading['readRecord'],
  whereOf: Reading['whereOf'],
): Search {
  return {
    search: (filter, mos, { before = Number.MAX_SAFE_INTEGER, limit, scan }) => {
      const { low, isPart } = oldestOf(db, filter, before, scan);
      const within = { low, before, limit };
      const items = matching(db, { readRecord, whereOf }, { filter, mos }, within);
      const isFull = items.length >= limit;
      const oldest = db.get('SELECT start_us FROM cdr WHERE number = ?', [low]);
      return {
        items,
        before: isFull ? items.at(-1)?.number : isPart ? low : undefined,
        hasReachedLimit: !isFull && isPart,
        searchedToUs: oldest === undefined ? undefined : integer(oldest, 'start_us'),
      };
    },
    hourly: (filter) => {
      const where = whereOf(filter);
      const rows = db.all(
        `SELECT start_us / ${HOUR_US} AS hour, COUNT(*) AS calls, COUNT(answer_us) AS answered,
            SUM(COALESCE(end_us - answer_us, 0)) AS talk, SUM(cost + streaming_cost) AS cost
          FROM cdr WHERE ${where.sql} GROUP BY hour ORDER BY hour`,
        where.values,
      );
      return rows.map((row) => ({
        startUs: integer(row, 'hour') * HOUR_US,
        calls: integer(row, 'calls'),
        answered: integer(row, 'answered'),
        talkUs: integer(row, 'talk'),
        cost: micros(integer(row, 'cost')),
      }));
    },
    averageMos: (filter, limit) => {
      const where = whereOf(filter).also('quality IS NOT NULL');
      const rows = db.all(`SELECT * FROM cdr WHERE ${where.sql} ORDER BY number DESC LIMIT ?`, [
        ...where.values,
        limit,
      ]);
      const scores = db
        .readable(rows, (row) => readRecord(db, row))
        .flatMap(({ cdr }) => cdr.quality?.mos ?? []);
      const sum = scores.reduce((total, score) => total + score, 0);
      return scores.length === 0 ? undefined : sum / scores.length;
    },
  };
}

/** Returns the oldest record among the next `scan` records of the account, and whether older ones exist. */
function oldestOf(db: Connection, { accountId }: CdrFilter, from: number, scan: number) {
  const found = db.get(
    `SELECT MIN(number) AS low, COUNT(*) AS n FROM
      (SELECT number FROM cdr WHERE account_id = ? AND number < ? ORDER BY number DESC LIMIT ?) AS part`,
    [accountId, from, scan],
  );
  const low = found?.['low'] == null ? 0 : integer(found, 'low');
  return { low, isPart: integer(found, 'n') === scan };
}

/** Returns at most `limit` records numbered from `low` to below `before`, newest first. Reads a score in steps. */
function matching(
  db: Connection,
  { readRecord, whereOf }: Reading,
  { filter, mos }: { readonly filter: CdrFilter; readonly mos: MosRange },
  { low, before, limit }: { readonly low: number; readonly before: number; readonly limit: number },
): CdrRecord[] {
  const hasMos = mos.from !== undefined || mos.to !== undefined;
  const items: CdrRecord[] = [];
  let next = before;
  for (;;) {
    const where = whereOf(filter).and('number < ?', next).and('number >= ?', low);
    const wanted = hasMos ? SCORED_BATCH : limit - items.length;
    const rows = db.all(`SELECT * FROM cdr WHERE ${where.sql} ORDER BY number DESC LIMIT ?`, [
      ...where.values,
      wanted,
    ]);
    for (const record of db.readable(rows, (row) => readRecord(db, row))) {
      if (items.length < limit && (!hasMos || isWithin(record, mos))) items.push(record);
    }
    next = rows.length === 0 ? next : integer(rows.at(-1), 'number');
    if (items.length >= limit || rows.length < wanted) break;
  }
  return items;
}
