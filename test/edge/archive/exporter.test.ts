import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import { asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Mail } from '../../../src/base/mailer.ts';
import { Recordings } from '../../../src/domain/recording/recording.ts';
import { writeArchive } from '../../../src/edge/archive/archive.ts';
import { createExporter } from '../../../src/edge/archive/exporter.ts';
import { type OpenedStore, openInMemory } from '../store/open.ts';
import { anAccount } from '../store/records.ts';

const ACCOUNT = anAccount().authId;
let opened: OpenedStore;
let recordings: Recordings;
let folder: string;
let mails: Mail[];
let sendMail: (mail: Mail) => Promise<void>;
/** Replaces the wait for a retry. */
let sleep: Clock['sleep'];

beforeEach(async () => {
  opened = await openInMemory();
  await opened.store.accounts.create(anAccount(), 'token');
  folder = mkdtempSync(join(tmpdir(), 'carillon-export-'));
  mails = [];
  sleep = async () => undefined;
  sendMail = async (mail) => {
    mails.push(mail);
  };
  recordings = new Recordings({
    recordings: opened.store.recordings,
    exports: opened.store.exports,
    files: { remove: async () => undefined },
    clock: opened.clock,
    random: opened.random,
  });
});
afterEach(async () => {
  await opened.store.close();
  rmSync(folder, { recursive: true, force: true });
});

const exporter = () =>
  createExporter({
    recordings,
    mailer: { send: (mail) => sendMail(mail), close: () => undefined },
    recordingsFolder: join(folder, 'recordings'),
    exportsFolder: join(folder, 'exports'),
    linkTo: (job) => `http://voice.test/${job.exportId}.zip?sig=x`,
    clock: {
      monotonicMs: () => opened.clock.monotonicMs(),
      wallMs: () => opened.clock.wallMs(),
      at: (dueMs, wake) => opened.clock.at(dueMs, wake),
      sleep: (ms, signal) => sleep(ms, signal),
    },
    logger: silentLogger,
  });

async function record(audio: string | undefined, format: 'mp3' | 'wav' = 'mp3') {
  const recording = await recordings.begin({
    accountId: ACCOUNT,
    callUuid: asCallUuid('7f0cf0f6-0f4b-4f0e-8f57-000000000001'),
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: '14155550100',
    toNumber: '14155550101',
    format,
    type: 'call',
  });
  if (audio !== undefined) {
    const path = join(folder, 'recordings', recording.file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, audio);
  }
  await recordings.finish(recording.recordingId, { status: 'ready', bytes: audio?.length ?? 0 });
  return recording;
}

async function request(recipients = ['ada@example.test', 'bob@example.test']) {
  const queued = await recordings.requestExport({
    accountId: ACCOUNT,
    recipients,
    storageDuration: {},
  });
  if (!queued.ok) throw new Error(queued.error.kind);
  return queued.value;
}

/** Reads a member of a zip through its central directory (PKWARE APPNOTE 4.3). */
function zipText(exportId: string, member: string): string {
  const zip = readFileSync(join(folder, 'exports', `${exportId}.zip`));
  const end = zip.lastIndexOf('PK\u0005\u0006');
  let at = zip.readUInt32LE(end + 16);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === member) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
      return (zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(data) : data).toString('utf8');
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`${member} is not in the archive`);
}

