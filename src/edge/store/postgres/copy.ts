/** Copies the SQLite database of a data folder to PostgreSQL. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ServiceError } from '../../../base/errors.ts';
import type { Random } from '../../../base/ids.ts';
import { integer, type Row, type SqlValue } from '../connection.ts';
import { toError, toFailure } from '../failure.ts';
import { FolderLock } from '../folder-lock.ts';
import { proveKey } from '../key-proof.ts';
import { examineLog } from '../log-examination.ts';
import { CHECKSUM_MARK, ERASURE_MARK, OPEN_MARK } from '../marks.ts';
import { listMigrations } from '../migrate.ts';
import { loadPageChecksums } from '../page-checksums.ts';
import { verifyLedger } from '../sql/ledger.ts';
import { Vault } from '../vault.ts';
import { PostgresConnection } from './connection.ts';
import { migratePostgres } from './migrate.ts';

export interface CopyRequest {
  readonly dataDir: string;
  readonly url: string;
  readonly random: Random;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** Statement timeout, milliseconds. Long, because one statement may cover millions of rows. */
const TIMEOUT_MS = 3_600_000;
/** Modulus of checksums: keeps sums within the integer range of both databases for any number of rows. */
const MODULUS = 1_000_003;
/** Tables that already have rows in a new schema. */
const SEEDED: ReadonlySet<string> = new Set(['counter']);

/**
 * Copies the whole database of a data folder into an empty PostgreSQL database, in one transaction. Before the commit it
 * compares counts and sums of each table and the ledger of each balance. Changes nothing in the folder. Throws STORE_BUSY
 * while a service uses the folder, CONFLICT if the target is not empty or the copy differs, NOT_FOUND without a database or
 * key file, STORE_VERSION if the folder has another version, STORE_CORRUPT for another key file.
 */
export function copyToPostgres({ dataDir, url, random }: CopyRequest): readonly CopiedTable[] {
  const file = join(dataDir, 'carillon.db');
  const keyFile = join(dataDir, 'keys', 'store.key');
  for (const path of [file, keyFile])
    if (!existsSync(path)) throw new ServiceError('NOT_FOUND', `${path} does not exist`);
  const lock = new FolderLock(`${file}.lock`);
  const from = openUnchanged(file, lock);
  const vault = new Vault(readFileSync(keyFile));
  const to = new PostgresConnection({
    url,
    readonly: false,
    timeoutMs: TIMEOUT_MS,
    vault,
    random,
  });
  try {
    refuseOtherVersions(from);
    migratePostgres(to);
    return copyAll(from, to);
  } catch (error) {
    to.rollback();
    throw error instanceof ServiceError ? error : toError(toFailure(error));
  } finally {
    to.close();
    from.close();
    lock.release();
  }
}

/**
 * Opens the database with the checksums of its pages, so that damage is not copied, and read-only: otherwise SQLite would write
 * the log of a killed service to it. Throws STORE_CORRUPT if SQLite would drop transactions of the log.
 */
function openUnchanged(file: string, lock: FolderLock): Database.Database {
  if (examineLog(file, 'full') !== undefined) {
    lock.release();
    throw new ServiceError(
      'STORE_CORRUPT',
      'the log of the database is damaged: start and stop the service on this folder first',
    );
  }
  loadPageChecksums();
  return new Database(file, { readonly: true });
}

function refuseOtherVersions(from: Database.Database): void {
  const version = Number(from.pragma('user_version', { simple: true }));
  const newest = listMigrations().at(-1)?.version;
  if (version === newest) return;
  throw new ServiceError(
    'STORE_VERSION',
    `the data folder has schema version ${version}, this program requires ${newest}: start and stop this version on it first`,
  );
}

