/**
 * Starts the service with one damaged value of every kind of stored JSON and every kind of secret. It serves everything else,
 * and REST, the command line and an alarm report the damaged rows.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/system-random.ts';
import { copyToPostgres } from '../../src/edge/store/postgres/copy.ts';
import { NODE_FILE } from '../../src/service/data-folder.ts';
import type { Json } from '../e2e/service.ts';
import { openAt } from '../edge/store/open.ts';
import { eventually } from '../eventually.ts';
import { postgresMissing, sharedCluster } from '../postgres.ts';
import { type Damaged, damage, damageSpool } from './damage.ts';
import { RecordedFolder } from './recorded.ts';
import { Upgraded } from './upgraded.ts';

const NAME = 'schema-25-killed';
const ENVIRONMENT = { CARILLON_ALARMS_EVERY_MS: '300', CARILLON_ALARMS_CLEAR_MS: '0' };
/** Tables whose damaged row only its own call, registration or request reads. The tests of the store read them. */
const READ_ON_USE = new Set([
  'account_token',
  'call_timeline',
  'campaign_contact',
  'endpoint_secret',
  'trunk_credential_secret',
  'idempotency_key',
  'transcription',
  'console_user',
  // A row of another time is deleted at the start, because deliveries are kept for days only.
  'webhook_delivery',
]);
/** Settings that the service reads only with a recipient of alarms, or for the plan of an incomplete first start. */
const SETTINGS_READ = new Set(['media.policies', 'first-start', 'store.keyProof']);

let folder: RecordedFolder;
let running: Upgraded | undefined;
afterEach(async () => {
  await running?.kill();
  running = undefined;
  folder.remove();
});

/** ID of the recorded node, which a complete data folder contains. On PostgreSQL, only this node adopts its open calls. */
function nodeId(): string {
  const db = new Database(folder.file, { readonly: true });
  const id = String(db.prepare('SELECT node_id FROM node').pluck().get());
  db.close();
  return id;
}

async function damagedFolder(): Promise<readonly Damaged[]> {
  folder = new RecordedFolder(NAME);
  const { store } = await openAt(folder.dataDir);
  await store.close();
  writeFileSync(join(folder.dataDir, 'demo.json'), '{"authId":', { mode: 0o600 });
  writeFileSync(join(folder.dataDir, NODE_FILE), `${nodeId()}\n`);
  return damage(folder);
}

const isExpected = ({ table, key }: Damaged): boolean =>
  table === 'setting' ? SETTINGS_READ.has(key) : !READ_ON_USE.has(table);

async function rowsOf({ service }: Upgraded): Promise<readonly Json[]> {
  const { body } = await service.admin('GET', '/unreadable-rows?limit=100');
  return body['rows'] as Json[];
}

const nameOf = ({ table, key }: Json | Damaged): string => `${table}/${key}`;

const raisedOf = async ({ service }: Upgraded): Promise<boolean> =>
  (await service.admin('GET', '/alarms')).text.includes('unreadable_rows');

async function expectServed(upgraded: Upgraded, expected: readonly string[]): Promise<void> {
  expect((await upgraded.service.get('/readyz')).status).toBe(200);
  const { failed, records } = await upgraded.allReads();
  // A request for a damaged record itself is refused.
  expect(failed.filter((line) => !line.includes('a stored record cannot be read'))).toEqual([]);
  expect(records).toBeGreaterThan(20);
  await eventually('the reports', async () => {
    const found = (await rowsOf(upgraded)).map(nameOf);
    return expected.every((name) => found.includes(name)) || undefined;
  }).catch(async () => {
    expect((await rowsOf(upgraded)).map(nameOf)).toEqual(expect.arrayContaining([...expected]));
  });
}

it('reports the rows over REST, on the command line and by an alarm, until they are forgotten', async () => {
  const expected = (await damagedFolder()).filter(isExpected).map(nameOf);
  running = await Upgraded.start(folder.dataDir, folder.account, ENVIRONMENT);
  const upgraded = running;
  await expectServed(upgraded, expected);
  const rows = await rowsOf(upgraded);
  for (const row of rows) {
    expect(row).toMatchObject({ reason: expect.stringMatching(/./), found: expect.any(String) });
    expect(() => JSON.parse(String(row['original']))).not.toThrow();
  }
  await eventually('the alarm', async () => (await raisedOf(upgraded)) || undefined);

  const listed = upgraded.carillon('store', 'unreadable');
  expect(listed.status).toBe(1);
  for (const { table, key } of rows) expect(listed.stdout).toContain(String(key || table));
  const unknown = upgraded.carillon('store', 'unreadable', '--forget', 'cdr/nobody');
  expect([unknown.status === 0, unknown.stderr.includes('row')]).toEqual([false, true]);
  for (const row of rows) {
    const done = await upgraded.service.admin(
      'DELETE',
      `/unreadable-rows/${row['table']}/${encodeURIComponent(String(row['key']))}`,
    );
    expect(done.status, nameOf(row)).toBe(204);
  }
  const again = await upgraded.service.admin('DELETE', '/unreadable-rows/cdr/nobody');
  expect(again.status).toBe(404);
  expect(upgraded.carillon('store', 'unreadable').status).toBe(0);
  await eventually('the end of the alarm', async () => !(await raisedOf(upgraded)) || undefined);
  expect((await upgraded.service.admin('POST', '/verify')).body).toMatchObject({ ok: true });
  expect(await upgraded.stop()).toBe(0);
  running = undefined;
});

it.skipIf(postgresMissing !== undefined)(
  `does so on PostgreSQL, with a damaged line in the spool ${postgresMissing ?? ''}`,
  async () => {
    const damaged = await damagedFolder();
    const url = (await sharedCluster()).database('damaged_service');
    copyToPostgres({ dataDir: folder.dataDir, url, random: systemRandom });
    damageSpool(folder.dataDir);
    const more = { ...ENVIRONMENT, CARILLON_STORE_URL: url };
    running = await Upgraded.start(folder.dataDir, folder.account, more);
    await expectServed(running, damaged.filter(isExpected).map(nameOf));
    expect((await rowsOf(running)).map(({ table }) => table)).toContain('spool');
    const upgraded = running;
    await eventually('the alarm', async () => (await raisedOf(upgraded)) || undefined);
  },
);
