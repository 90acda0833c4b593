/** A store as it is after years: copies of one call's record and entry, written by SQL beside a running service. */
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** Rows of one transaction: the service waits for no more of them. */
const TOGETHER = 20_000;
/** Entries are numbered by account, and a running service knows the latest number of its own. */
const OTHER_ACCOUNT = "'MA_OTHER'";

/** In place of the template's value. */
type Differing = Readonly<Record<string, string>>;

const RECORD: Differing = {
  call_uuid: 'lower(hex(randomblob(16)))',
  sip_call_id: 'lower(hex(randomblob(12)))',
  from_number: '14150000000 + abs(random() % 5000000)',
  start_us: 'start_us - 60000000 * n.value',
  end_us: 'end_us - 60000000 * n.value',
};
const ENTRY: Differing = {
  id: 'lower(hex(randomblob(16)))',
  reference: 'lower(hex(randomblob(16)))',
  account_id: OTHER_ACCOUNT,
  seq: 'n.value',
};

export function addOldCalls(dataFolder: string, count: number): void {
  const db = new Database(join(dataFolder, 'carillon.db'), { timeout: 30_000 });
  try {
    for (let done = 0; done < count; done += TOGETHER) {
      const until = Math.min(count, done + TOGETHER);
      db.transaction(() => {
        copy(db, { table: 'cdr', differing: RECORD, without: 'number' }, done, until);
        copy(db, { table: 'entry', differing: ENTRY, without: '' }, done, until);
      })();
    }
    db.pragma('wal_checkpoint(PASSIVE)');
  } finally {
    db.close();
  }
}

function copy(
  db: Database.Database,
  what: { readonly table: string; readonly differing: Differing; readonly without: string },
  from: number,
  until: number,
): void {
  const { table, differing, without } = what;
  const columns = (db.pragma(`table_info(${table})`) as readonly { readonly name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== without);
  const values = columns.map((name) => differing[name] ?? name);
  const template = `(SELECT * FROM ${table} WHERE account_id <> ${OTHER_ACCOUNT} LIMIT 1)`;
  db.prepare(
    `WITH RECURSIVE n(value) AS (SELECT ? UNION ALL SELECT value + 1 FROM n WHERE value < ?)
      INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM n, ${template}`,
  ).run(from + 1, until);
}
