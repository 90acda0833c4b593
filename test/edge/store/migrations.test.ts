/** Tests that every earlier schema migrates to the newest one with all its rows. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asAppId, asCampaignId } from '../../../src/base/ids.ts';
import { CHECKSUM_MARK } from '../../../src/edge/store/marks.ts';
import { listMigrations, migrate } from '../../../src/edge/store/migrate.ts';
import type { Store } from '../../../src/edge/store/store.ts';
import { someOf } from '../../thorough.ts';
import { CALLS, fill, RECORDING } from './filled.ts';
import { openAt } from './open.ts';

const FOLDER = join(import.meta.dirname, '../../../src/edge/store/migrations');
const VERSIONS = listMigrations().map(({ version }) => version);
/** Required rows in each table of the first schema, and in later tables. */
const MUST_HAVE = [
  ...['account', 'account_token', 'balance', 'entry', 'entry_total', 'ledger_head', 'application'],
  ...['endpoint', 'endpoint_secret', 'phone_number', 'carrier', 'caller_id', 'open_call'],
  ...['reservation', 'cdr', 'call_timeline', 'notification', 'recording', 'export_job', 'campaign'],
  ...['campaign_agent', 'campaign_list', 'campaign_contact', 'campaign_bad_row', 'do_not_call'],
];
type Row = Readonly<Record<string, unknown>>;
type Rows = Readonly<Record<string, readonly Row[]>>;

