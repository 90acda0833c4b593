/**
 * Starts the service on data folders of earlier versions: every list and record, exports, recovery of calls, a restored
 * backup, and a copy on PostgreSQL.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../e2e/service.ts';
import { eventually } from '../eventually.ts';
import { postgresMissing, sharedCluster } from '../postgres.ts';
import { isThorough, someOf } from '../thorough.ts';
import { chosenNames, type RecordedFacts, RecordedFolder } from './recorded.ts';
import { Upgraded } from './upgraded.ts';

/** Databases that are also copied to PostgreSQL. */
const COPIED = isThorough ? ['0.1.0-killed', 'schema-26-killed'] : ['0.1.0-killed'];

let folder: RecordedFolder;
let running: Upgraded | undefined;
afterEach(async () => {
  await running?.kill();
  running = undefined;
  folder.remove();
});

async function startOn(dataDir: string, more: Readonly<Record<string, string>> = {}) {
  running = await Upgraded.start(dataDir, folder.account, more);
  return running;
}

async function stop(): Promise<void> {
  expect(await running?.stop()).toBe(0);
  running = undefined;
}

/** Writes a file for each recording, because the fixture contains the database only. */
function writeRecordings(): void {
  const db = new Database(folder.file, { readonly: true });
  const files = db.prepare("SELECT file FROM recording WHERE status = 'ready'").pluck().all();
  db.close();
  for (const file of files.map(String)) {
    const path = join(folder.dataDir, 'recordings', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'RIFF');
  }
}

/** Checks that every call is listed once, calls that were cut off have a charge, and all lists and exports work. */
async function expectComplete(upgraded: Upgraded, facts: RecordedFacts): Promise<void> {
  const { failed, records } = await upgraded.allReads();
  expect(failed).toEqual([]);
  expect(records).toBeGreaterThan(20);
  const { service } = upgraded;
  expect((await service.admin('GET', '/unreadable-rows')).body).toMatchObject({ total: 0 });
  expect((await service.admin('POST', '/verify')).body).toMatchObject({ ok: true });
  const calls = facts.cdrs + facts.open.length;
  for (const { callUuid, isAnswered, perMinute } of facts.open) {
    const { body } = await upgraded.request('GET', `cdr/${callUuid}`);
    const data = body['data'] as Json;
    expect(data, callUuid).toMatchObject({ uuid: callUuid });
    const cost = (data['cost'] ?? data['total_amount']) as number;
    expect(Number(cost)).toBeCloseTo(isAnswered ? perMinute / 1e6 : 0);
  }
  const csv = await upgraded.request('GET', 'cdr/export');
  // A running campaign adds calls.
  expect(csv.text.trim().split('\n').length).toBeGreaterThanOrEqual(calls + 1);
  for (const { callUuid } of facts.open) expect(csv.text).toContain(callUuid);
  const entries = await upgraded.request('GET', 'transactions/export');
  expect([entries.status, entries.text.trim().split('\n').length > 1]).toEqual([200, true]);
}

/** Exports all recordings as an archive and downloads it. */
async function expectArchive(upgraded: Upgraded): Promise<void> {
  const asked = await upgraded.request('POST', 'export/recording/', {
    recipient: { customer_account: ['ada@example.com'] },
  });
  expect(asked.status, asked.text).toBeLessThan(300);
  const job = await eventually('the archive', async () => {
    const { body } = await upgraded.request('GET', 'export/recording/');
    const jobs = Object.values(body).find((value): value is Json[] => Array.isArray(value)) ?? [];
    return jobs.find(({ state }) => state === 'done' || state === 'failed');
  });
  expect(job).toMatchObject({ state: 'done', error: null });
  expect(job['recordings']).toBeGreaterThan(0);
  const archive = await fetch(
    String(job['link']).replace(/^https?:\/\/[^/]+/, upgraded.service.baseUrl),
  );
  expect(
    Buffer.from(await archive.arrayBuffer())
      .subarray(0, 2)
      .toString(),
  ).toBe('PK');
}

describe('the service on the data of an earlier version', () => {
  it.each(someOf(chosenNames, 1))(
    '%s: lists, exports, recovery, and a restored backup',
    async (name) => {
      folder = new RecordedFolder(name);
      const facts = folder.facts();
      writeRecordings();
      const upgraded = await startOn(folder.dataDir);
      await expectComplete(upgraded, facts);
      await expectArchive(upgraded);
      const { body } = await upgraded.service.admin('POST', '/backup', { name: 'after.db' });
      const backup = String(body['path']);
      expect(upgraded.carillon('verify', backup)).toMatchObject({ status: 0, stderr: '' });
      const restored = mkdtempSync(join(tmpdir(), 'carillon-restored-'));
      try {
        const keys = join(folder.dataDir, 'keys');
        const done = upgraded.carillon('--data-dir', restored, 'restore', backup, '--keys', keys);
        expect(done.status, done.stderr).toBe(0);
        await stop();
        await expectComplete(await startOn(restored), facts);
        await stop();
      } finally {
        rmSync(restored, { recursive: true, force: true });
      }
    },
  );

  it.skipIf(postgresMissing !== undefined).each(COPIED)(
    `%s: also after store copy, on PostgreSQL ${postgresMissing ?? ''}`,
    async (name) => {
      folder = new RecordedFolder(name);
      const facts = folder.facts();
      const cluster = await sharedCluster();
      const url = cluster.database(`served_${name.replaceAll(/\W/g, '_')}`);
      // The copy requires the current schema, which a start of the service creates.
      const before = await startOn(folder.dataDir);
      await stop();
      const copied = before.carillonOn({ CARILLON_STORE_URL: url }, 'store', 'copy');
      expect(copied.status, copied.stderr).toBe(0);
      await expectComplete(await startOn(folder.dataDir, { CARILLON_STORE_URL: url }), facts);
      await stop();
    },
  );
});
