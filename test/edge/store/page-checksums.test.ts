import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptPages, examineBackup, restoreBackup } from '../../../src/edge/store/offline.ts';
import { eventually } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';
import { openAt, seededRandom, withFolder } from './open.ts';
import { anAccount } from './records.ts';

const RESERVED_AT = 20;
const NAME = 'A name that no sum contains';

/** Creates a store with an account, stops it, and returns its database file. */
async function stopped(folder: string): Promise<string> {
  const { store } = await openAt(folder);
  await store.accounts.create({ ...anAccount(), name: NAME }, 'token');
  await store.close();
  return join(folder, 'carillon.db');
}

function change(file: string, edit: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  edit(bytes);
  writeFileSync(file, bytes);
}

const flipName = (bytes: Buffer): void => {
  const at = bytes.indexOf(NAME);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
};

/**
 * Returns whether this process holds a lock on the file. Without it, another program that reads the database takes itself for
 * the only one when it ends (SQLite before 3.51): it writes the log to the file, without checksums, and deletes it.
 */
function isLocked(file: string): boolean {
  const { ino } = statSync(file);
  const locks = readFileSync('/proc/locks', 'utf8').split('\n');
  return locks.some((lock) => lock.includes(` ${process.pid} `) && lock.includes(`:${ino} `));
}

describe('checksums of pages', () => {
  it('leave the locks of SQLite on the database, at the start and in an examination', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'carillon.db');
      const { store } = await openAt(folder);
      expect(isLocked(file)).toBe(true);
      expect(examineBackup(file)).toMatchObject({ damage: [] });
      expect(isLocked(file)).toBe(true);
      await store.close();
      expect(isLocked(file)).toBe(false);
    });
  });

  it('reveal a changed bit in a text when the row is read, and end the acceptance of calls', async () => {
    await withFolder(async (folder) => {
      const file = await stopped(folder);
      change(file, flipName);
      const { store } = await openAt(folder);
      await expect(store.accounts.get(anAccount().authId)).rejects.toThrow('wrong checksum');
      await expect(store.check()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
      await store.close();
    });
  });

  it('reveal it in the examination of the whole file, and in a backup', async () => {
    await withFolder(async (folder) => {
      const file = await stopped(folder);
      change(file, flipName);
      expect(() => examineBackup(file)).toThrow('wrong checksum');
      const clock = new SimClock();
      const { store } = await openAt(folder, clock);
      await clock.advance(10_000);
      const error = await eventually('the examination', () =>
        store.check().then(
          () => undefined,
          (reason: Error) => reason,
        ),
      );
      expect(error.message).toContain('wrong checksum');
      await store.close();
    });
  });

  it('do not prevent that a backup replaces the damaged database', async () => {
    await withFolder(async (folder) => {
      const file = await stopped(folder);
      const backup = join(folder, 'backup');
      copyFileSync(file, backup);
      change(file, (bytes) => bytes.fill(0));
      const random = seededRandom();
      const restored = restoreBackup({
        backup,
        dataDir: folder,
        replace: true,
        stamp: 'now',
        random,
      });
      expect(readFileSync(restored.putAside ?? '')[0]).toBe(0);
      const { store } = await openAt(folder);
      expect(await store.accounts.get(anAccount().authId)).toMatchObject({ name: NAME });
      await store.close();
    });
  });

  it('cannot be switched off by damage of the header', async () => {
    await withFolder(async (folder) => {
      const file = await stopped(folder);
      change(file, (bytes) => {
        bytes[RESERVED_AT] = 0;
      });
      await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    });
  });

  it('can be computed again after another program has written the database', async () => {
    await withFolder(async (folder) => {
      const file = await stopped(folder);
      expect(() => acceptPages(folder, 'now')).toThrow('all pages');
      change(file, flipName);
      const { faults, copy, facts } = acceptPages(folder, 'now');
      expect(faults).toBe(1);
      expect(facts).toMatchObject({ damage: [], ledgerFaults: [], accounts: 1 });
      expect(() => examineBackup(copy)).toThrow('wrong checksum');
      const { store } = await openAt(folder);
      expect((await store.accounts.get(anAccount().authId))?.name).not.toBe(NAME);
      await store.check();
      await store.close();
    });
  });
});
