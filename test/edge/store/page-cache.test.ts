import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newCallUuid } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/system-random.ts';
import { Engine } from '../../../src/edge/store/engine.ts';
import { aCdr, aNotification, anAccount, anEntry, anOpenCall, START_US } from './records.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-page-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (role: 'writer' | 'reader'): Engine =>
  new Engine({
    file: join(folder, 'carillon.db'),
    role,
    synchronous: 'normal',
    checkpoints: 'elsewhere',
    key: new Uint8Array(32),
    random: systemRandom,
  });

describe('page cache', () => {
  it('is small for the writer, whose commits scan it, and large for the reader', () => {
    const writer = open('writer');
    const reader = open('reader');
    // A negative value is a size in KiB.
    expect(writer.pragma('cache_size')).toBe(-2000);
    expect(reader.pragma('cache_size')).toBe(-24_000);
    reader.close();
    writer.close();
  });
});

describe('an open record', () => {
  it('needs no overflow pages, although its size is half a page', () => {
    const writer = open('writer');
    const run = (repository: string, operation: string, ...given: readonly unknown[]): void => {
      const [outcome] = writer.run([{ repository, operation, given, nowUs: START_US }]);
      expect(outcome).toMatchObject({ ok: true });
    };
    run('accounts', 'create', anAccount(), 'token');
    run('ledger', 'post', [anEntry()], { checked: false });
    const hangupNotification = aNotification({ parameters: [['Name', 'x'.repeat(1200)]] });
    for (let index = 0; index < 10; index += 1) {
      const cdr = aCdr({ callUuid: newCallUuid(systemRandom, START_US / 1000 + index) });
      run('calls', 'open', anOpenCall({ cdr, hangupNotification }), undefined);
    }
    const db = new Database(join(folder, 'carillon.db'), { readonly: true });
    const kinds = db
      .prepare("SELECT pagetype, count(*) AS pages FROM dbstat WHERE name = 'open_call' GROUP BY 1")
      .all();
    db.close();
    expect(kinds).toEqual([
      { pagetype: 'internal', pages: 1 },
      { pagetype: 'leaf', pages: 10 },
    ]);
    writer.close();
  });
});
