/** Damages one value of every kind of stored JSON and of every kind of sealed value in a data folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { STORED_KINDS } from '../../src/edge/store/stored-kinds.ts';
import type { RecordedFolder } from './recorded.ts';

/** Sealed values that are not JSON. */
const SEALED = [
  'account_token.sealed',
  'trunk_credential_secret.sealed',
  'console_user.totp_secret',
  'idempotency_key.response',
  'setting:store.keyProof',
] as const;

/** Places of all values, as `STORED_KINDS` names them. */
const PLACES: readonly string[] = [
  ...STORED_KINDS.flatMap(({ places }) => places),
  ...SEALED,
].filter((place) => place !== 'spool');

/** Column whose value names a row in its report. */
const KEYS: Readonly<Record<string, string>> = {
  open_call: 'call_uuid',
  cdr: 'call_uuid',
  call_timeline: 'number',
  recording: 'recording_id',
  transcription: 'transcription_id',
  export_job: 'export_id',
  account: 'auth_id',
  account_token: 'id',
  binding: 'username',
  carrier: 'name',
  trunk: 'trunk_id',
  endpoint_secret: 'endpoint_id',
  idempotency_key: 'key',
};
const keyOf = (table: string): string => KEYS[table] ?? 'id';

export interface Damaged {
  readonly place: string;
  readonly table: string;
  readonly key: string;
  /** Value by which the service finds the row, if it is not the key. */
  readonly by: string;
}

/** A token is read after its account, so the two are not damaged together. */
const groupOf = (place: string): string =>
  place.startsWith('account') ? 'account' : (place.split(/[.:]/)[0] ?? '');

/** Places in groups with one place per table. */
export const ROUNDS: readonly (readonly string[])[] = (() => {
  const tables = Map.groupBy(PLACES, groupOf);
  const most = Math.max(
    ...[...tables].map(([table, { length }]) => (table === 'setting' ? 1 : length)),
  );
  return Array.from({ length: most }, (_, round) =>
    [...tables].flatMap(([table, places]) => {
      if (table === 'setting') return round === 0 ? places : [];
      return places[round] ?? [];
    }),
  );
})();

const BY: Readonly<Record<string, string>> = {
  call_timeline: 'SELECT call_uuid FROM cdr WHERE number = ?',
  endpoint_secret: 'SELECT username FROM endpoint WHERE endpoint_id = ?',
  account_token: 'SELECT auth_id FROM account_token WHERE id = ?',
};

type Db = Database.Database;

/**
 * Damages one value of each place, each in a separate row if the table has enough rows. Tables without a row get one. The
 * first account and its token stay readable. The schema must be the current one.
 */
export function damage({ file, account }: RecordedFolder, places = PLACES): readonly Damaged[] {
  const db = new Database(file);
  db.pragma('foreign_keys = OFF');
  const damaged: Damaged[] = [];
  for (const place of places) {
    const [, setting] = /^setting:(.*)$/.exec(place) ?? [];
    if (setting !== undefined) {
      const key = setting.endsWith('.') ? `${setting}${account.authId}` : setting;
      const put = 'INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)';
      db.prepare(put).run(key, 'damaged');
      damaged.push({ place, table: 'setting', key, by: key });
      continue;
    }
    const [table = '', column = ''] = place.split('.');
    const own = table === 'account_token' ? tokenOf(db, account.authId) : account.authId;
    const taken = [own, ...damaged.filter((one) => one.table === table).map(({ key }) => key)];
    const key = rowOf(db, table, taken) ?? insert(db, table, account.authId);
    const isBlob = typeOf(db, table, column) === 'BLOB';
    db.prepare(`UPDATE ${table} SET ${column} = ? WHERE CAST(${keyOf(table)} AS TEXT) = ?`).run(
      isBlob ? Buffer.from('damaged') : '{"',
      key,
    );
    const by = BY[table] === undefined ? key : String(db.prepare(BY[table]).pluck().get(key));
    damaged.push({ place, table, key, by });
  }
  db.close();
  return damaged;
}

/** Writes a line to the spool that cannot be read. */
export function damageSpool(dataDir: string): void {
  mkdirSync(join(dataDir, 'spool'), { recursive: true });
  writeFileSync(join(dataDir, 'spool', 'units'), 'damaged\n');
}

interface ColumnInfo {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly pk: number;
}

const columnsOf = (db: Db, table: string): readonly ColumnInfo[] =>
  db.pragma(`table_info(${table})`) as ColumnInfo[];

const typeOf = (db: Db, table: string, column: string): string | undefined =>
  columnsOf(db, table).find(({ name }) => name === column)?.type;

const tokenOf = (db: Db, authId: string): string =>
  String(db.prepare('SELECT id FROM account_token WHERE auth_id = ?').pluck().get(authId));

/** Returns the key of the last row that is not `taken`; otherwise of the row that was taken last, but never the first. */
function rowOf(db: Db, table: string, [own, ...taken]: readonly string[]): string | undefined {
  const keys = db
    .prepare(`SELECT CAST(${keyOf(table)} AS TEXT) FROM ${table}`)
    .pluck()
    .all();
  const free = keys.map(String).filter((key) => key !== own && !taken.includes(key));
  return free.at(-1) ?? taken.at(-1);
}

/** Values of columns that lists and checks need in inserted rows. */
const VALUES: Readonly<Record<string, unknown>> = {
  'export_job.status': 'done',
  'transcription.status': 'done',
  'console_user.role': 'owner',
  'idempotency_key.created_us': Date.now() * 1000,
  'transcription.recording_id': 'damaged',
};

const foreignKeys = (db: Db, table: string) =>
  db.pragma(`foreign_key_list(${table})`) as { readonly table: string; readonly from: string }[];

/** Inserts a row of the account with default values, and the rows that it refers to. Returns its key. */
function insert(db: Db, table: string, authId: string): string {
  const needed = columnsOf(db, table).filter(
    ({ name, notnull, pk, dflt_value, type }) =>
      name === keyOf(table) ||
      (notnull === 1 && dflt_value === null && !(pk === 1 && type === 'INTEGER')),
  );
  const defaultOf = ({ name, type }: ColumnInfo): unknown => {
    if (name === 'account_id' || name === 'owner') return authId;
    if (`${table}.${name}` in VALUES) return VALUES[`${table}.${name}`];
    if (type === 'BLOB') return Buffer.from('damaged');
    return type === 'TEXT' ? 'damaged' : 1;
  };
  const names = needed.map(({ name }) => name).join(', ');
  const marks = needed.map(() => '?').join(', ');
  for (const { table: other, from } of foreignKeys(db, table))
    if (needed.some(({ name }) => name === from) && from !== 'account_id')
      insert(db, other, authId);
  const { lastInsertRowid } = db
    .prepare(`INSERT INTO ${table} (${names}) VALUES (${marks})`)
    .run(needed.map(defaultOf));
  return keyOf(table) === 'id' && typeOf(db, table, 'id') === 'INTEGER'
    ? String(lastInsertRowid)
    : 'damaged';
}
