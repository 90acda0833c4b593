import { readdirSync, readFileSync } from 'node:fs';
import { ServiceError } from '../../base/errors.ts';
import type { SqliteConnection } from './sqlite.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

interface Migration {
  readonly version: number;
  readonly file: string;
}

/**
 * Lists the migrations (`001-initial.sql`, `002-….sql`). They run forward only, each in a separate transaction. Numbers may
 * have gaps.
 */
export function listMigrations(): readonly Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => /^\d{3}-[a-z0-9-]+\.sql$/.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 3)), file }));
}

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
    const sql = readFileSync(new URL(migration.file, FOLDER), 'utf8');
    db.raw.transaction(() => {
      db.raw.exec(sql);
      db.raw.pragma(`user_version = ${migration.version}`);
    })();
  }
  return newest;
}
