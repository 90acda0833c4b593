/** A database of any earlier schema becomes what a new one is, with the accounts, tokens and money that were in it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Engine } from '../../../src/edge/store/engine.ts';
import { listMigrations } from '../../../src/edge/store/migrate.ts';
import { ephemeralKey } from '../../../src/edge/store/vault.ts';
import { seededRandom } from './open.ts';
import { anAccount, anEntry, START_US } from './records.ts';

const FOLDER = join(import.meta.dirname, '../../../src/edge/store/migrations');
const NEWEST = listMigrations().length;
const ACCOUNT = anAccount().authId;
const FILLED = [
  'setting',
  'account',
  'account_token',
  'balance',
  'entry',
  'entry_total',
  'ledger_head',
];
type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const unit = (repository: string, operation: string, ...given: readonly unknown[]) => ({
  repository,
  operation,
  given,
  nowUs: START_US,
});
const key = ephemeralKey();
const engineAt = (file: string): Engine =>
  new Engine({
    file,
    role: 'writer',
    synchronous: 'normal',
    checkpoints: 'here',
    key,
    random: seededRandom(),
  });

let folder: string;
let rows: Rows;
let schema: unknown;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-migrate-'));
  const file = join(folder, 'new.db');
  const engine = engineAt(file);
  const filled = engine.run([
    unit('accounts', 'create', anAccount(), 'a-token'),
    unit('ledger', 'post', [anEntry()], { checked: false }),
  ]);
  expect(filled.map(({ ok }) => ok)).toEqual([true, true]);
  engine.close();
  schema = schemaOf(file);
  const db = new Database(file, { readonly: true });
  rows = Object.fromEntries(
    FILLED.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all() as Rows[string]]),
  );
  db.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Names and definitions of everything in a database. */
function schemaOf(file: string): unknown {
  const db = new Database(file, { readonly: true });
  const named = db
    .prepare(
      "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all() as { readonly type: string; readonly name: string; readonly sql: string | null }[];
  const schema = {
    version: db.pragma('user_version', { simple: true }),
    tables: named
      .filter(({ type }) => type === 'table')
      .map(({ name }) => [name, db.pragma(`table_info(${name})`)]),
    others: named.filter(({ type }) => type !== 'table'),
  };
  db.close();
  return schema;
}

/** As a service of that time had left it. */
function makeOld(file: string, version: number): void {
  const db = new Database(file);
  for (const migration of listMigrations().slice(0, version))
    db.exec(readFileSync(join(FOLDER, migration.file), 'utf8'));
  db.pragma(`user_version = ${version}`);
  db.pragma('foreign_keys = OFF');
  for (const [table, records] of Object.entries(rows)) {
    const columns = db.pragma(`table_info(${table})`) as { readonly name: string }[];
    for (const record of records) {
      const names = columns.map(({ name }) => name).filter((name) => Object.hasOwn(record, name));
      const places = names.map(() => '?').join(', ');
      db.prepare(`INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(
        names.map((name) => record[name]),
      );
    }
  }
  db.close();
}

it.each(Array.from({ length: NEWEST - 1 }, (_, at) => at + 1))(
  'schema %i becomes the newest one, and keeps accounts, tokens and money',
  (version) => {
    const file = join(folder, `${version}.db`);
    makeOld(file, version);
    const engine = engineAt(file);
    const [tokens, balance, faults] = engine.run([
      unit('signingTokens', 'tokensOf', ACCOUNT),
      unit('ledger', 'balance', ACCOUNT, 'USD'),
      unit('ledger', 'verify'),
    ]);
    engine.close();
    expect(tokens).toMatchObject({ ok: true, value: { own: 'a-token' } });
    expect(balance).toMatchObject({ ok: true, value: { balance: anEntry().amount } });
    expect(faults).toMatchObject({ ok: true, value: [] });
    expect(schemaOf(file)).toEqual(schema);
  },
);
