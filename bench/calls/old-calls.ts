/** A store as it is after years: copies of one call's record and entry, written by SQL. */
import Database from 'better-sqlite3';
import { newCallUuid } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { loadPageChecksums } from '../../src/edge/store/page-checksums.ts';

/** Rows per transaction: the maximum that a concurrently running service waits for. */
const TOGETHER = 20_000;
/** Without a filled database: SQLite settings that write years of records within minutes, with few writes of random index pages. */
const TOGETHER_ALONE = 1_000_000;
const CACHE_KIB = 6_000_000;
/** Ledger entries are numbered per account, and a running service caches the latest number of each account. */
const OTHER_ACCOUNT = 'MA_OTHER';

export interface OldCalls {
  readonly count: number;
  /** Account of the entries. No running service may have posted to it. */
  readonly accountId?: string;
  /** When the first ended, and the pause to the next, microseconds. Before all that is there already, if absent. */
  readonly fromUs?: number;
  readonly apartUs?: number;
  /** No service has the file open. */
  readonly alone?: boolean;
}

/** Values that replace those of the template. */
type Differing = Readonly<Record<string, string>>;

const AT = '@fromUs + @apartUs * n.value';
const RECORD: Differing = {
  call_uuid: `call_uuid(${AT})`,
  sip_call_id: 'lower(hex(randomblob(12)))',
  from_number: '14150000000 + abs(random() % 5000000)',
  start_us: AT,
  end_us: AT,
  answer_us: AT,
  created_us: AT,
};
const ENTRY: Differing = {
  id: `call_uuid(${AT})`,
  reference: `'cdr:' || call_uuid(${AT})`,
  account_id: '@accountId',
  seq: '@seq + n.value',
  idempotency_key: 'NULL',
  created_us: AT,
  processed_us: AT,
  updated_us: AT,
};

export function addOldCalls(file: string, { count, ...given }: OldCalls): void {
  loadPageChecksums();
  const db = new Database(file, { timeout: 30_000 });
  try {
    if (given.alone === true) {
      db.pragma(`cache_size = -${CACHE_KIB}`);
      // Straight into the file, which is not needed again should this fail.
      db.pragma('journal_mode = DELETE');
      db.pragma('journal_mode = OFF');
      db.pragma('synchronous = OFF');
    }
    const together = given.alone === true ? TOGETHER_ALONE : TOGETHER;
    db.function('call_uuid', (us) => newCallUuid(systemRandom, Number(us) / 1000));
    const { accountId = OTHER_ACCOUNT, apartUs = 60_000_000 } = given;
    const { fromUs = oldestUs(db) - apartUs * (count + 1) } = given;
    const head = db.prepare<[string], number>('SELECT max(seq) FROM entry WHERE account_id = ?');
    const seq = head.pluck().get(accountId) ?? 0;
    for (let from = 0; from < count; from += together) {
      const until = Math.min(count, from + together);
      const range = { from: from + 1, until, fromUs, apartUs };
      db.transaction(() => {
        copy(db, 'cdr', RECORD, range);
        copy(db, 'entry', ENTRY, { ...range, accountId, seq });
      })();
      if (given.alone !== true) db.pragma('wal_checkpoint(PASSIVE)');
    }
    db.prepare('UPDATE ledger_head SET seq = seq + ?, created_us = ? WHERE account_id = ?').run(
      count,
      fromUs + apartUs * count,
      accountId,
    );
  } finally {
    db.close();
  }
}

const oldestUs = (db: Database.Database): number =>
  db.prepare<[], number>('SELECT min(start_us) FROM cdr').pluck().get() ?? 0;

function copy(
  db: Database.Database,
  table: 'cdr' | 'entry',
  differing: Differing,
  values: Readonly<Record<string, number | string>>,
): void {
  const columns = (db.pragma(`table_info(${table})`) as readonly { readonly name: string }[])
    .map(({ name }) => name)
    .filter((name) => name !== 'number');
  const selected = columns.map((name) => differing[name] ?? name);
  const from = table === 'cdr' ? 'cdr LIMIT 1' : "entry WHERE type = 'debit' LIMIT 1";
  db.prepare(
    `WITH RECURSIVE n(value) AS (SELECT @from UNION ALL SELECT value + 1 FROM n WHERE value < @until)
      INSERT INTO ${table} (${columns.join(', ')}) SELECT ${selected.join(', ')} FROM n, (SELECT * FROM ${from})`,
  ).run(values);
}
