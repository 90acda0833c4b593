import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isEmail } from '../../../src/base/email.ts';
import { asAccountId, asCallUuid, asRecordingId } from '../../../src/base/ids.ts';
import {
  type ExportRequest,
  opensPath,
  Recordings,
  signPath,
} from '../../../src/domain/recording/recording.ts';
import { durationWindow } from '../../../src/domain/recording/storage-duration.ts';
import type { Recording } from '../../../src/domain/recording/types.ts';
import { PENDING_CHARGES } from '../../../src/edge/store/sql/stored-recording.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { anAccount, START_US } from '../../edge/store/records.ts';

const ACCOUNT = anAccount().authId;
const DAY_US = 86_400_000_000;
const DAY_MS = 86_400_000;

let opened: OpenedStore;
let recordings: Recordings;
let removed: string[];
/** IDs of recordings whose files cannot be deleted. */
let undeletable: Set<string>;
beforeEach(async () => {
  opened = await openInMemory();
  removed = [];
  undeletable = new Set();
  await opened.store.accounts.create(anAccount(), 't');
  recordings = new Recordings({
    recordings: opened.store.recordings,
    exports: opened.store.exports,
    files: {
      remove: (file) => {
        if ([...undeletable].some((recordingId) => file.includes(recordingId)))
          return Promise.reject(new Error('EACCES'));
        removed.push(file);
        return Promise.resolve();
      },
    },
    clock: opened.clock,
    random: opened.random,
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  return opened.store.close();
});

async function record(over: object = {}): Promise<string> {
  const { recordingId } = await recordings.begin({
    accountId: ACCOUNT,
    callUuid: asCallUuid('c1'),
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: '14155550100',
    toNumber: '14155550101',
    format: 'mp3',
    type: 'call',
    ...over,
  });
  await recordings.finish(recordingId, { status: 'ready', bytes: 10, durationMs: 1000 });
  return recordingId;
}

describe('recordings', () => {
  it('are finished once, together with their notification in one transaction', async () => {
    const notice = {
      accountId: ACCOUNT,
      subject: 'c1',
      event: 'RecordStop',
      target: { url: 'https://app.test/file', method: 'POST' },
      parameters: [['Event', 'RecordStop']],
    } as const;
    const { recordingId } = await recordings.begin({
      accountId: ACCOUNT,
      callUuid: asCallUuid('c1'),
      conferenceName: undefined,
      conferenceUuid: undefined,
      fromNumber: '',
      toNumber: '',
      format: 'wav',
      type: 'call',
      pendingCharges: { currency: 'USD', notice },
    });
    const [begun] = await recordings.interrupted();
    expect(begun?.pendingCharges).toEqual({ currency: 'USD', notice });
    await recordings.ended(begun as Recording, { reason: 'FinishedOnKey', digits: '#' });
    const [ended] = await recordings.interrupted();
    const end = { reason: 'FinishedOnKey', digits: '#' };
    expect(ended?.pendingCharges).toEqual({ currency: 'USD', notice, end });
    const notification = { ...notice, id: recordingId, createdUs: START_US, attempts: 0 };
    const finish = () => recordings.finish(recordingId, { status: 'ready' }, notification);
    expect(await finish()).toMatchObject({ status: 'ready', pendingCharges: undefined });
    expect(await opened.store.notifications.listPending(10)).toEqual([notification]);
    await opened.store.notifications.remove(recordingId);
    expect(await finish()).toBeUndefined();
    expect(await opened.store.notifications.listPending(10)).toEqual([]);
  });

  it('left unfinished are listed after a restart, oldest first', async () => {
    const begun = {
      accountId: ACCOUNT,
      callUuid: asCallUuid('c1'),
      conferenceName: undefined,
      conferenceUuid: undefined,
      fromNumber: '14155550100',
      toNumber: '14155550101',
      format: 'mp3',
      type: 'call',
    } as const;
    const first = await recordings.begin(begun);
    await record();
    await opened.clock.advance(1000);
    const second = await recordings.begin(begun);
    const failed = await recordings.begin(begun);
    await recordings.finish(failed.recordingId, { status: 'failed' });
    expect(await recordings.interrupted()).toEqual([first, second]);
  });

  it('are available to their account once ready', async () => {
    const { recordingId, file } = await recordings.begin({
      accountId: ACCOUNT,
      callUuid: undefined,
      conferenceName: 'room',
      conferenceUuid: 'u',
      fromNumber: '',
      toNumber: '',
      format: 'wav',
      type: 'conference',
    });
    expect(file).toBe(`${ACCOUNT}/${recordingId}.wav`);
    expect((await recordings.get(ACCOUNT, recordingId)).ok).toBe(false);
    await recordings.finish(recordingId, { status: 'ready' });
    expect((await recordings.get(ACCOUNT, recordingId)).ok).toBe(true);
    expect((await recordings.get(asAccountId('MA_OTHER'), recordingId)).ok).toBe(false);
  });

  it('are deleted with their file', async () => {
    const recordingId = await record();
    expect((await recordings.remove(asAccountId('MA_OTHER'), asRecordingId(recordingId))).ok).toBe(
      false,
    );
    expect((await recordings.remove(ACCOUNT, asRecordingId(recordingId))).ok).toBe(true);
    expect(removed).toEqual([`${ACCOUNT}/${recordingId}.mp3`]);
    expect((await recordings.get(ACCOUNT, asRecordingId(recordingId))).ok).toBe(false);
  });

  it("expire after the account's retention, or the default", async () => {
    await record();
    await opened.clock.advance(31 * DAY_MS);
    const retained = await record();
    expect(await recordings.expire(30 * DAY_MS)).toBe(1);
    const left = await recordings.list({ accountId: ACCOUNT }, { limit: 20, offset: 0 });
    expect(left.items.map((item) => item.recordingId)).toEqual([retained]);
  });

  it('expire although another recording cannot be deleted', async () => {
    const kept = await record();
    for (let count = 0; count < 250; count += 1) await record();
    await opened.clock.advance(31 * DAY_MS);
    undeletable.add(kept);
    await expect(recordings.expire(30 * DAY_MS)).rejects.toThrow('EACCES');
    const left = await recordings.list({ accountId: ACCOUNT }, { limit: 20, offset: 0 });
    expect(left.items.map((item) => item.recordingId)).toEqual([kept]);
    undeletable.clear();
    expect(await recordings.expire(30 * DAY_MS)).toBe(1);
  });

  it('expire although no file of the oldest batch can be deleted', async () => {
    for (let count = 0; count < 200; count += 1) undeletable.add(await record());
    await opened.clock.advance(1000);
    const later = await record();
    await opened.clock.advance(31 * DAY_MS);
    await expect(recordings.expire(30 * DAY_MS)).rejects.toThrow('EACCES');
    expect(removed).toEqual([`${ACCOUNT}/${later}.mp3`]);
  });

  it('expire although no record of the oldest batch can be read', async () => {
    const pendingCharges = { currency: 'USD', rate: undefined, notice: undefined, end: undefined };
    const read = await opened.store.recordings.get(asRecordingId(await record()));
    for (let count = 0; count < 200; count += 1) {
      const recordingId = asRecordingId(`unreadable-${count}`);
      const recording = { ...read, recordingId, pendingCharges } as Recording;
      await opened.store.recordings.insert(recording);
    }
    await opened.clock.advance(1000);
    await record();
    await opened.clock.advance(31 * DAY_MS);
    vi.spyOn(PENDING_CHARGES, 'read').mockImplementation(() => {
      throw new Error('this is not JSON');
    });
    expect(await recordings.expire(30 * DAY_MS)).toBe(2);
  });

  it('are walked oldest first with filters', async () => {
    const first = await record();
    await record({ fromNumber: '1' });
    await opened.clock.advance(1000);
    const last = await record();
    const walked: string[] = [];
    for await (const item of recordings.walk({ accountId: ACCOUNT, fromNumber: '14155550100' })) {
      walked.push(item.recordingId);
    }
    expect(walked).toEqual([first, last]);
  });
});

const request = (over: Partial<ExportRequest> = {}): ExportRequest => ({
  accountId: ACCOUNT,
  recipients: ['ops@example.test'],
  storageDuration: {},
  ...over,
});

describe('export of recordings', () => {
  it('covers the last 7 days by default (Export, from, to)', async () => {
    const job = await recordings.requestExport(request());
    expect(job).toMatchObject({
      value: {
        status: 'queued',
        filter: { addedFromUs: START_US - 7 * DAY_US, addedToUs: START_US },
      },
    });
  });

  it.each<[string, Partial<ExportRequest>]>([
    [
      'dates with a storage duration',
      { from: '2025-12-01 00:00:00', storageDuration: { exact: '3' } },
    ],
    ['both __gt and __gte', { storageDuration: { gt: '1', gte: '1', lte: '5' } }],
    ['both __lt and __lte', { storageDuration: { gte: '1', lt: '5', lte: '5' } }],
    ['__gte without its counterpart', { storageDuration: { gte: '3' } }],
    ['__lte without its counterpart', { storageDuration: { lte: '3' } }],
    ['a date range over 366 days', { from: '2024-01-01 00:00:00', to: '2025-06-01 00:00:00' }],
    ['a storage-duration range over 30 days', { storageDuration: { gte: '1', lte: '32' } }],
    ['a storage duration without end', { storageDuration: { gt: '1' } }],
    ['an invalid email format', { recipients: ['ops@example.test', 'nobody'] }],
    ['no recipient', { recipients: [] }],
    ['a date of another form', { from: '2025-12-01' }],
    ['a day that does not exist', { from: '2025-02-30 00:00:00', to: '2025-03-03 00:00:00' }],
    [
      'a window that ends before it begins',
      { from: '2025-12-02 00:00:00', to: '2025-12-01 00:00:00' },
    ],
    ['a format other than mp3 and wav', { format: 'ogg' }],
    ['a number of days that is none', { storageDuration: { exact: 'three' } }],
  ])('refuses %s (Errors, export validation)', async (_, over) => {
    const refused = await recordings.requestExport(request(over));
    expect(refused).toMatchObject({ ok: false, error: { kind: 'invalidExport' } });
  });

  it('applies additional filters to ranges of 30 days or less (Limits)', async () => {
    const short = await recordings.requestExport(request({ fromNumber: '1' }));
    expect(short.ok && short.value.filter.fromNumber).toBe('1');
    if (short.ok) await recordings.patchExport(short.value.exportId, { status: 'done' });
    const long = await recordings.requestExport(
      request({ fromNumber: '1', from: '2025-10-01 00:00:00' }),
    );
    expect(long.ok && long.value.filter.fromNumber).toBeUndefined();
  });

  it('runs one at a time per account; the next after its end (Limits, concurrent exports)', async () => {
    const first = await recordings.requestExport(request());
    expect(await recordings.requestExport(request())).toEqual({
      ok: false,
      error: { kind: 'exportRunning' },
    });
    if (first.ok) await recordings.patchExport(first.value.exportId, { status: 'failed' });
    expect((await recordings.requestExport(request())).ok).toBe(true);
  });

  it('keeps a queued or running job across a restart', async () => {
    const job = await recordings.requestExport(request());
    if (!job.ok) throw new Error(job.error.kind);
    await recordings.patchExport(job.value.exportId, { status: 'running', attempts: 1 });
    expect(await recordings.takeExport()).toMatchObject({
      exportId: job.value.exportId,
      status: 'running',
      attempts: 1,
    });
  });

  it.each([
    [{ exact: '0' }, 0, 0],
    [{ exact: '3' }, 3, 3],
    [{ gte: '2', lte: '4' }, 2, 4],
    [{ gt: '2', lt: '4' }, 3, 3],
    [{ lt: '5' }, 0, 4],
  ])('%j selects recordings from %d to %d days old', (filters, youngest, oldest) => {
    const window = durationWindow(filters, 100 * DAY_US);
    if (!window.ok) throw new Error(window.error);
    const within = (ageUs: number): boolean => {
      const addedUs = 100 * DAY_US - ageUs;
      return addedUs >= window.value.fromUs && addedUs <= window.value.toUs;
    };
    expect(within(youngest * DAY_US)).toBe(true);
    expect(within(youngest * DAY_US - 1)).toBe(false);
    expect(within((oldest + 1) * DAY_US - 1)).toBe(true);
    expect(within((oldest + 1) * DAY_US)).toBe(false);
  });

  it.each(['a@b.co', 'first.last+tag@sub.example.org', "o'neil@example.test"])(
    'accepts the address %s',
    (text) => {
      expect(isEmail(text)).toBe(true);
    },
  );
  it.each(['a', 'a@b', '@b.co', 'a b@c.de', 'a@-b.co', 'a..b@c.de', 'a@b.co\nx@y.zz'])(
    'rejects the address %j',
    (text) => {
      expect(isEmail(text)).toBe(false);
    },
  );
});

describe('signed links', () => {
  const path = '/api/v1/Account/MA_A/Recording/1.mp3';
  const signed = new URL(`http://h${signPath('key', path, 1_000_900_000)}`);
  const link = {
    path: signed.pathname,
    exp: signed.searchParams.get('exp') ?? '',
    sig: signed.searchParams.get('sig') ?? '',
  };

  it('grant access to their path until they expire, without credentials', () => {
    expect(opensPath('key', link, 1_000_999_999)).toBe(true);
    expect(opensPath('key', link, 1_001_000_000)).toBe(false);
  });

  it('are invalid for another path, with another key, or when modified', () => {
    expect(opensPath('other', link, 0)).toBe(false);
    expect(opensPath('key', { ...link, path: '/x' }, 0)).toBe(false);
    expect(opensPath('key', { ...link, exp: '2000' }, 0)).toBe(false);
    expect(opensPath('key', { ...link, exp: '1e9' }, 0)).toBe(false);
  });
});
