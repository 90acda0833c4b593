import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { restoreBackup } from '../../../src/edge/store/offline.ts';
import { changesOf, powerLossMissing } from '../../crash/power-loss.ts';
import { openAt, seededRandom } from './open.ts';
import { anAccount } from './records.ts';

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

it('restores a database that was moved aside with the transactions of its log', async () => {
  const [data, aside, restored] = ['data', 'carillon.db.before-x', 'restored'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const { store } = await openAt(data);
  await store.accounts.create(anAccount(), 'token');
  for (const part of ['', '-wal']) copyFileSync(join(data, `carillon.db${part}`), aside + part);
  await store.close();
  restoreBackup({
    backup: aside,
    keys: join(data, 'keys'),
    dataDir: restored,
    replace: false,
    stamp: 'x',
    random: seededRandom(),
  });
  const { store: again } = await openAt(restored);
  expect(await again.accounts.get(anAccount().authId)).toMatchObject(anAccount());
  await again.close();
});

it('refuses to start with an empty database after an interrupted restore', async () => {
  const draft = join(folder, 'carillon.db.restoring');
  writeFileSync(draft, '');
  await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  rmSync(draft);
  await (await openAt(folder)).store.close();
});
