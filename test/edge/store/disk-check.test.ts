import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAt, withFolder } from './open.ts';

const within = (act: (dataDir: string, folder: string) => Promise<void>): Promise<void> =>
  withFolder((folder) => act(join(folder, 'data'), folder));

const LOGS = ['', '-wal', '-shm'];

describe('readiness of the data folder', () => {
  it('reports a moved folder, and recovers when it is back', () =>
    within(async (dataDir, folder) => {
      const { store } = await openAt(dataDir);
      await store.check();
      renameSync(dataDir, join(folder, 'away'));
      await expect(store.check()).rejects.toMatchObject({
        code: 'STORE_BUSY',
        message: 'the data folder does not exist any more',
      });
      mkdirSync(dataDir);
      await expect(store.check()).rejects.toThrow('was replaced by another folder');
      rmSync(dataDir, { recursive: true });
      renameSync(join(folder, 'away'), dataDir);
      await store.check();
      await store.close();
    }));

  it('rejects when the data folder cannot be written', () =>
    within(async (dataDir) => {
      const { store } = await openAt(dataDir);
      // Tests may run as root, which can write everywhere. A folder in place of the probe file fails for root too.
      mkdirSync(join(dataDir, '.write-probe', 'x'), { recursive: true });
      await expect(store.check()).rejects.toThrow(
        'no file can be written to the data folder (EISDIR)',
      );
      await store.close();
    }));

  it('rewrites a deleted database with all its data', () =>
    within(async (dataDir) => {
      const { store } = await openAt(dataDir);
      await store.settings.set('a', 'before');
      for (const log of LOGS) rmSync(join(dataDir, `carillon.db${log}`));
      await expect(store.check()).rejects.toMatchObject({ code: 'STORE_GONE' });
      await store.settings.set('b', 'meanwhile');
      const renewed = store.renew();
      const during = store.settings.set('c', 'during');
      const report = store.ledger.verify();
      await Promise.all([renewed, during, report]);
      await store.check();
      expect(statSync(join(dataDir, 'carillon.db')).mode & 0o777).toBe(0o600);
      await expect(openAt(dataDir)).rejects.toThrow('another service runs');
      await store.close();

      const again = await openAt(dataDir);
      const found = await Promise.all(['a', 'b', 'c'].map((key) => again.store.settings.get(key)));
      expect(found).toEqual(['before', 'meanwhile', 'during']);
      await again.store.close();
    }));

  it('does not overwrite a file that replaced the database', () =>
    within(async (dataDir) => {
      const { store } = await openAt(dataDir);
      const file = join(dataDir, 'carillon.db');
      renameSync(file, `${file}.theirs`);
      writeFileSync(file, 'something else');
      await expect(store.check()).rejects.toThrow('was replaced by another file');
      rmSync(file);
      renameSync(`${file}.theirs`, file);
      await store.check();
      await store.close();
    }));
});