const folder = mkdtempSync(join(tmpdir(), 'carillon-migrate-'));
const newest = join(folder, 'newest');
const databaseIn = (place: string): string => join(place, 'carillon.db');
let filled: Awaited<ReturnType<typeof fill>>;
let rows: Rows;
let schema: unknown;
beforeAll(async () => {
  filled = await fill(newest);
  schema = schemaOf(databaseIn(newest));
  rows = rowsOf(databaseIn(newest));
  expect(MUST_HAVE.filter((table) => (rows[table] ?? []).length === 0)).toEqual([]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns names and definitions of all objects in a database. */
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

const tablesOf = (db: Database.Database): readonly string[] =>
  db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
const columnsOf = (db: Database.Database, table: string): readonly string[] =>
  (db.pragma(`table_info(${table})`) as { readonly name: string }[]).map(({ name }) => name);

function rowsOf(file: string): Rows {
  const db = new Database(file, { readonly: true });
  const all = tablesOf(db).map((table) => [
    table,
    db.prepare(`SELECT * FROM "${table}"`).all() as Row[],
  ]);
  db.close();
  return Object.fromEntries(all);
}

/** Returns the rows in the form of an earlier schema. Only tables that differ by more than a column need code here. */
function asBefore(version: number): Rows {
  const campaign = rows['campaign']?.map(({ calls_per_second: cps, ...rest }) => ({
    ...rest,
    ...(version < 16 ? { cps } : { calls_per_second: cps }),
  }));
  return {
    ...rows,
    ...(campaign && { campaign }),
    ...(version < 11 ? { call_timeline: [], call_log: logLines() } : {}),
  };
}

/** Before migration 011, a timeline had one row per line. */
function logLines(): readonly Row[] {
  const calls = new Map(rows['cdr']?.map((cdr) => [cdr['number'], cdr]));
  return (rows['call_timeline'] ?? []).flatMap(({ number, lines }) => {
    const cdr = calls.get(number);
    return (JSON.parse(String(lines)) as Row[]).map((line) => ({
      call_uuid: cdr?.['call_uuid'],
      account_id: cdr?.['account_id'],
      at_us: line['atUs'],
      kind: line['kind'],
      text: line['text'],
      detail: JSON.stringify(line['facts']),
    }));
  });
}

/** Creates a database of an earlier schema. Returns the inserted rows by table. */
function makeOld(file: string, version: number): Rows {
  rmSync(file);
  const db = new Database(file);
  for (const migration of listMigrations().filter((one) => one.version <= version))
    db.exec(readFileSync(join(FOLDER, migration.file), 'utf8'));
  db.pragma(`user_version = ${version}`);
  db.pragma('foreign_keys = OFF');
  const put: Record<string, Row[]> = {};
  for (const [table, records] of Object.entries(asBefore(version))) {
    const columns = columnsOf(db, table);
    if (columns.length === 0) continue;
    for (const record of records) {
      if (record['key'] === CHECKSUM_MARK) continue; // databases of earlier versions have no checksums
      const names = columns.filter((name) => Object.hasOwn(record, name));
      const row = Object.fromEntries(names.map((name) => [name, record[name]]));
      const places = names.map(() => '?').join(', ');
      db.prepare(`INSERT OR REPLACE INTO "${table}" (${names.join(', ')}) VALUES (${places})`).run(
        Object.values(row),
      );
      put[table] = [...(put[table] ?? []), row];
    }
  }
  db.close();
  return put;
}

/** Returns whether the header of a database reserves the bytes of checksums in each page. */
const hasChecksums = (file: string): boolean => readFileSync(file)[20] === 8;

it.each(someOf(VERSIONS.slice(0, -1), 8))(
  'migrates schema %i to the newest one with every row, readable by the store',
  async (version) => {
    const place = join(folder, String(version));
    cpSync(newest, place, { recursive: true });
    const put = makeOld(databaseIn(place), version);
    expect(hasChecksums(databaseIn(place))).toBe(false);
    const { store } = await openAt(place);
    expect(schemaOf(databaseIn(place))).toEqual(schema);
    expect(hasChecksums(databaseIn(place))).toBe(true);
    expectKept(put, rowsOf(databaseIn(place)), version);
    await expectRead(store, version);
    await store.close();
    rmSync(place, { recursive: true });
  },
);

function expectKept(put: Rows, now: Rows, version: number): void {
  for (const [table, before] of Object.entries(put)) {
    if (table === 'call_log') continue;
    const retained = Object.keys(before[0] ?? {}).filter((name) => name !== 'cps');
    const only = (row: Row): Row => Object.fromEntries(retained.map((name) => [name, row[name]]));
    // The start of a service adds settings to the existing ones.
    const rest = before.map(only);
    expect([table, now[table]?.map(only)]).toEqual([table, expect.arrayContaining(rest)]);
  }
  // Rows that moved to another table or column have the same content.
  expect(now['call_timeline']?.map(timelineOf)).toEqual(rows['call_timeline']?.map(timelineOf));
  const cpsOf = (campaign: Row): unknown => campaign['calls_per_second'];
  expect(now['campaign']?.map(cpsOf)).toEqual(version < 10 ? [] : rows['campaign']?.map(cpsOf));
}

/** Reads money, secrets, calls, recordings, campaigns, and pending work through the store. */
async function expectRead(store: Store, version: number): Promise<void> {
  const { accountId, authToken, appId, campaignId } = filled;
  expect(await store.verify()).toEqual([]);
  expect((await store.ledger.balance(accountId, 'USD'))?.balance).toBe(24_993_500);
  expect(await store.signingTokens.tokensOf(accountId)).toMatchObject({ own: authToken });
  const application = await store.applications.get(asAppId(appId));
  expect(application?.answerUrl).toBe('https://u:p@bot.example/answer');
  const record = await store.cdrs.get(CALLS.ended);
  expect(record?.cdr).toMatchObject({ cost: 6500, carrier: 'north', quality: { mos: 4.1 } });
  const timeline = await store.callLogs.read(CALLS.ended);
  expect(timeline?.lines.map(({ text }) => text)).toEqual(['INVITE', 'ended']);
  expect(await store.calls.listOpen()).toMatchObject([
    { cdr: { callUuid: CALLS.running }, reserved: 65_000 },
  ]);
  expect(await store.recordings.get(RECORDING)).toMatchObject({ bytes: 1234, status: 'ready' });
  await store.notifications.adopt();
  const [reported] = await store.notifications.listPending(10);
  expect(reported).toMatchObject({ subject: CALLS.ended, event: 'Hangup' });
  expect(reported?.parameters).toContainEqual(['Event', 'Hangup']);
  expect((await store.exports.take())?.recipients).toEqual(['a@b.example']);
  const campaign = await store.campaigns.get(asCampaignId(campaignId));
  if (version < 10) expect(campaign).toBeUndefined();
  else expect(campaign).toMatchObject({ name: 'Spring', counters: { pending: 1 } });
}

const timelineOf = ({ number, lines }: Row): unknown => ({
  number,
  lines: (JSON.parse(String(lines)) as Row[]).map((line) => ({ ...line })),
});

it('applies no migration if one fails', () => {
  const place = mkdtempSync(join(folder, 'failing-'));
  cpSync(FOLDER, place, { recursive: true });
  const file = databaseIn(place);
  const early = VERSIONS.filter((version) => version <= 8);
  const db = new Database(file);
  for (const { version, file: name } of listMigrations()) {
    if (!early.includes(version)) continue;
    db.exec(readFileSync(join(FOLDER, name), 'utf8'));
    db.pragma(`user_version = ${version}`);
  }
  const before = schemaOf(file);
  writeFileSync(
    join(place, '900-broken.sql'),
    'CREATE TABLE late (id INTEGER);\nSELECT * FROM nothing;',
  );
  const given = { raw: db } as unknown as Parameters<typeof migrate>[0];
  expect(() => migrate(given, pathToFileURL(`${place}/`))).toThrow('nothing');
  expect(schemaOf(file)).toEqual(before);
  rmSync(join(place, '900-broken.sql'));
  expect(migrate(given, pathToFileURL(`${place}/`))).toBe(VERSIONS.at(-1));
  db.close();
  expect(schemaOf(file)).toEqual(schema);
});
