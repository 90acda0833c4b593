/** A service that was killed, and whose log is damaged before its next start. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { newPlace, ROOT, removePlace, Service, type ServicePlace } from './service.ts';

const LOG_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
/** Offset of the number of committed frames in the index of the log (https://www.sqlite.org/walformat.html#the_wal_index_file_format). */
const INDEX_FRAMES_AT = 16;
const CREDIT = { amount: 1_000_000, currency: 'USD', description: 'credit' };

let place: ServicePlace;
afterEach(() => removePlace(place));

it('does not start with lost transactions, and starts after the operator accepts the loss', async () => {
  place = await newPlace();
  const service = await Service.start(place);
  const credit = `/accounts/${service.demo.authId}/credit`;
  expect((await service.admin('POST', credit, CREDIT)).status).toBeLessThan(300);
  await service.kill();
  const file = join(place.dataDir, 'carillon.db');
  const log = readFileSync(`${file}-wal`);
  // After a checkpoint, the log starts again and its file keeps the old frames at its end. SQLite does not read them.
  const frames = readFileSync(`${file}-shm`).readUInt32LE(INDEX_FRAMES_AT);
  expect(frames).toBeGreaterThan(0);
  const at = LOG_HEADER_BYTES + (frames - 1) * FRAME_BYTES + 100;
  log[at] = (log[at] ?? 0) ^ 0x10;
  writeFileSync(`${file}-wal`, log);

  const message = await Service.start(place).then(
    () => 'it started',
    (error: Error) => error.message,
  );
  expect(message).toContain('the log of the database is damaged');
  const command = /carillon (--data-dir \S+ restore --accept-loss)/.exec(message)?.[1] ?? '';
  const accepted = spawnSync('node', ['bin/carillon.mjs', ...command.split(' ')], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(`${accepted.stdout}${accepted.stderr}`).toMatch(/transactions? lost/);
  const again = await Service.start(place);
  expect((await again.admin('POST', '/verify')).body).toMatchObject({ ok: true });
  expect(await again.stop()).toBe(0);
});
