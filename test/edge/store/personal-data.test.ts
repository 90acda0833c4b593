/** Tables of the page on privacy, and the content of the database files after an erasure. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { asCallUuid } from '../../../src/base/ids.ts';
import { ERASED } from '../../../src/domain/cdr/types.ts';
import { loadPageChecksums } from '../../../src/edge/store/page-checksums.ts';
import { openAt, withFolder } from './open.ts';
import { aCdr, anAccount, START_US } from './records.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MIGRATIONS = join(ROOT, 'src/edge/store/migrations');

function tables(): readonly string[] {
  const db = new DatabaseSync(':memory:');
  for (const file of readdirSync(MIGRATIONS).sort())
    if (file.endsWith('.sql') && !file.endsWith('.postgres.sql'))
      db.exec(readFileSync(join(MIGRATIONS, file), 'utf8'));
  const rows = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  db.close();
  return rows.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
}

it('each table is in one row of the page on privacy', () => {
  const page = readFileSync(join(ROOT, 'docs/operate/privacy.md'), 'utf8');
  const listed = [...page.slice(page.indexOf('## Tables')).matchAll(/`([a-z_]+)`/g)];
  expect(listed.map(([, name]) => name).sort()).toEqual(tables().toSorted());
});

const NAME = 'Anna of the erased number';

const filesWith = (folder: string, text: string): readonly string[] =>
  readdirSync(folder).filter(
    (name) => name.startsWith('carillon.db') && readFileSync(join(folder, name)).includes(text),
  );

it('erased records are not in the database file and its log', async () => {
  await withFolder(async (folder) => {
    const { store } = await openAt(folder);
    await store.accounts.create(anAccount(), 'token');
    const calls = Array.from({ length: 50 }, (_, index) => {
      const callUuid = asCallUuid(`0b6c1c3e-8f0a-4f4e-9a53-0000000000${10 + index}`);
      return aCdr({ callUuid, from: '14155550199', callerName: NAME });
    });
    for (const cdr of calls) {
      await store.calls.settle({ cdr, entries: [], notification: undefined });
      const line = { atUs: START_US, kind: 'stream', text: NAME, facts: {} } as const;
      await store.callLogs.put(cdr.callUuid, [line]);
    }
    const uuids = calls.map(({ callUuid }) => callUuid);
    await store.retention.eraseCalls('14155550199', uuids, []);
    expect(filesWith(folder, NAME)).not.toEqual([]);
    await store.finishErasure();
    expect(filesWith(folder, NAME)).toEqual([]);
    const records = await store.cdrs.walk({ accountId: anAccount().authId }, undefined, 100);
    expect(records.map(({ cdr }) => cdr.from)).toEqual(calls.map(() => ERASED));
    await store.close();
  });
});

it('the start after an erasure removes content that an earlier version deleted', async () => {
  await withFolder(async (folder) => {
    const file = join(folder, 'carillon.db');
    const { store } = await openAt(folder);
    await store.accounts.create({ ...anAccount(), name: 'Kept' }, 'token');
    await store.close();
    loadPageChecksums();
    const earlier = new Database(file);
    earlier.prepare('INSERT INTO setting (key, value) VALUES (?, ?)').run('note', NAME.repeat(400));
    earlier.exec("DELETE FROM setting WHERE key = 'note'");
    earlier.close();
    const second = await openAt(folder);
    expect(filesWith(folder, NAME)).toContain('carillon.db');
    await second.store.finishErasure();
    await second.store.close();
    const third = await openAt(folder);
    expect(filesWith(folder, NAME)).toEqual([]);
    expect((await third.store.accounts.get(anAccount().authId))?.name).toBe('Kept');
    await third.store.close();
    const raw = new Database(file, { readonly: true });
    expect(raw.prepare("SELECT 1 FROM setting WHERE key = 'store.erasure'").get()).toBeUndefined();
    raw.close();
  });
});
