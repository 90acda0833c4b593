import type { Connection } from '../connection.ts';
import type { Synchronously, UnreadableRowStore } from '../repositories.ts';
import { int, Table, text } from '../table.ts';
import { page, Where } from '../where.ts';
import { releaseSpeech } from './calls.ts';
import { releaseHold } from './ledger.ts';

/** Maximum number of records; further unreadable rows appear only in the log. */
const LIMIT = 10_000;

type Recorded = Awaited<ReturnType<UnreadableRowStore['page']>>['items'][number];

const table = new Table<Recorded>('unreadable_row', {
  table: text('table_name'),
  key: text('row_key'),
  reason: text,
  original: text,
  foundUs: int,
});

export const unreadableRowRepository = (db: Connection): Synchronously<UnreadableRowStore> => ({
  put: (rows) => {
    for (const row of rows)
      db.send(
        `INSERT INTO unreadable_row (table_name, row_key, reason, original, found_us)
          SELECT ?, ?, ?, ?, CAST(? AS BIGINT) WHERE (SELECT COUNT(*) FROM unreadable_row) < ${LIMIT}
          ON CONFLICT DO NOTHING`,
        [row.table, row.key, row.reason, row.original, db.nowUs],
      );
  },
  page: (slice) => page(db, table, new Where(), 'found_us DESC, table_name, row_key', slice),
  remove: (name, key) => {
    const isRemoved =
      db.run('DELETE FROM unreadable_row WHERE table_name = ? AND row_key = ?', [name, key]) === 1;
    if (isRemoved && name === 'open_call') {
      // The charge of the call is unknown, so its reservations are released.
      db.send('DELETE FROM open_call WHERE call_uuid = ?', [key]);
      releaseHold(db, key);
      releaseSpeech(db, key);
    }
    return isRemoved;
  },
});
