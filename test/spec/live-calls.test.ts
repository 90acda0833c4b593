/** Dialect §1.8, §3.4 and §3.5: live calls, streams and conferences over REST. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { err, ok } from '../../src/base/result.ts';
import { aCdr } from '../edge/store/records.ts';
import { aLiveCall, aLiveStream } from './fake-control.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let calls: string;
let one: string;
const CALL = aLiveCall().callUuid;
beforeAll(async () => {
  service = await startService();
  calls = `${service.root}/Call`;
  one = `${calls}/${CALL}`;
});
afterAll(() => service.stop());
beforeEach(() => {
  const { control } = service;
  control.requested.length = 0;
  control.outcome = ok(undefined);
  control.calls = [aLiveCall({ accountId: service.account.authId })];
  control.liveStreams = [aLiveStream()];
  control.rooms = [];
});

it('refuses an invalid participant of a multi-party call before it changes the call', async () => {
  const url = `${service.root}/MultiPartyCall/name_case/Participant/`;
  const body = { role: 'agent', call_uuid: CALL };
  const wrong = [{ enter_sound: 'gong' }, { exit_sound: 'beep:99' }, { max_duration: 1e14 }];
  for (const fields of wrong) {
    const reply = await service.post(url, { ...body, ...fields });
    expect(reply.status, JSON.stringify(fields)).toBe(400);
    expect(reply.text).toContain('invalid participant');
  }
  expect(service.control.requested).toEqual([]);
  expect((await service.post(url, { ...body, max_duration: 600 })).status).toBe(201);
});

const lastRequest = () => service.control.requested.at(-1);

describe('calls', () => {
  it('POST Call/{uuid}/listen sends audio to clients that send an Idempotency-Key with every POST', async () => {
    service.control.audio = 'RIFF audio';
    const headers = { 'idempotency-key': 'listen-1' };
    for (const _attempt of ['first', 'repeated']) {
      const reply = await service.post(`${one}/listen`, undefined, { headers });
      expect([reply.status, reply.text]).toEqual([200, 'RIFF audio']);
      expect(reply.headers['content-type']).toBe('audio/wav');
    }
    service.control.audio = undefined;
  });

  it('GET Call/?status=live and queued list UUIDs, with and without the slash', async () => {
    service.control.calls.push(
      aLiveCall({
        accountId: service.account.authId,
        callUuid: asCallUuid('q-1'),
        status: 'queued',
      }),
    );
    for (const url of [`${calls}/?status=live`, `${calls}?status=live`]) {
      expect((await service.get(url)).body).toEqual({ api_id: expect.any(String), calls: [CALL] });
    }
    expect((await service.get(`${calls}/?status=queued`)).body.calls).toEqual(['q-1']);
    expect((await service.get(`${calls}/?status=dead`)).status).toBe(400);
  });

  it('GET Call/{uuid}/?status=live shows a live call; 404 in another state', async () => {
    expect((await service.get(`${one}/?status=live`)).body).toEqual({
      api_id: expect.any(String),
      call_status: 'in-progress',
      call_uuid: CALL,
      request_uuid: '',
      caller_name: 'Ada',
      direction: 'outbound',
      from: '14155550100',
      to: '14155550101',
      session_start: '2026-01-01 00:00:00.00000',
      stir_attestation: '',
      stir_verification: 'Not Applicable',
    });
    expect((await service.get(`${one}/?status=queued`)).status).toBe(404);
  });

  it('GET Call/{uuid}/ without status shows the finished call, with fields for Vobiz clients', async () => {
    const cdr = aCdr({ accountId: service.account.authId });
    await service.store.calls.settle({ cdr, entries: [], notification: undefined });
    const { body } = await service.get(`${calls}/${cdr.callUuid}/`);
    expect(body).toMatchObject({
      call_uuid: cdr.callUuid,
      bill_duration: 44,
      billed_duration: 60,
      total_amount: '0.00650',
      total_cost: 0.0065,
      status: 'completed',
      hangup_cause_code: 4000,
    });
    const list = await service.get(`${calls}/?call_direction=inbound`);
    expect(list.body.objects[0].call_uuid).toBe(cdr.callUuid);
    expect((await service.get(`${one}/`)).status).toBe(404);
  });

  it('DELETE hangs up: 204 with and without the slash, 404 after the end', async () => {
    for (const url of [`${one}/`, one]) {
      const reply = await service.send('DELETE', url);
      expect([reply.status, reply.text]).toEqual([204, '']);
    }
    service.control.outcome = err({ kind: 'notFound', what: 'call' });
    const gone = await service.send('DELETE', `${one}/`);
    expect(gone.status).toBe(404);
    expect(gone.body).toMatchObject({ api_id: expect.any(String), error: 'call not found' });
  });

  it('DELETE Request/{uuid}/ cancels queued calls', async () => {
    expect((await service.send('DELETE', `${service.root}/Request/${CALL}/`)).status).toBe(204);
    expect(lastRequest()).toEqual({ operation: 'hangup', args: [service.account.authId, CALL] });
  });

  it('POST transfers: 202; the URL of each chosen leg is required', async () => {
    const moved = await service.post(`${one}/`, { aleg_url: 'https://a.example/x' });
    expect(moved.status).toBe(202);
    expect(moved.body).toMatchObject({ message: 'call transferred', call_uuid: CALL });
    expect(lastRequest()?.args[2]).toEqual({
      legs: 'aleg',
      aleg: { url: 'https://a.example/x', method: 'POST' },
      bleg: undefined,
    });
    const both = await service.post(`${one}/`, { legs: 'both', aleg_url: 'https://a.example/x' });
    expect([both.status, Object.keys(both.body.details)]).toEqual([400, ['bleg_url']]);
  });

  it('returns 409 with the reason when an operation is not possible', async () => {
    service.control.outcome = err({ kind: 'wrongState', detail: 'the call is not answered yet' });
    const { status, body } = await service.post(`${one}/DTMF/`, { digits: '12#' });
    expect(status).toBe(409);
    expect(body.message).toBe('the call is not answered yet');
  });

  it('starts record, play, speak and digits with 202 and stops them with 204', async () => {
    const recorded = await service.post(`${one}/Record/`, { file_format: 'wav', time_limit: '30' });
    expect(recorded.status).toBe(202);
    expect(recorded.body).toMatchObject({
      message: 'call recording started',
      recording_id: 'rec-1',
      url: 'http://x/rec-1.mp3',
    });
    expect(lastRequest()?.args[2]).toEqual({
      maxMs: 30_000,
      format: 'wav',
      channels: 'stereo',
      callback: undefined,
    });
    const played = await service.post(`${one}/Play/`, {
      urls: 'https://a.example/1.mp3, https://a.example/2.wav',
      loop: 'true',
    });
    expect([played.status, played.body.message]).toEqual([202, 'play started']);
    expect(lastRequest()?.args[2]).toMatchObject({
      urls: ['https://a.example/1.mp3', 'https://a.example/2.wav'],
      loop: true,
      mix: true,
      legs: 'aleg',
    });
    const spoken = await service.post(`${one}/Speak/`, { text: 'Hello', language: 'de-DE' });
    expect([spoken.status, spoken.body.message]).toEqual([202, 'speak started']);
    const sent = await service.post(`${one}/DTMF/`, { digits: '12w#', leg: 'bleg' });
    expect([sent.status, sent.body.message]).toEqual([202, 'digits sent']);
    expect(lastRequest()?.args.slice(2)).toEqual([{ digits: '12w#', toneMs: 160 }, 'bleg']);
    for (const action of ['Record', 'Play', 'Speak']) {
      expect((await service.send('DELETE', `${one}/${action}/`)).status, action).toBe(204);
    }
  });

  it('POST Refer asks the carrier to transfer the call', async () => {
    const reply = await service.post(`${one}/Refer/`, {
      refer_to: 'tel:+1 415 555 0177',
      timeout: 20,
      callback_url: 'https://a.example/',
      callback_method: 'GET',
    });
    expect([reply.status, reply.body.message]).toEqual([202, 'refer sent']);
    expect(lastRequest()?.args[2]).toEqual({
      destination: { kind: 'number', number: '+14155550177' },
      timeoutMs: 20_000,
      callback: { url: 'https://a.example/', method: 'GET' },
    });
    await service.post(`${one}/Refer/`, { refer_to: 'sip:a@b.example' });
    expect(lastRequest()?.args[2]).toMatchObject({
      destination: { kind: 'sip', uri: 'sip:a@b.example' },
      timeoutMs: 60_000,
    });
    for (const body of [{}, { refer_to: 'sip:a@b?Replaces=x' }, { refer_to: 'mailto:a@b' }]) {
      expect((await service.post(`${one}/Refer/`, body)).status).toBe(400);
    }
  });

  it('DELETE Record accepts the recording’s ID or URL', async () => {
    const id = 'd7800000-0000-4000-8000-000000000001';
    await service.send('DELETE', `${one}/Record/`, { body: { URL: `http://x/${id}.mp3` } });
    expect(lastRequest()?.args[2]).toBe(id);
    await service.send('DELETE', `${one}/Record/?recording_id=abc`);
    expect(lastRequest()?.args[2]).toBe('abc');
  });

  it('POST Record/Pause and Record/Resume change all recordings, or one', async () => {
    const id = 'd7800000-0000-4000-8000-000000000001';
    const paused = await service.post(`${one}/Record/Pause/`, {});
    expect([paused.status, paused.body.message]).toEqual([202, 'recording paused']);
    expect(lastRequest()?.args.slice(1)).toEqual([expect.any(String), undefined, true]);
    const resumed = await service.post(`${one}/Record/Resume/`, { recording_id: id });
    expect([resumed.status, resumed.body.message]).toEqual([202, 'recording resumed']);
    expect(lastRequest()?.args.slice(2)).toEqual([id, false]);
  });

  it('GET log returns the call’s timeline', async () => {
    const { body } = await service.get(`${one}/log`);
    expect(body.log).toEqual([
      { at: '2026-01-01T00:00:00.000000Z', kind: 'xml', text: 'Speak', facts: { line: 2 } },
    ]);
  });

  it('hides calls of others from a sub-account', async () => {
    const sub = await service.addSubAccount();
    const theirs = `/api/v1/Account/${sub.authId}/Call`;
    const hangup = await service.send('DELETE', `${theirs}/${CALL}/`, { as: sub });
    expect(hangup.status).toBe(404);
    expect((await service.get(`${theirs}/?status=live`, { as: sub })).body.calls).toEqual([]);
    expect(service.control.requested).toEqual([]);
    service.control.calls = [
      aLiveCall({ accountId: service.account.authId, subAccount: sub.authId }),
    ];
    const own = await service.send('DELETE', `${theirs}/${CALL}/`, { as: sub });
    expect(own.status).toBe(204);
  });
});

describe('streams (dialect §1.8)', () => {
  const start = (body: object) => service.post(`${one}/Stream/`, body);
  const valid = { service_url: 'wss://bot.example/ws' };

  it('POST starts one: 202 with stream_id; audio_track is inbound when bidirectional, else both', async () => {
    const { status, body } = await start({
      ...valid,
      bidirectional: 'True',
      content_type: 'audio/x-mulaw;rate=8000',
      extra_headers: 'tenant=7',
    });
    expect(status).toBe(202);
    expect(body).toEqual({
      api_id: expect.any(String),
      message: 'audio streaming started',
      stream_id: aLiveStream().streamId,
    });
    expect(lastRequest()?.args[2]).toMatchObject({
      bidirectional: true,
      audioTrack: 'inbound',
      encoding: 'audio/x-mulaw',
      rate: 8000,
      timeoutMs: 86_400_000,
      extraHeaders: [['tenant', '7']],
    });
    await start(valid);
    expect(lastRequest()?.args[2]).toMatchObject({ bidirectional: false, audioTrack: 'both' });
  });

  it('POST enables audio cleaning', async () => {
    await start({ ...valid, noise_suppression: true, echo_cancellation: true, gain_control: true });
    expect(lastRequest()?.args[2]).toMatchObject({
      clean: { noise: true, echo: true, gain: true },
    });
    await start({ ...valid, noise_suppression: false });
    expect(lastRequest()?.args[2]).not.toHaveProperty('clean');
  });

  it('POST accepts the extra headers of the element', async () => {
    await start({ ...valid, extra_headers: 'tenant=7; user=alice@example.com,empty=' });
    expect(lastRequest()?.args[2]).toMatchObject({
      extraHeaders: [
        ['tenant', '7'],
        ['user', 'alice@example.com'],
        ['empty', ''],
      ],
    });
  });

  it.each([
    [{ kind: 'insecureStream' }, 400, { service_url: expect.stringContaining('wss') }],
    [{ kind: 'tooMany', limit: 1 }, 409, undefined],
  ] as const)('POST returns the reason of a refusal: %j', async (refusal, status, details) => {
    service.control.outcome = err(refusal);
    const reply = await start(valid);
    expect(reply.status).toBe(status);
    expect(reply.body.details).toEqual(details);
    expect(JSON.stringify(reply.body)).toMatch(/stream/);
  });

  it('DELETE with drain plays the bot’s remaining audio', async () => {
    const { streamId } = aLiveStream();
    for (const [path, drain] of [
      [`${streamId}/`, undefined],
      [`${streamId}/?drain=true`, true],
      ['?drain=true', true],
    ] as const) {
      expect((await service.send('DELETE', `${one}/Stream/${path}`)).status, path).toBe(204);
      expect(lastRequest()?.args[3] ?? false, path).toBe(drain ?? false);
    }
    expect((await service.send('DELETE', `${one}/Stream/?drain=maybe`)).status).toBe(400);
  });

  it.each([
    [{ service_url: 'https://bot.example' }, 'service_url'],
    [{ service_url: 'wss://bot.example:9000ws' }, 'service_url'],
    [{ ...valid, bidirectional: true, audio_track: 'both' }, 'audio_track'],
    [{ ...valid, content_type: 'audio/x-l16;rate=24000' }, 'content_type'],
    [{ ...valid, extra_headers: 'a b' }, 'extra_headers'],
    [{ ...valid, extra_headers: `a=${'x'.repeat(512)}` }, 'extra_headers'],
    [{ ...valid, stream_timeout: 0 }, 'stream_timeout'],
    [{ ...valid, noise_suppression: 'maybe' }, 'noise_suppression'],
    [{ ...valid, echo_cancellation: 'maybe' }, 'echo_cancellation'],
    [{ ...valid, gain_control: 'maybe' }, 'gain_control'],
  ])('returns 400 and names the wrong field: %j', async (body, field) => {
    const reply = await start(body);
    expect(reply.status).toBe(400);
    expect(Object.keys(reply.body.details)).toEqual([field]);
  });

  it('GET lists and shows, DELETE stops one or all: 204', async () => {
    const { streamId } = aLiveStream();
    const list = await service.get(`${one}/Stream/`);
    expect(list.body.meta).toMatchObject({ count: 1, limit: 20, offset: 0 });
    const shown = await service.get(`${one}/Stream/${streamId}/`);
    expect(shown.body).toMatchObject({
      stream_id: streamId,
      call_uuid: CALL,
      status: 'in-progress',
    });
    expect((await service.get(`${one}/Stream/nope/`)).status).toBe(404);
    expect((await service.send('DELETE', `${one}/Stream/${streamId}/`)).status).toBe(204);
    expect(lastRequest()?.args[2]).toBe(streamId);
    expect((await service.send('DELETE', `${one}/Stream/`)).status).toBe(204);
    expect(lastRequest()?.args[2]).toBeUndefined();
  });
});

describe('conferences (dialect §3.5)', () => {
  let root: string;
  beforeEach(() => {
    root = `${service.root}/Conference`;
    const member = {
      callUuid: CALL,
      from: '14155550100',
      to: '14155550101',
      callerName: '',
      direction: 'inbound' as const,
      muted: false,
      deaf: false,
      inRoomMs: 4000,
    };
    service.control.rooms = [
      {
        uuid: 'c-1',
        name: 'Room 1/a',
        runningMs: 9000,
        members: [
          { ...member, memberId: '1' },
          { ...member, memberId: '2' },
        ],
      },
    ];
  });
  const room = () => `${root}/${encodeURIComponent('Room 1/a')}`;

  it('lists names and shows a room with its members; any name fits in the path', async () => {
    expect((await service.get(`${root}/`)).body.conferences).toEqual(['Room 1/a']);
    expect((await service.get(`${room()}/`)).body).toMatchObject({
      conference_name: 'Room 1/a',
      conference_member_count: '2',
      conference_run_time: '9',
      members: [{ member_id: '1' }, { member_id: '2' }],
    });
    expect((await service.get(`${root}/nope/`)).status).toBe(404);
  });

  it.each([
    ['POST', 'Mute/', 'muted', 'mute'],
    ['DELETE', 'Mute/', 'unmuted', 'unmute'],
    ['POST', 'Deaf/', 'deaf', 'deaf'],
    ['DELETE', 'Deaf/', 'undeaf', 'undeaf'],
    ['POST', 'Kick/', 'kicked', 'kick'],
    ['DELETE', '', 'hangup', 'hangup'],
  ] as const)('%s Member/{id}/%s answers %s', async (method, word, message, kind) => {
    const single = await service.send(method, `${room()}/Member/1/${word}`);
    expect(single.status).toBe(202);
    expect(single.body).toEqual({ api_id: expect.any(String), message, member_id: '1' });
    expect(lastRequest()?.args).toEqual(['Room 1/a', ['1'], { kind }]);
  });

  it('answers several members or all as a list', async () => {
    const several = await service.post(`${room()}/Member/1,2/Mute/`, {});
    expect(several.body.member_id).toEqual(['1', '2']);
    const all = await service.post(`${room()}/Member/all/Mute/`, {});
    expect(all.body.member_id).toEqual(['1', '2']);
    expect(lastRequest()?.args[1]).toBe('all');
  });

  it('plays and speaks to members, records the room, and ends it', async () => {
    const played = await service.post(`${room()}/Member/1/Play/`, {
      url: 'https://a.example/x.mp3',
    });
    expect(played.status).toBe(202);
    expect((await service.post(`${room()}/Member/1/Play/`, {})).status).toBe(400);
    const spoken = await service.post(`${room()}/Member/all/Speak/`, { text: 'Hello' });
    expect(spoken.status).toBe(202);
    const recorded = await service.post(`${room()}/Record/`, {});
    expect(recorded.body).toMatchObject({ message: 'conference recording started' });
    for (const url of [`${room()}/Record/`, `${room()}/`, `${root}/`]) {
      expect((await service.send('DELETE', url)).status, url).toBe(204);
    }
  });
});
