import { readdirSync, readFileSync } from 'node:fs';
import { ServiceError } from '../../../base/errors.ts';
import { integer } from '../connection.ts';
import type { PostgresConnection } from './connection.ts';
import { LOCK_SPACE, MIGRATION } from './locks.ts';

const FOLDER = new URL('../migrations-pg/', import.meta.url);
/** The first that has all we use; it is what Debian 12 ships. */
const OLDEST = 150_000;

/** `001-initial.sql` …: forward only, each in its own transaction; apart from those of SQLite, which say which they follow. */
export function listPostgresMigrations() {
  return readdirSync(FOLDER)
    .filter((file) => /^\d{3}-[a-z0-9-]+\.sql$/.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 3)), file }));
}

/** Each statement ends with `;` at the end of its line. */
export const statementsOf = (sql: string): readonly string[] =>
  sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

/** Brings the schema up to date, one node after the other; refuses a database that a newer service has written. */
export function migratePostgres(db: PostgresConnection): void {
  refuseOld(db.serverVersion);
  // Not even `IF NOT EXISTS` is safe from another node that does the same.
  locked(db, () =>
    db.run('CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)'),
  );
  for (const { version, file } of listPostgresMigrations())
    locked(db, () => {
      if (versionOf(db) >= version) return;
      const sql = readFileSync(new URL(file, FOLDER), 'utf8');
      for (const statement of statementsOf(sql)) db.run(statement);
      db.run('INSERT INTO schema_version (version) VALUES (?)', [version]);
    });
  refuseNewer(versionOf(db));
}

/** In a transaction of its own, while no other node changes the schema. */
function locked(db: PostgresConnection, act: () => void): void {
  db.begin(false);
  try {
    db.send('SELECT pg_advisory_xact_lock(?, ?)', [LOCK_SPACE, MIGRATION]);
    act();
    db.commit();
  } catch (error) {
    db.rollback();
    throw error;
  }
}

const versionOf = (db: PostgresConnection): number =>
  integer(db.get('SELECT max(version) AS version FROM schema_version'), 'version');

function refuseNewer(version: number): void {
  const newest = listPostgresMigrations().at(-1)?.version ?? 0;
  if (version <= newest) return;
  throw new ServiceError(
    'STORE_VERSION',
    `the database has schema version ${version}, this service knows ${newest}: start a newer service`,
  );
}

function refuseOld(version: number): void {
  if (version >= OLDEST) return;
  const major = Math.floor(version / 10_000);
  throw new ServiceError('STORE_VERSION', `PostgreSQL 15 or later is needed, this is ${major}`);
}
