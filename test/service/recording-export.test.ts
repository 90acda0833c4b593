/** Export of recordings and daily records. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createS3Store } from '../../src/edge/objects/s3.ts';
import { DailyExport } from '../../src/service/daily-export.ts';
import { RecordingOffload, recordingKey } from '../../src/service/recording-offload.ts';
import { fakeS3 } from '../edge/objects/fake-s3.ts';
import { type Service, startService } from '../spec/service.ts';

const DAY_MS = 86_400_000;
let s3: Awaited<ReturnType<typeof fakeS3>>;
let objects: ReturnType<typeof createS3Store>;
let service: Service;
let folder: string;
beforeEach(async () => {
  s3 = await fakeS3();
  objects = createS3Store(s3.options);
  service = await startService({ deps: { recordingObjects: { objects, keyOf: recordingKey } } });
  folder = mkdtempSync(join(tmpdir(), 'carillon-leaving-'));
});
afterEach(async () => {
  await service.stop();
  await s3.close();
  rmSync(folder, { recursive: true });
});

async function recorded(content: string, isFinished = true) {
  const { authId: accountId } = service.account;
  const row = await service.recordings.begin({
    accountId,
    callUuid: asCallUuid('00000000-0000-4000-8000-000000000001'),
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: '1',
    toNumber: '2',
    format: 'mp3',
    type: 'call',
  } as never);
  const path = join(service.settings.recordingsFolder, row.file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  const end = { status: 'ready', bytes: content.length, durationMs: 1000, endUs: row.startUs };
  if (isFinished) await service.recordings.finish(row.recordingId, end as never);
  return { ...row, path, url: `${service.root}/Recording/${row.recordingId}.mp3` };
}

const offload = (to = objects) =>
  new RecordingOffload({
    folder: service.settings.recordingsFolder,
    objects: to,
    recordings: service.recordings,
    clock: service.clock,
    logger: silentLogger,
  });

describe('a finished recording', () => {
  it('is moved and served by the same link, whole and by ranges', async () => {
    const { path, file, url } = await recorded('0123456789');
    const before = await service.get(url);
    expect(await offload().round()).toBe(1);
    expect(existsSync(path)).toBe(false);
    expect(s3.objects.get(`/calls/node-1/recordings/${file}`)?.toString()).toBe('0123456789');
    const after = await service.get(url);
    expect([after.status, after.text]).toEqual([200, before.text]);
    const part = await service.get(url, { headers: { range: 'bytes=-3' } });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      '789',
      'bytes 7-9/10',
    ]);
    expect((await service.get(url, { headers: { range: 'bytes=10-' } })).status).toBe(416);
    expect(await offload().round()).toBe(0);
  });

  it('stays local while the storage fails, and unfinished recordings are not moved', async () => {
    const done = await recorded('done');
    const running = await recorded('run', false);
    s3.failing.push(...Array.from({ length: 4 }, () => 500));
    await expect(offload().round()).rejects.toMatchObject({ code: 'OBJECTS_UNAVAILABLE' });
    expect(existsSync(done.path)).toBe(true);
    expect(await offload().round()).toBe(1);
    expect([existsSync(done.path), existsSync(running.path)]).toEqual([false, true]);
  });

  it('is moved although others always fail', async () => {
    const files: { readonly path: string }[] = [];
    for (let index = 0; index < 5; index += 1) files.push(await recorded('x'));
    const last = readdirSync(dirname(files[0]?.path ?? '')).at(-1) ?? '';
    const failing: typeof objects = {
      ...objects,
      put: async (key, path) => {
        if (!key.endsWith(last)) throw new Error('unreadable');
        await objects.put(key, path);
      },
    };
    expect(await offload(failing).round()).toBe(1);
    const left = files.filter(({ path }) => existsSync(path));
    expect(left).toHaveLength(4);
  });

  it('returns 503 while the storage is unreachable, and 404 after deletion', async () => {
    const { file, url } = await recorded('x');
    await offload().round();
    s3.failing.push(...Array.from({ length: 4 }, () => 500));
    expect((await service.get(url)).status).toBe(503);
    s3.objects.delete(`/calls/node-1/recordings/${file}`);
    expect((await service.get(url)).status).toBe(404);
  });
});

describe('a daily export', () => {
  const daily = (more: object = {}) =>
    new DailyExport({
      ...service,
      settings: { folder, toS3: true, format: 'csv', hourUtc: 1, ...more },
      workFolder: join(folder, '..', `work-${process.pid}`),
      objects,
      marks: service.store.settings,
      isMine: async () => true,
      logger: silentLogger,
    });

  it('is exported after its end to every destination, with done.json last', async () => {
    await service.book({ amount: 1, reference: 'cdr:1' });
    await daily().round();
    expect(readdirSync(folder)).toEqual(['2025-12-30']);
    await service.clock.advance(DAY_MS);
    // At midnight, calls that ended a moment ago may not be stored yet.
    expect(await daily().round()).toEqual(['2025-12-31']);
    await service.clock.advance(3_600_000);
    expect(await daily().round()).toEqual(['2026-01-01']);
    const file = `2026-01-01/${service.account.authId}/ledger.csv.gz`;
    const text = gunzipSync(readFileSync(join(folder, file))).toString();
    expect(text.split('\r\n')[1]).toContain('cdr:1');
    expect(JSON.parse(readFileSync(join(folder, '2026-01-01/done.json'), 'utf8'))).toEqual({
      day: '2026-01-01',
      files: [{ file, rows: 1 }],
    });
    expect(s3.objects.get(`/calls/node-1/exports/${file}`)).toEqual(
      readFileSync(join(folder, file)),
    );
    expect(await daily().round()).toEqual([]);
  });

  it('is repeated after a failure, followed by missed days', async () => {
    await daily().round();
    await service.book({ amount: 1, reference: 'cdr:1' });
    await service.clock.advance(3 * DAY_MS + 3_600_000);
    s3.failing.push(...Array.from({ length: 4 }, () => 500));
    await expect(daily().round()).rejects.toMatchObject({ code: 'OBJECTS_UNAVAILABLE' });
    expect(await daily({ format: 'ndjson' }).round()).toEqual([
      '2025-12-31',
      '2026-01-01',
      '2026-01-02',
      '2026-01-03',
    ]);
    const file = join(folder, `2026-01-01/${service.account.authId}/ledger.ndjson.gz`);
    expect(JSON.parse(gunzipSync(readFileSync(file)).toString())).toMatchObject({ amount: 1 });
  });
});