describe('recording export job', () => {
  it('packs the recordings with an index and mails the link to each recipient separately', async () => {
    const mp3 = await record('first audio');
    const wav = await record('second audio', 'wav');
    const job = await request();
    const worker = exporter();
    worker.wake();
    await worker.idle();
    expect(await recordings.getExport(job.exportId)).toMatchObject({
      status: 'done',
      recordings: 2,
    });
    expect(zipText(job.exportId, `2026-01-01/${mp3.recordingId}.mp3`)).toBe('first audio');
    expect(zipText(job.exportId, `2026-01-01/${wav.recordingId}.wav`)).toBe('second audio');
    const index = zipText(job.exportId, 'index.csv').trim().split('\r\n');
    expect(index[0]).toBe(
      'recording_id,file,call_uuid,conference_name,from_number,to_number,added_at,duration_ms,format,bytes',
    );
    expect(index).toHaveLength(3);
    expect(mails.map(({ to }) => to)).toEqual(['ada@example.test', 'bob@example.test']);
    expect(mails[0]?.text).toContain(`http://voice.test/${job.exportId}.zip?sig=x`);
  });

  it('lists a recording whose file is missing, without a file', async () => {
    const lost = await record(undefined);
    const job = await request();
    const worker = exporter();
    worker.wake();
    await worker.idle();
    expect(zipText(job.exportId, 'index.csv')).toContain(`${lost.recordingId},,`);
    expect((await recordings.getExport(job.exportId))?.recordings).toBe(0);
  });

  it('resumes an interrupted job after a restart', async () => {
    await record('audio');
    const job = await request();
    await recordings.patchExport(job.exportId, { status: 'running', attempts: 1 });
    const worker = exporter();
    worker.wake();
    await worker.idle();
    expect((await recordings.getExport(job.exportId))?.status).toBe('done');
  });

  it('fails a job after three failed mails, and frees the account', async () => {
    await record('audio');
    const job = await request();
    let attempts = 0;
    sendMail = async () => {
      attempts += 1;
      throw new ServiceError('MAIL_FAILED', 'down');
    };
    const naps: number[] = [];
    sleep = async (ms) => {
      naps.push(ms);
    };
    const worker = exporter();
    worker.wake();
    await worker.idle();
    expect(naps).toEqual([30_000, 30_000]);
    expect(attempts).toBe(6);
    expect((await recordings.getExport(job.exportId))?.status).toBe('failed');
    await request();
  });

  it('mails each recipient once, also if the mail to another one fails', async () => {
    await record('audio');
    const wrong = [1, 2, 3].map((count) => `wrong${count}@example.test`);
    const job = await request([...wrong, 'ada@example.test', 'bob@example.test']);
    sendMail = async (mail) => {
      if (mail.to.startsWith('wrong')) throw new ServiceError('MAIL_FAILED', '550');
      mails.push(mail);
    };
    const worker = exporter();
    worker.wake();
    await worker.idle();
    expect(mails.map(({ to }) => to)).toEqual(['ada@example.test', 'bob@example.test']);
    expect((await recordings.getExport(job.exportId))?.status).toBe('failed');
  });

  it('continues a job after the database failed for a moment', async () => {
    await record('audio');
    const { exportId } = await request(['ada@example.test']);
    const patch = recordings.patchExport.bind(recordings);
    let failures = 2;
    recordings.patchExport = async (...given) => {
      failures -= 1;
      if (failures >= 0) throw new ServiceError('STORE_BUSY', 'the database is away');
      return patch(...given);
    };
    const exports = exporter();
    exports.wake();
    await exports.idle();
    expect(await recordings.getExport(exportId)).toMatchObject({ status: 'done' });
    expect(mails).toHaveLength(1);
  });

  it('stop cancels the wait for a retry and keeps the job for the next start', async () => {
    await record('audio');
    const job = await request();
    sendMail = () => Promise.reject(new ServiceError('MAIL_FAILED', 'down'));
    const worker = exporter();
    const waiting = new Promise<void>((resolve) => {
      sleep = (_ms, signal) => {
        resolve();
        return new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        );
      };
    });
    worker.wake();
    await waiting;
    await worker.stop();
    expect((await recordings.getExport(job.exportId))?.status).toBe('running');
  });

  it('fails with ARCHIVE_FAILED and leaves no partial file if the archive cannot be written', async () => {
    const recording = await record('audio');
    const target = join(folder, 'exports', 'x.zip');
    async function* broken() {
      yield { ...recording, status: 'ready' as const };
      throw new Error('store is gone');
    }
    const failed = writeArchive({
      walk: broken,
      recordingsFolder: join(folder, 'recordings'),
      target,
    });
    await expect(failed).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
    expect(readdirSync(join(folder, 'exports'))).toEqual([]);
  });

  it('fails without ending the process if the disk is full while recordings are still being added', async () => {
    const recording = await record('audio');
    const target = join(folder, 'exports', 'x.zip');
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync('/dev/full', `${target}.part`);
    let isOver = false;
    const failed = writeArchive({
      async *walk() {
        // Longer than the file needs to fail.
        while (!isOver) {
          await nextTurn();
          yield { ...recording, status: 'ready' as const };
        }
      },
      recordingsFolder: join(folder, 'recordings'),
      target,
    });
    await expect(failed).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
    isOver = true;
  });

  it.each([
    ['the list of recordings', true],
    ['a download from object storage', false],
  ])('fails without ending the process if %s breaks off', async (_name, breaksIndex) => {
    const recording = { ...(await record(undefined)), status: 'ready' as const };
    let walks = 0;
    const failed = writeArchive({
      async *walk() {
        walks += 1;
        if (breaksIndex && walks === 2) throw new Error('store is gone');
        yield recording;
      },
      recordingsFolder: join(folder, 'recordings'),
      elsewhere: {
        keyOf: (file) => file,
        objects: {
          put: async () => undefined,
          remove: async () => undefined,
          size: async () => 100,
          get: async () => ({
            bytes: 100,
            totalBytes: 100,
            body: Readable.from(
              (async function* () {
                yield Buffer.alloc(breaksIndex ? 100 : 10);
                if (!breaksIndex) throw new Error('connection lost');
              })(),
            ),
          }),
        },
      },
      target: join(folder, 'exports', 'x.zip'),
    });
    await expect(failed).rejects.toMatchObject({ code: 'ARCHIVE_FAILED' });
    expect(readdirSync(join(folder, 'exports'))).toEqual([]);
  });

  it('stop cancels a running archive and closes its files; the next start repeats it', async () => {
    const recording = await record('x'.repeat(4_000_000), 'wav');
    const job = await request();
    const path = join(folder, 'recordings', recording.file);
    const isOpen = () =>
      readdirSync('/proc/self/fd').some((name) => {
        try {
          return readlinkSync(join('/proc/self/fd', name)) === path;
        } catch {
          return false; // closed in the meantime
        }
      });
    const { walk } = recordings;
    // Never ends, so that only a cancellation ends the archive.
    recordings.walk = async function* (filter) {
      yield* walk.call(recordings, filter);
      for (;;) {
        await nextTurn();
        yield* walk.call(recordings, filter);
      }
    };
    const worker = exporter();
    worker.wake();
    while (!isOpen()) await nextTurn();
    await worker.stop();
    while (isOpen()) await nextTurn();
    expect(readdirSync(join(folder, 'exports'))).toEqual([]);
    const stopped = await recordings.getExport(job.exportId);
    expect(stopped).toMatchObject({ status: 'running', attempts: 0 });
    recordings.walk = walk;
    const next = exporter();
    next.wake();
    await next.idle();
    expect((await recordings.getExport(job.exportId))?.status).toBe('done');
  });

  it('deletes archives with expired links', async () => {
    mkdirSync(join(folder, 'exports'), { recursive: true });
    const old = join(folder, 'exports', 'old.zip');
    const fresh = join(folder, 'exports', 'fresh.zip');
    const nowS = opened.clock.wallMs() / 1000;
    writeFileSync(old, '');
    utimesSync(old, nowS, nowS - 9 * 86_400);
    writeFileSync(fresh, '');
    utimesSync(fresh, nowS, nowS - 3 * 86_400);
    const worker = exporter();
    worker.wake();
    await worker.idle();
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
  });
});
