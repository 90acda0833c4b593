/** Compares the PostgreSQL schema with the SQLite schema: each migration needs a counterpart. */
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { listMigrations } from '../../../../src/edge/store/migrate.ts';
import {
  listPostgresMigrations,
  migratePostgres,
  statementsOf,
} from '../../../../src/edge/store/postgres/migrate.ts';
import { translate, valuesOf } from '../../../../src/edge/store/postgres/translate.ts';
import { postgresMissing, sharedCluster } from '../../../postgres.ts';

const STORE = new URL('../../../../src/edge/store/', import.meta.url);
const read = (folder: string, file: string): string =>
  readFileSync(new URL(`${folder}/${file}`, STORE), 'utf8');

const TYPES: Readonly<Record<string, string>> = {
  INTEGER: 'bigint',
  TEXT: 'text',
  REAL: 'double precision',
  BLOB: 'bytea',
};

/** Returns `table.column type` of all columns, sorted. */
function columnsOfSqlite(): readonly string[] {
  const db = new Database(':memory:');
  for (const { file } of listMigrations()) db.exec(read('migrations', file));
  const tables = db.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  );
  const columns = (tables.pluck().all() as string[]).flatMap((table) =>
    (db.pragma(`table_info(${table})`) as { name: string; type: string }[]).map(
      ({ name, type }) => `${table}.${name} ${TYPES[type]}`,
    ),
  );
  db.close();
  return columns.sort();
}

describe('the schema of PostgreSQL', () => {
  it('follows the newest SQLite migration, which its own names in a line `-- sqlite: NNN`', () => {
    const texts = listPostgresMigrations().map(({ file }) => read('migrations-pg', file));
    const followed = texts.flatMap((text) =>
      [...text.matchAll(/^-- sqlite: (\d{3})$/gm)].map(([, number]) => Number(number)),
    );
    expect(followed.at(-1)).toBe(listMigrations().at(-1)?.version);
    const versions = listPostgresMigrations().map(({ version }) => version);
    expect(new Set(versions).size).toBe(versions.length);
  });

  it.skipIf(postgresMissing !== undefined)(
    `has the same tables and columns as SQLite's ${postgresMissing ?? ''}`,
    async () => {
      const cluster = await sharedCluster();
      cluster.database('schema');
      const db = cluster.connect('schema');
      migratePostgres(db);
      migratePostgres(db);
      const rows = db.all(
        `SELECT table_name, column_name, data_type FROM information_schema.columns
          WHERE table_schema = 'public' AND table_name <> 'schema_version'`,
      );
      const columns = rows.map(
        (row) => `${row['table_name']}.${row['column_name']} ${row['data_type']}`,
      );
      expect(columns.sort()).toEqual(columnsOfSqlite());
      const strange = db.all(
        `SELECT table_name FROM information_schema.columns
          WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
      );
      expect(strange).toEqual([]);
      db.run('INSERT INTO schema_version (version) VALUES (999)');
      expect(() => migratePostgres(db)).toThrow('start a newer version');
      db.close();
    },
  );

  it('is split into statements', () => {
    const sql = "-- a; b\nCREATE TABLE a (x TEXT);\nINSERT INTO a\n  VALUES ('1; 2');\n";
    expect(statementsOf(sql)).toEqual([
      'CREATE TABLE a (x TEXT)',
      "INSERT INTO a\n  VALUES ('1; 2')",
    ]);
  });
});

describe('parameters', () => {
  it('are numbered in order, by name once, and not inside quotes', () => {
    expect(translate("a = ? AND b LIKE '?@x' ESCAPE '\\' AND c = ?").sql).toBe(
      "a = $1 AND b LIKE '?@x' ESCAPE '\\' AND c = $2",
    );
    const named = translate('SET a = @to WHERE b = @of OR c = @to');
    expect(named.sql).toBe('SET a = $1 WHERE b = $2 OR c = $1');
    expect(valuesOf(named, { of: 2, to: 'x\0y' })).toEqual(['x\u{fffd}y', 2]);
  });
});
