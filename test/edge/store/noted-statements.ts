/** Records every statement that SQLite connections run, and explains its query plan. */

import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { vi } from 'vitest';
import { listMigrations } from '../../../src/edge/store/migrate.ts';
import { SqliteConnection } from '../../../src/edge/store/sqlite.ts';

const FOLDER = new URL('../../../src/edge/store/migrations/', import.meta.url);

export interface Plan {
  readonly sql: string;
  /** Steps of the query plan; https://www.sqlite.org/eqp.html */
  readonly steps: readonly string[];
}

/** Starts recording. The returned function returns the statements so far. */
export function noteStatements(): () => ReadonlySet<string> {
  const texts = new Set<string>();
  for (const name of ['get', 'all', 'run'] as const) {
    const requested = SqliteConnection.prototype[name] as (...given: unknown[]) => unknown;
    vi.spyOn(SqliteConnection.prototype, name).mockImplementation(function (
      this: SqliteConnection,
      ...given: unknown[]
    ) {
      texts.add(String(given[0]));
      return requested.apply(this, given) as never;
    });
  }
  return () => texts;
}

/** Creates an empty database with the newest schema. */
export function newestSchema(): Database.Database {
  const db = new Database(':memory:');
  for (const { file } of listMigrations()) db.exec(readFileSync(new URL(file, FOLDER), 'utf8'));
  return db;
}

export const plansOf = (db: Database.Database, texts: Iterable<string>): readonly Plan[] =>
  [...texts]
    .filter((sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql))
    .map((sql) => ({ sql, steps: stepsOf(db, sql) }));

function stepsOf(db: Database.Database, sql: string): readonly string[] {
  const explained = db.prepare<unknown[], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
  const places = (sql.match(/\?/g) ?? []).map(() => null);
  const rows = names.length > 0 ? explained.all(Object.fromEntries(names)) : explained.all(places);
  return rows.map(({ detail }) => detail);
}
