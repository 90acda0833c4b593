import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
 * Lists the migrations of SQLite (`001-initial.sql`, `002-….sql`). They run forward only.
 * Numbers may have gaps. `100-….sqlite.sql` is not for PostgreSQL.
 */
export const listMigrations = (folder = MIGRATIONS): readonly Migration[] =>
  migrationsIn(folder, /^\d{3}-[a-z0-9-]+(\.sqlite)?\.sql$/);

/** Lists the migrations whose file name matches, in order. */
export const migrationsIn = (folder: URL, name: RegExp): readonly Migration[] =>
  readdirSync(folder)
    .filter((file) => name.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 3)), file }));

/** `command`: restores the state before the upgrade. */
export const newerSchema = (current: number, newest: number, command: string): ServiceError =>
  new ServiceError(
    'STORE_VERSION',
    `the database has schema version ${current}, this service supports up to ${newest}: ` +
      `start the newer version again, or go back to the state before the upgrade with: ${command}`,
  );

/** Names the latest backup in the data folder that this version can read. */
function restoreArguments(file: string, newest: number): string {
  const folder = dirname(file);
  const backups = join(folder, 'backups');
  const fitting = (existsSync(backups) ? readdirSync(backups) : [])
    .filter((name) => name.endsWith('.db') && schemaOfBackup(join(backups, name)) <= newest)
    .map((name) => ({ name, madeMs: statSync(join(backups, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs);
  const backup = join(backups, fitting[0]?.name ?? 'NAME.db');
  return `--data-dir ${folder} restore --replace ${backup}`;
}

/** Returns the schema version in the manifest of a backup, or infinity without a readable manifest. */
function schemaOfBackup(backup: string): number {
  try {
    const { schema_version: version } = JSON.parse(readFileSync(`${backup}.json`, 'utf8'));
    return Number(version);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Applies all missing migrations and returns the schema version. If one fails, none is applied, so that the earlier version of
 * the service still starts. Refuses a database that a newer version of the service has written.
 */
export function migrate(db: SqliteConnection, folder = MIGRATIONS): number {
  const migrations = listMigrations(folder);
  const newest = migrations.at(-1)?.version ?? 0;
  const current = Number(db.raw.pragma('user_version', { simple: true }));
  if (current > newest) {
    throw newerSchema(current, newest, `carillon ${restoreArguments(db.raw.name, newest)}`);
  }
  const missing = migrations.filter(({ version }) => version > current);
  if (missing.length === 0) return newest;
  db.raw.transaction(() => {
    for (const { file } of missing) db.raw.exec(readFileSync(new URL(file, folder), 'utf8'));
    db.raw.pragma(`user_version = ${newest}`);
  })();
  return newest;
}
