import { readdirSync, readFileSync } from 'node:fs';
import { ServiceError } from '../../../base/errors.ts';
import { integer } from '../connection.ts';
import type { PostgresConnection } from './connection.ts';
import { LOCK_SPACE, MIGRATION } from './locks.ts';

const FOLDER = new URL('../migrations-pg/', import.meta.url);
/** Oldest supported version of PostgreSQL: it has all features in use and ships with Debian 12. */
const OLDEST = 150_000;

/**
 * Lists the PostgreSQL migrations (`001-initial.sql` …). They run forward only, each in a separate transaction. They are
 * numbered separately from the SQLite migrations; each names its counterpart.
 */
export function listPostgresMigrations() {
  return readdirSync(FOLDER)
    .filter((file) => /^\d{3}-[a-z0-9-]+\.sql$/.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 3)), file }));
}

/** Splits a file into statements. Each statement ends with `;` at the end of a line. */
export const statementsOf = (sql: string): readonly string[] =>
  sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

/** Applies all missing migrations, one node at a time. Refuses a database that a newer version of the service has written. */
export function migratePostgres(db: PostgresConnection): void {
  refuseOld(db.serverVersion);
  // Takes the lock first, because `IF NOT EXISTS` fails when two nodes run it concurrently.
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

/** Runs `act` in a separate transaction while no other node changes the schema. */
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
    `the database has schema version ${version}, this service supports up to ${newest}: start a newer version`,
  );
}

function refuseOld(version: number): void {
  if (version >= OLDEST) return;
  const major = Math.floor(version / 10_000);
  throw new ServiceError(
    'STORE_VERSION',
    `PostgreSQL 15 or later is required, the server has ${major}`,
  );
}
