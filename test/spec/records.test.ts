/** Spec: GET /cdr/{call_uuid}, recording export and its validation, signed links; dialect §3.6 and §3.7. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asCallUuid, asStreamId } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { Cdr } from '../../src/domain/cdr/types.ts';
import { createSignedLinks } from '../../src/edge/rest/links.ts';
import { aCdr, START_US } from '../edge/store/records.ts';
import { type Service, startService } from './service.ts';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

const queuedExports = async () => {
  const { recordings, account } = service;
  const filter = { accountId: account.authId, status: 'queued' as const };
  return (await recordings.listExports(filter, { limit: 10, offset: 0 })).items;
};

const uuid = (n: number): string => `7f0cf0f6-0f4b-4f0e-8f57-${String(n).padStart(12, '0')}`;

async function settle(n: number, over: Partial<Cdr> = {}): Promise<string> {
  const cdr = aCdr({ callUuid: asCallUuid(uuid(n)), accountId: service.account.authId, ...over });
  await service.store.calls.settle({ cdr, entries: [], notification: undefined });
  return cdr.callUuid;
}

describe('GET cdr/{call_uuid}', () => {
  it('separates voice and stream charges; rounded_bill_duration is in whole pulses', async () => {
    const callUuid = await settle(1, {
      streamingCost: micros(3000),
      streams: [
        {
          streamId: asStreamId(uuid(99)),
          serviceUrl: 'wss://bot.example/ws',
          audioTrack: 'inbound',
          bidirectional: true,
          contentType: 'audio/x-mulaw',
          startUs: START_US + 1_000_000,
          endUs: START_US + 45_000_000,
          connectedUs: 44_000_000,
          billedMs: 60_000,
          billedAmount: micros(3000),
          currency: 'USD',
          terminationReason: 'Connection error',
          turns: { count: 0, interruptions: 1, p50Ms: 0, p95Ms: 0 },
        },
      ],
    });
    for (const url of [`${service.root}/cdr/${callUuid}`, `/api/v1/cdr/${callUuid}`]) {
      const { status, body } = await service.get(url);
      expect(status).toBe(200);
      expect(body.success).toBe(true);
      expect(body.data).toMatchObject({
        uuid: callUuid,
        account_id: service.account.authId,
        call_direction: 'inbound',
        cost: 0.0065,
        streaming_cost: 0.003,
        total_cost: 0.0095,
        duration: 45,
        billsec: 44,
        rounded_bill_duration: 60,
        mos: 4.4,
        jitter: 1.25,
        packet_loss: 0,
        codec: 'PCMU',
        hangup_cause_name: 'Normal Hangup',
        hangup_source: 'Caller',
        hangup_disposition: 'recv_bye',
        stream_termination_reason: 'Connection error',
      });
      expect(body.data.stream_cdrs).toEqual([
        expect.objectContaining({
          billed_amount: 0.003,
          rounded_bill_duration: 60,
          duration: 44,
          stream_termination_reason: 'Connection error',
          // The bot never answered: it has no latency.
          turns: { count: 0, interruptions: 1, p50_ms: null, p95_ms: null },
        }),
      ]);
    }
  });

  it('shows a sub-account its own records, and the main account all', async () => {
    const sub = await service.addSubAccount();
    const theirs = `/api/v1/Account/${sub.authId}`;
    const own = await settle(1, { subAccount: sub.authId });
    const other = await settle(2);
    for (const url of [`${theirs}/cdr`, `${theirs}/cdr/recent`]) {
      const { body } = await service.get(url, { as: sub });
      expect(body.data.map((row: { uuid: string }) => row.uuid)).toEqual([own]);
    }
    expect((await service.get(`${theirs}/cdr/${own}`, { as: sub })).status).toBe(200);
    expect((await service.get(`${theirs}/cdr/${other}`, { as: sub })).status).toBe(404);
    expect((await service.get(`/api/v1/cdr/${other}`, { as: sub })).status).toBe(404);
    expect((await service.get(`${theirs}/Call/${other}/`, { as: sub })).status).toBe(404);
    expect((await service.get(`${service.root}/cdr`)).body.pagination.total).toBe(2);
    const slice = await service.get(`${service.root}/cdr?sub_account=${sub.authId}`);
    expect([slice.body.pagination.total, slice.body.summary.totalCalls]).toEqual([1, 1]);
  });

  it('has no answer_time, no cost and billsec 0 for an unanswered call', async () => {
    const callUuid = await settle(1, {
      answerUs: undefined,
      billedMs: 0,
      cost: micros(0),
      quality: undefined,
      codec: undefined,
      ringUs: START_US + 2_000_000,
      hangupCauseCode: 3000,
      hangupCauseName: 'No Answer',
      failureReason: 'nobody answered',
    });
    expect((await service.get(`${service.root}/cdr/${callUuid}`)).body.data).toMatchObject({
      answer_time: null,
      billsec: 0,
      ring_time: 43,
      total_cost: 0,
      mos: null,
      failure_code: 3000,
      failure_reason: 'nobody answered',
    });
  });

  it('returns 404 for an unknown call and for one of another account', async () => {
    const callUuid = await settle(1);
    const other = await service.addAccount({ name: 'Bob' });
    expect((await service.get(`${service.root}/cdr/${uuid(2)}`)).status).toBe(404);
    const foreign = await service.get(`/api/v1/cdr/${callUuid}`, { as: other });
    expect([foreign.status, foreign.body]).toEqual([404, { error: 'call not found' }]);
  });

  it('compat.strictVobizSdk omits members that the typed client does not know', async () => {
    const strict = await startService({ settings: { strictVobizSdk: true } });
    const cdr = aCdr({ accountId: strict.account.authId });
    await strict.store.calls.settle({ cdr, entries: [], notification: undefined });
    const { body } = await strict.get(`${strict.root}/cdr/${cdr.callUuid}`);
    expect(body.data).not.toHaveProperty('stream_cdrs');
    expect(body.data).not.toHaveProperty('rounded_bill_duration');
    await strict.stop();
  });
});

describe('CDR list, search, recent and export (dialect §3.6)', () => {
  it('lists the latest first with pagination and a summary of the whole set', async () => {
    for (let n = 1; n <= 3; n += 1) await settle(n, { startUs: START_US + n });
    const { body } = await service.get(`${service.root}/cdr?per_page=2`);
    expect(body).toMatchObject({ account_id: service.account.authId, count: 2, success: true });
    expect(body.pagination).toEqual({
      page: 1,
      per_page: 2,
      total: 3,
      pages: 2,
      has_next: true,
      has_prev: false,
    });
    expect(body.summary).toMatchObject({
      totalCalls: 3,
      answeredCalls: 3,
      answerRate: 100,
      avgCallDuration: '44s',
      total_billable_seconds: 180,
      total_cost: 0.0195,
    });
  });

  it('search repeats its filters and applies them', async () => {
    await settle(1, { to: '14155550101', hangupCause: 'NO_ANSWER' });
    await settle(2, { to: '14155550102' });
    const { body } = await service.get(
      `${service.root}/cdr/search?to_number=%2B14155550101&hangup_cause=NO_ANSWER`,
    );
    expect(body.count).toBe(1);
    expect(body.filters).toEqual({ to_number: '+14155550101', hangup_cause: 'NO_ANSWER' });
  });

  it('start_date and end_date bound the start of the call; invalid ones are 400', async () => {
    await settle(1);
    const day = await service.get(`${service.root}/cdr?start_date=2026-01-01&end_date=2026-01-01`);
    expect(day.body.count).toBe(1);
    const next = await service.get(`${service.root}/cdr?start_date=2026-01-02`);
    expect([next.status, next.body.count]).toEqual([200, 0]);
    const wrong = await service.get(`${service.root}/cdr?start_date=soon`);
    expect(wrong.status).toBe(400);
    expect(wrong.body.details).toHaveProperty('start_date');
  });

  it('recent lists the latest without a summary', async () => {
    for (let n = 1; n <= 3; n += 1) await settle(n);
    const { body } = await service.get(`${service.root}/cdr/recent?limit=2`);
    expect(Object.keys(body).sort()).toEqual(['account_id', 'count', 'data', 'success']);
    expect(body.count).toBe(2);
  });

  it('export is CSV (RFC 4180) with formulas defused', async () => {
    await settle(1, { callerName: '=HYPERLINK("http://x","y")', from: '+14155550100' });
    const reply = await service.get(`${service.root}/cdr/export`);
    expect(reply.headers['content-type']).toContain('text/csv');
    const lines = reply.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^uuid,call_direction,/);
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://x"",""y"")"`);
    expect(lines[1]).toContain(',+14155550100,');
  });
});

async function record(audio = 'audio bytes', subAccount?: AccountId) {
  const recording = await service.recordings.begin({
    accountId: service.account.authId,
    subAccount,
    callUuid: asCallUuid(uuid(1)),
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: '14155550100',
    toNumber: '14155550101',
    format: 'mp3',
    type: 'call',
  });
  const path = join(service.settings.recordingsFolder, recording.file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, audio);
  await service.recordings.finish(recording.recordingId, {
    status: 'ready',
    durationMs: 10_080,
    bytes: audio.length,
    endUs: START_US + 10_080_000,
  });
  return recording;
}

describe('recordings (dialect §3.7)', () => {
  it('opens and deletes a recording whose ID is in capital letters', async () => {
    const { recordingId } = await record();
    const url = `${service.root}/Recording/${recordingId.toUpperCase()}`;
    expect((await service.get(`${url}/`)).status).toBe(200);
    expect((await service.get(`${url}.mp3`)).status).toBe(200);
    expect((await service.send('DELETE', `${url}/`)).status).toBe(204);
  });

  it('lists and gets; milliseconds are text with five decimals', async () => {
    const { recordingId } = await record();
    const list = await service.get(`${service.root}/Recording/?call_uuid=${uuid(1).toUpperCase()}`);
    expect(list.body.meta.total_count).toBe(1);
    const one = await service.get(`${service.root}/Recording/${recordingId}/`);
    expect(one.body).toMatchObject({
      recording_id: recordingId,
      recording_duration_ms: '10080.00000',
      recording_start_ms: '1767225600000.00000',
      add_time: '2026-01-01 00:00:00.000000+00:00',
      recording_format: 'mp3',
      rounded_recording_duration: 60,
      recording_url: `http://voice.test${service.root}/Recording/${recordingId}.mp3`,
    });
  });

  it('filters by add_time and by days of storage', async () => {
    await record();
    const count = async (query: string) =>
      (await service.get(`${service.root}/Recording/?${query}`)).body.meta.total_count;
    const start = encodeURIComponent('2026-01-01T00:00:00.000000Z');
    expect(await count(`add_time__gte=${start}`)).toBe(1);
    expect(await count(`add_time__gt=${start}`)).toBe(0);
    expect(await count(`add_time__lt=${start}`)).toBe(0);
    expect(await count('recording_storage_duration=0')).toBe(1);
    expect(await count('recording_storage_duration=1')).toBe(0);
  });

  it('404 in the shape Recording not found; DELETE 204', async () => {
    const { recordingId } = await record();
    const url = `${service.root}/Recording/${recordingId}/`;
    expect((await service.send('DELETE', url)).status).toBe(204);
    const gone = await service.get(url);
    expect(gone.status).toBe(404);
    expect(gone.body).toMatchObject({ api_id: expect.any(String), error: 'Recording not found' });
  });

  it('DELETE Recording/BulkDelete/ deletes the recordings that match the query or body', async () => {
    const first = await record();
    await record();
    const url = `${service.root}/Recording/BulkDelete/`;
    expect((await service.send('DELETE', url)).status).toBe(400);
    expect((await service.send('DELETE', `${url}?limit=1`)).status).toBe(400);
    const none = await service.send('DELETE', `${url}?recording_format=wav`);
    expect(none.body).toMatchObject({ message: 'deleted', deleted: 0 });
    const one = await service.send('DELETE', url, { body: { recording_id: first.recordingId } });
    expect([one.status, one.body.deleted]).toEqual([200, 1]);
    const rest = await service.send('DELETE', `${url}?call_uuid=${uuid(1)}`);
    expect(rest.body.deleted).toBe(1);
    expect((await service.get(`${service.root}/Recording/`)).body.meta.total_count).toBe(0);
  });

  it('DELETE Recording/BulkDelete/ selects recordings by their days of storage', async () => {
    await record();
    const url = `${service.root}/Recording/BulkDelete/`;
    const deleted = async (query: string) =>
      (await service.send('DELETE', `${url}?recording_storage_duration__${query}`)).body.deleted;
    expect(await deleted('gte=1')).toBe(0);
    await service.clock.advance(2 * 86_400_000);
    expect(await deleted('lte=1')).toBe(0);
    expect(await deleted('gte=2')).toBe(1);
  });

  it('a sub-account lists, opens and deletes only recordings of its own calls', async () => {
    const sub = await service.addSubAccount();
    const theirs = `/api/v1/Account/${sub.authId}/Recording/`;
    const others = await record();
    const own = await record('their words', sub.authId);
    const list = await service.get(theirs, { as: sub });
    expect(list.body.objects).toMatchObject([
      {
        recording_id: own.recordingId,
        recording_url: `http://voice.test${theirs}${own.recordingId}.mp3`,
      },
    ]);
    const read = (id: string) => service.get(`${theirs}${id}.mp3`, { as: sub });
    expect((await read(own.recordingId)).text).toBe('their words');
    expect((await read(others.recordingId)).status).toBe(404);
    const bulk = await service.send('DELETE', `${theirs}BulkDelete/?call_uuid=${uuid(1)}`, {
      as: sub,
    });
    expect(bulk.body.deleted).toBe(1);
    expect((await service.get(`${service.root}/Recording/`)).body.meta.total_count).toBe(1);
  });

  it('requires credentials or a short-lived signed link for the file', async () => {
    const recording = await record();
    const url = `${service.root}/Recording/${recording.recordingId}.mp3`;
    expect((await service.get(url)).text).toBe('audio bytes');
    expect((await service.get(url, { as: null })).status).toBe(401);

    const link = createSignedLinks(service.settings, service.clock).toRecording(recording);
    const path = link.replace('http://voice.test', '');
    const opened = await service.get(path, { as: null });
    expect([opened.status, opened.text]).toEqual([200, 'audio bytes']);
    expect(opened.headers['content-type']).toBe('audio/mpeg');

    const tampered = path.replace(/exp=\d+/, 'exp=9999999999');
    expect((await service.get(tampered, { as: null })).status).toBe(401);
    await service.clock.advance(901_000);
    expect((await service.get(path, { as: null })).status).toBe(401);
  });

  it('restricts a signed link to its file', async () => {
    const first = await record();
    const second = await record('other');
    const link = createSignedLinks(service.settings, service.clock).toRecording(first);
    const path = link
      .replace('http://voice.test', '')
      .replace(first.recordingId, second.recordingId);
    expect((await service.get(path, { as: null })).status).toBe(401);
  });

  it.each([
    ['bytes=0-4', 206, 'audio', 'bytes 0-4/11'],
    ['bytes=6-', 206, 'bytes', 'bytes 6-10/11'],
    ['bytes=-5', 206, 'bytes', 'bytes 6-10/11'],
    ['bytes=99-', 416, undefined, 'bytes */11'],
    ['lines=1-2', 200, 'audio bytes', undefined],
    ['bytes=0-1,3-4', 200, 'audio bytes', undefined],
  ])('serves the range that a player requests: %s', async (range, status, text, contentRange) => {
    const { recordingId } = await record();
    const reply = await service.get(`${service.root}/Recording/${recordingId}.mp3`, {
      headers: { range },
    });
    expect(reply.status).toBe(status);
    if (text !== undefined) expect(reply.text).toBe(text);
    expect(reply.headers['content-range']).toBe(contentRange);
  });

  it('hides another account’s recording and refuses a wrong extension', async () => {
    const { recordingId } = await record();
    const other = await service.addAccount({ name: 'Bob' });
    const foreign = `/api/v1/Account/${other.authId}/Recording/${recordingId}.mp3`;
    expect((await service.get(foreign, { as: other })).status).toBe(404);
    expect((await service.get(`${service.root}/Recording/${recordingId}.wav`)).status).toBe(404);
  });
});

