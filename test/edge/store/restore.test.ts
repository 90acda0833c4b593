import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changesOf, powerLossMissing } from '../../crash/power-loss.ts';
import { openAt } from './open.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-restore-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(powerLossMissing !== undefined)(
  'a restored database and its keys are on the disk when the command ends (needs cc)',
  async () => {
    const [data, backup, restored] = ['data', 'backup.db', 'restored'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const { store } = await openAt(data);
    await store.backup(backup);
    await store.close();
    const program = `
      import { restoreBackup } from './src/edge/store/offline.ts';
      import { systemRandom as random } from './src/base/system-random.ts';
      restoreBackup({ backup: '${backup}', keys: '${data}/keys', dataDir: '${restored}', replace: false, stamp: 'x', random });`;
    const changes = changesOf(program, restored, folder).filter(
      (change) => !/ \/carillon\.db\.lock|-(wal|shm|journal)$/.test(change),
    );
    const renamed = changes.indexOf('rename /carillon.db.restoring');
    expect(changes.slice(renamed - 1, renamed + 2)).toEqual([
      'sync /carillon.db.restoring',
      'rename /carillon.db.restoring',
      'sync',
    ]);
    expect(changes.slice(-2)).toEqual(['sync /keys/store.key', 'sync /keys']);
    await (await openAt(restored)).store.close();
  },
);

it('refuses to start with an empty database after an interrupted restore', async () => {
  const draft = join(folder, 'carillon.db.restoring');
  writeFileSync(draft, '');
  await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  rmSync(draft);
  await (await openAt(folder)).store.close();
});
