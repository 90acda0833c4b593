/** Starts the service on data folders of earlier versions and requests every list and record over REST. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  eventually,
  type Json,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { RecordedFolder, recordedNames } from './recorded.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const NAMES = ['0.1.0-killed', '0.1.0-stopped', recordedNames.at(-1) ?? ''];

let folder: RecordedFolder;
let place: ServicePlace;
let service: Service;
afterEach(async () => {
  await service?.kill();
  removePlace(place);
  folder.remove();
});

async function start(): Promise<void> {
  const { dataDir } = folder;
  const made = await newPlace();
  place = { dataDir, environment: { ...made.environment, CARILLON_DATA_DIR: dataDir } };
  service = await Service.start(place);
}

interface Operation {
  /** Path with `{auth_id}` filled in; other parameters remain. */
  readonly path: string;
  readonly parameters: readonly string[];
}

/** All GET operations of an OpenAPI document that return JSON and need no query parameter. */
async function reads(document: Json): Promise<readonly Operation[]> {
  return Object.entries(document['paths'] as Record<string, Record<string, Json>>)
    .filter(([, methods]) => methods['get'] !== undefined)
    .map(([path]) => path.replace('{auth_id}', folder.account.authId))
    .map((path) => ({
      path,
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
    }));
}

/** Values that fill the last parameter of `path`, from the items of a list. */
function idsIn(list: Json, parameter: string): readonly string[] {
  const items = Object.values(list).find((value): value is Json[] => Array.isArray(value)) ?? [];
  return items.flatMap((item) => {
    const id = item[parameter] ?? item['id'] ?? item['uuid'] ?? item['call_uuid'];
    return typeof id === 'string' || typeof id === 'number' ? [String(id)] : [];
  });
}

type Get = (path: string) => Promise<Answer>;

/** Requests every list and, for each item, its record. Returns the failed requests and the number of records. */
async function failures(operations: readonly Operation[], get: Get) {
  const failed: string[] = [];
  const note = ({ status, text }: Answer, path: string): void => {
    if (status >= 500) failed.push(`${path}: ${status} ${text.slice(0, 200)}`);
  };
  let records = 0;
  for (const { path, parameters } of operations) {
    if (parameters.length > 0) continue;
    const list = await get(path);
    note(list, path);
    const below = operations.filter(
      (one) =>
        one.parameters.length === 1 &&
        one.path.replace(/\/\{\w+\}(\/.*)?$/, '') === path.replace(/\/$/, ''),
    );
    for (const detail of below) {
      const [parameter = ''] = detail.parameters;
      for (const id of idsIn(list.body, parameter).slice(0, 5)) {
        note(await get(detail.path.replace(`{${parameter}}`, encodeURIComponent(id))), detail.path);
        records += 1;
      }
    }
  }
  return { failed, records };
}

const documentOf = async (path: string): Promise<Json> => (await service.get(path)).body;
const isStreaming = ({ path }: Operation): boolean =>
  /events|listen|watch|feed|messages/.test(path);

async function allReads(): Promise<readonly string[]> {
  const own = (await reads(await documentOf('/openapi.json'))).filter(
    (one) => !isStreaming(one) && one.path.includes('/api/'),
  );
  const { authId, authToken } = folder.account;
  const asOwner: Get = async (path) => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: isJson ? (JSON.parse(text) as Json) : {} };
  };
  const document = (await service.admin('GET', '/../openapi.json')).body;
  const operators = (await reads(document)).filter(
    (one) => !isStreaming(one) && one.path.startsWith('/admin/v1/'),
  );
  const asOperator: Get = (path) => service.admin('GET', path.replace('/admin/v1', ''));
  const [account, operator] = [await failures(own, asOwner), await failures(operators, asOperator)];
  expect(account.records).toBeGreaterThan(20);
  return [...account.failed, ...operator.failed];
}

describe('the service on the data of an earlier version', () => {
  it.each(NAMES)('%s: every list and record is readable; the backup is complete', async (name) => {
    folder = new RecordedFolder(name);
    await start();
    expect(await allReads()).toEqual([]);
    expect((await service.admin('GET', '/unreadable-rows')).body).toMatchObject({ total: 0 });
    expect((await service.admin('POST', '/verify')).body).toMatchObject({ ok: true });
    const { body } = await service.admin('POST', '/backup', { name: 'after.db' });
    const checked = spawnSync(
      process.execPath,
      [join(ROOT, 'bin/carillon.mjs'), 'verify', String(body['path'])],
      { encoding: 'utf8', env: { ...place.environment, PATH: process.env['PATH'] } },
    );
    expect([checked.status, checked.stderr]).toEqual([0, '']);
    expect(await service.stop()).toBe(0);
  });

  it('starts and lists everything else with one damaged row of each kind', async () => {
    folder = new RecordedFolder('0.1.0-killed');
    const db = new Database(folder.file);
    const settings = [
      ['media.policies', 'broken'],
      [`alarm.countries.${folder.account.authId}`, '{"sinceUs":"x"}'],
      ['alarm.raised.alone', '[{}]'],
    ] as const;
    for (const [key, value] of settings)
      db.prepare('INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)').run(key, value);
    const damaged = [
      ['open_call', 'record', 'call_uuid'],
      ['cdr', 'streams', 'call_uuid'],
      ['carrier', 'prefixes', 'name'],
      ['notification', 'parameters', 'notification_id'],
      ['campaign', 'dial_window', 'id'],
    ] as const;
    const tables: string[] = [];
    for (const [table, column, key] of damaged) {
      const columns = db.pragma(`table_info(${table})`) as { name: string }[];
      const keyColumn = columns.some((one) => one.name === key) ? key : 'rowid';
      if (!columns.some((one) => one.name === column)) continue;
      const { changes } = db
        .prepare(
          `UPDATE ${table} SET ${column} = '{"' WHERE ${keyColumn} = (SELECT max(${keyColumn}) FROM ${table})`,
        )
        .run();
      if (changes > 0) tables.push(table);
    }
    db.close();
    expect(tables).toContain('open_call');
    await start();
    const failed = await allReads();
    // A request for a damaged record itself is refused.
    expect(failed.filter((line) => !line.includes('a stored record cannot be read'))).toEqual([]);
    const reported = await eventually('the report', async () => {
      const { body } = await service.admin('GET', '/unreadable-rows?limit=100');
      const rows = Object.values(body).find((value): value is Json[] => Array.isArray(value)) ?? [];
      const found = new Set(rows.map((row) => String(row['table'])));
      return [...tables, 'setting'].every((table) => found.has(table)) ? rows : undefined;
    });
    expect(reported.map((row) => row['key'])).toContain('media.policies');
    await eventually('the alarm', async () => {
      const { body } = await service.admin('GET', '/alarms');
      return JSON.stringify(body).includes('unreadable_rows') || undefined;
    });
    expect((await service.get('/readyz')).status).toBe(200);
  });
});