describe('POST export/recording', () => {
  const recipient = { customer_account: ['ada@example.test'] };
  const request = (body: object) =>
    service.post(`${service.root}/export/recording/`, { recipient, ...body });

  it('returns 202 with api_id and status success', async () => {
    const { status, body } = await request({});
    expect(status).toBe(202);
    expect(body).toEqual({ api_id: expect.any(String), status: 'success' });
    const [job] = await queuedExports();
    expect(job).toMatchObject({
      accountId: service.account.authId,
      recipients: ['ada@example.test'],
    });
  });

  it('returns 403 with status failure while another export of the account runs', async () => {
    await request({});
    const { status, body } = await request({});
    expect(status).toBe(403);
    expect(body).toEqual({
      api_id: expect.any(String),
      status: 'failure',
      message: 'an export is already in process for this account',
    });
    const other = await service.addAccount({ name: 'Bob' });
    const theirs = await service.post(
      `/api/v1/Account/${other.authId}/export/recording/`,
      { recipient },
      { as: other },
    );
    expect(theirs.status).toBe(202);
  });

  it.each([
    [
      'from/to with a storage-duration filter',
      { from: '2026-01-01 00:00:00', recording_storage_duration: '3' },
    ],
    [
      'both __gt and __gte',
      { recording_storage_duration__gt: '1', recording_storage_duration__gte: '1' },
    ],
    [
      'both __lt and __lte',
      { recording_storage_duration__lt: '9', recording_storage_duration__lte: '9' },
    ],
    ['__gte without its counterpart', { recording_storage_duration__gte: '1' }],
    ['__lte without its counterpart', { recording_storage_duration__lte: '9' }],
    ['a date range over 366 days', { from: '2024-01-01 00:00:00', to: '2026-01-01 00:00:00' }],
    [
      'a storage-duration range over 30 days',
      { recording_storage_duration__gte: '1', recording_storage_duration__lte: '40' },
    ],
    [
      'an invalid email format',
      { recipient: { customer_account: ['ada@example.test', 'nobody'] } },
    ],
    ['no recipient', { recipient: undefined }],
    ['an empty list of recipients', { recipient: { customer_account: [] } }],
    ['a date in another format', { from: '2026-01-01' }],
    ['an unknown format', { recording_format: 'ogg' }],
  ])('returns 400 with status failure and a message: %s', async (_, body) => {
    const reply = await request(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({
      status: 'failure',
      message: expect.stringMatching(/\w{3}/),
    });
    expect(await queuedExports()).toEqual([]);
  });

  it('accepts exactly 366 days and 30 days of storage', async () => {
    const year = await request({ from: '2025-01-01 00:00:00', to: '2026-01-02 00:00:00' });
    expect(year.status).toBe(202);
  });

  it('ignores additional filters for a range above 30 days (202)', async () => {
    const reply = await request({
      from: '2025-11-01 00:00:00',
      to: '2026-01-01 00:00:00',
      from_number: '14155550100',
    });
    expect(reply.status).toBe(202);
    const [job] = await queuedExports();
    expect(job?.filter.fromNumber).toBeUndefined();
  });

  it('opens the archive with the mailed link only', async () => {
    await request({});
    const [job] = await queuedExports();
    const exportId = job?.exportId ?? '';
    mkdirSync(service.settings.exportsFolder, { recursive: true });
    writeFileSync(join(service.settings.exportsFolder, `${exportId}.zip`), 'zip bytes');
    await service.recordings.patchExport(exportId, { status: 'done', file: `${exportId}.zip` });
    const link = createSignedLinks(service.settings, service.clock)
      .toExport(service.account.authId, exportId)
      .replace('http://voice.test', '');
    const opened = await service.get(link, { as: null });
    expect([opened.status, opened.text]).toEqual([200, 'zip bytes']);
    expect(opened.headers['content-disposition']).toContain('recordings.zip');
    expect((await service.get(link.split('?')[0] ?? '', { as: null })).status).toBe(401);
  });
});
