import { readdirSync, readFileSync } from 'node:fs';
import { ServiceError } from '../../base/errors.ts';
import type { SqliteConnection } from './sqlite.ts';

/** Folder of the SQLite migrations, and of those of both databases. */
export const MIGRATIONS = new URL('./migrations/', import.meta.url);
/** Migrations from this number on are for both databases; PostgreSQL translates them (`postgres/shared-schema.ts`). */
export const FIRST_SHARED = 100;

export interface Migration {
  readonly version: number;
  readonly file: string;
}

/**
 * Lists the migrations of SQLite (`001-initial.sql`, `002-….sql`). They run forward only, each in a separate transaction.
 * Numbers may have gaps. `100-….sqlite.sql` is not for PostgreSQL.
 */
export const listMigrations = (): readonly Migration[] =>
  migrationsIn(MIGRATIONS, /^\d{3}-[a-z0-9-]+(\.sqlite)?\.sql$/);

/** Lists the migrations whose file name matches, in order. */
export const migrationsIn = (folder: URL, name: RegExp): readonly Migration[] =>
  readdirSync(folder)
    .filter((file) => name.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 3)), file }));

/**
 * Applies all missing migrations and returns the schema version. Refuses a database that a newer version of the service has
 * written.
 */
export function migrate(db: SqliteConnection): number {
  const migrations = listMigrations();
  const newest = migrations.at(-1)?.version ?? 0;
  const current = Number(db.raw.pragma('user_version', { simple: true }));
  if (current > newest) {
    throw new ServiceError(
      'STORE_VERSION',
      `the database has schema version ${current}, this service supports up to ${newest}: start a newer version`,
    );
  }
  for (const migration of migrations) {
    if (migration.version <= current) continue;
    const sql = readFileSync(new URL(migration.file, MIGRATIONS), 'utf8');
    db.raw.transaction(() => {
      db.raw.exec(sql);
      db.raw.pragma(`user_version = ${migration.version}`);
    })();
  }
  return newest;
}
