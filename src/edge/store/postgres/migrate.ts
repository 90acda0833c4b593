import { readFileSync } from 'node:fs';
import { ServiceError } from '../../../base/errors.ts';
import { integer, string } from '../connection.ts';
import { FIRST_SHARED, MIGRATIONS, type Migration, migrationsIn, newerSchema } from '../migrate.ts';
import type { PostgresConnection } from './connection.ts';
import { LOCK_SPACE, MIGRATION } from './locks.ts';
import { statementsOf, toPostgres } from './shared-schema.ts';

/** Folder of the migrations before `FIRST_SHARED`. */
const OWN = new URL('../migrations-pg/', import.meta.url);
/** Oldest supported version of PostgreSQL: it has all features in use and ships with Debian 12. */
const OLDEST = 150_000;

/**
 * Lists the migrations of PostgreSQL. They run forward only, each in a separate transaction. Those before `FIRST_SHARED` are
 * numbered separately from the SQLite migrations, and each names its counterpart. The others are shared, except
 * `100-….postgres.sql`.
 */
export const listPostgresMigrations = (): readonly Migration[] => [
  ...migrationsIn(OWN, /^\d{3}-[a-z0-9-]+\.sql$/),
  ...migrationsIn(MIGRATIONS, /^\d{3}-[a-z0-9-]+(\.postgres)?\.sql$/).filter(
    ({ version }) => version >= FIRST_SHARED,
  ),
];

function statementsFor({ version, file }: Migration): readonly string[] {
  if (version < FIRST_SHARED) return statementsOf(readFileSync(new URL(file, OWN), 'utf8'));
  const sql = readFileSync(new URL(file, MIGRATIONS), 'utf8');
  return file.endsWith('.postgres.sql') ? statementsOf(sql) : toPostgres(sql);
}

/** Applies all missing migrations or none, one node at a time. Refuses a database that a newer version of the service has written. */
export function migratePostgres(db: PostgresConnection): void {
  refuseOld(db.serverVersion);
  // Takes the lock first, because `IF NOT EXISTS` fails when two nodes run it concurrently.
  locked(db, () =>
    db.run('CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)'),
  );
  const migrations = listPostgresMigrations();
  const newest = migrations.at(-1)?.version ?? 0;
  if (versionOf(db) < newest)
    locked(db, () => {
      const current = versionOf(db);
      for (const migration of migrations) {
        if (current >= migration.version) continue;
        for (const statement of statementsFor(migration)) db.run(statement);
        db.run('INSERT INTO schema_version (version) VALUES (?)', [migration.version]);
      }
    });
  refuseNewer(db);
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

function refuseNewer(db: PostgresConnection): void {
  const version = versionOf(db);
  const newest = listPostgresMigrations().at(-1)?.version ?? 0;
  if (version <= newest) return;
  const row = db.get('SELECT current_database() AS name, current_user AS owner');
  if (row === undefined) throw new Error('the database has no name');
  const before = `${string(row, 'name')}_before`;
  throw newerSchema(
    version,
    newest,
    `createdb --owner=${string(row, 'owner')} ${before} && pg_restore --dbname=${before} carillon.dump, then name ${before} in store.url`,
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