function copyAll(from: Database.Database, to: PostgresConnection): readonly CopiedTable[] {
  const tables = inOrderOfReferences(from);
  to.begin(false);
  for (const table of tables) refuseRows(to, table);
  const copied = tables.map((table) => ({ table, rows: copyTable(from, to, table) }));
  // A damaged proof is copied like other damaged values. The service that opens the copy reports it.
  proveKey(to, 'keep');
  const differences = tables.flatMap((table) => compare(from, to, table));
  const faults = verifyLedger(to).map(
    ({ accountId, currency }) => `the ${currency} balance of ${accountId} does not add up`,
  );
  const wrong = [...differences, ...faults];
  if (wrong.length > 0)
    throw new ServiceError('CONFLICT', `nothing was copied: ${wrong.join('; ')}`);
  to.commit();
  to.run('ANALYZE');
  return copied;
}

function refuseRows(to: PostgresConnection, table: string): void {
  if (SEEDED.has(table)) to.run(`DELETE FROM ${table}`);
  else if (to.get(`SELECT 1 AS found FROM ${table} LIMIT 1`) !== undefined)
    throw new ServiceError(
      'CONFLICT',
      `the database is not empty (${table}): use a new one that no service has used`,
    );
}

interface ColumnInfo {
  readonly name: string;
  readonly type: string;
}

const columnsOf = (from: Database.Database, table: string): readonly ColumnInfo[] =>
  from.pragma(`table_info(${table})`) as ColumnInfo[];

/** Returns the tables in dependency order: referenced tables first. */
function inOrderOfReferences(from: Database.Database): readonly string[] {
  const names = from
    .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck()
    .all() as string[];
  const ordered: string[] = [];
  const place = (name: string): void => {
    if (ordered.includes(name)) return;
    const references = from.pragma(`foreign_key_list(${name})`) as { readonly table: string }[];
    for (const { table } of references) if (table !== name) place(table);
    ordered.push(name);
  };
  for (const name of names) place(name);
  return ordered;
}

/** Rows that are not copied: the mark that a process has the file open does not apply to the copy. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  setting: `WHERE key NOT IN ('${OPEN_MARK}', '${CHECKSUM_MARK}', '${ERASURE_MARK}')`,
};
/** Sort order of tables that refer to themselves: referenced rows come first. */
const ORDERED: Readonly<Record<string, string>> = {
  account: 'ORDER BY parent_auth_id IS NOT NULL',
};

function copyTable(from: Database.Database, to: PostgresConnection, table: string): number {
  const names = columnsOf(from, table).map(({ name }) => name);
  const places = names.map(() => '?').join(', ');
  const insert = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`;
  const rows = from.prepare(
    `SELECT * FROM ${table} ${LEFT_OUT[table] ?? ''} ${ORDERED[table] ?? ''}`,
  );
  let count = 0;
  for (const row of rows.iterate() as IterableIterator<Row>) {
    to.send(
      insert,
      names.map((name) => row[name] as SqlValue),
    );
    count += 1;
  }
  continueNumbers(to, table);
  return count;
}

/** Sets the sequence of the table so that new rows get numbers after the copied ones. */
function continueNumbers(to: PostgresConnection, table: string): void {
  const identity = to.get(
    `SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = ? AND is_identity = 'YES'`,
    [table],
  );
  if (identity === undefined) return;
  const column = String(identity['name']);
  to.run(
    `SELECT setval(pg_get_serial_sequence(?, ?), (SELECT COALESCE(max(${column}), 0) + 1 FROM ${table}), false)`,
    [table, column],
  );
}

/** Returns a description of the difference between both copies of the table, if any. */
function compare(from: Database.Database, to: PostgresConnection, table: string) {
  const sums = columnsOf(from, table).map(({ name, type }) => {
    const number = type === 'INTEGER' ? `${name} % ${MODULUS}` : `length(${name})`;
    const rounded = type === 'REAL' ? `CAST(round(${name} * 1000) AS BIGINT)` : number;
    return `SUM(COALESCE(${rounded}, 0)) AS ${name}`;
  });
  const select = `SELECT COUNT(*) AS all_rows, ${sums.join(', ')} FROM ${table} ${LEFT_OUT[table] ?? ''}`;
  const here = from.prepare(select).get() as Row;
  const there = to.get(select);
  return Object.keys(here)
    .filter((column) => integer(here, column) !== integer(there, column))
    .map(
      (column) => `${table}.${column} is ${there?.[column]} in the copy instead of ${here[column]}`,
    );
}
