/** Runs Plivo's client for Node against this service, with another base URL (dialect §0.2). */

import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import plivo from 'plivo';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { ok } from '../../../src/base/result.ts';
import { aLiveCall, REQUEST_UUID } from '../../spec/fake-control.ts';
import { type Service, startService } from '../../spec/service.ts';
import { aCdr } from '../store/records.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client's own types lag behind its methods
type PlivoClient = any;

let service: Service;
let client: PlivoClient;
const CALL = aLiveCall().callUuid;
const APPLICATION = { answerUrl: 'https://a.example/answer' };

/**
 * The client has a fixed host for voice requests. Users redirect it by DNS; this test replaces `https://api.plivo.com` in its
 * HTTP library.
 */
const { default: axios } = createRequire(createRequire(import.meta.url).resolve('plivo'))('axios');
const adapter = axios.defaults.adapter;
function pointTo(url: string): void {
  const send = axios.getAdapter('http');
  axios.defaults.adapter = (config: { url: string }) =>
    send({ ...config, url: config.url.replace('https://api.plivo.com', url) });
}
const clientFor = (authId: string, authToken: string): PlivoClient =>
  new (plivo.Client as unknown as new (...args: unknown[]) => PlivoClient)(authId, authToken);

beforeAll(async () => {
  // Silences the client, which prints its requests.
  vi.spyOn(console, 'log').mockReturnValue();
  service = await startService();
  pointTo((await service.server.start()).url);
  client = clientFor(service.account.authId, service.account.authToken);
});
afterAll(() => {
  vi.restoreAllMocks();
  axios.defaults.adapter = adapter;
  return service.stop();
});
beforeEach(() => {
  service.control.calls = [aLiveCall({ accountId: asAccountId(service.account.authId) })];
  service.control.outcome = ok(undefined);
});

describe('plivo-node', () => {
  it('reads the account', async () => {
    expect(await client.accounts.get()).toMatchObject({ name: 'Ada', accountType: 'standard' });
  });

  it('creates, reads, updates, lists and deletes applications', async () => {
    const made = await client.applications.create('demo', APPLICATION);
    expect(made.message).toBe('created');
    const one = await client.applications.get(made.appId);
    expect(one).toMatchObject({ appName: 'demo', answerUrl: APPLICATION.answerUrl });
    expect((await client.applications.update(made.appId, { answerMethod: 'GET' })).message).toBe(
      'changed',
    );
    const list = await client.applications.list({ limit: 5 });
    expect(list.map((item: { appId: string }) => item.appId)).toContain(made.appId);
    await client.applications.delete(made.appId, { cascade: true });
    await expect(client.applications.get(made.appId)).rejects.toMatchObject({ status: 404 });
  });

  it('creates, reads, updates, lists and deletes endpoints', async () => {
    const app = await client.applications.create('demo2', APPLICATION);
    const made = await client.endpoints.create('bob', 'longenough', 'bob-1', app.appId);
    expect(made.username).toMatch(/^bob\d+$/);
    const one = await client.endpoints.get(made.endpointId);
    expect(one).toMatchObject({
      alias: 'bob-1',
      application: `/v1/Account/${service.account.authId}/Application/${app.appId}/`,
    });
    await client.endpoints.update(made.endpointId, { alias: 'bob-2' });
    const list = await client.endpoints.list();
    expect(list.map((item: { alias: string }) => item.alias)).toContain('bob-2');
    await client.endpoints.delete(made.endpointId);
  });

  it('reports a refused field as error 400', async () => {
    await expect(
      client.endpoints.create('not valid', 'longenough', 'x', undefined),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('places calls and reads live, queued and finished ones', async () => {
    const placed = await client.calls.create('14155550100', '14155550101', APPLICATION.answerUrl, {
      timeLimit: 60,
      machineDetection: 'true',
    });
    expect(placed.requestUuid).toBe(REQUEST_UUID);
    expect(service.control.lastPlaced).toMatchObject({ timeLimitMs: 60_000 });
    const live: { callUuid: string }[] = await client.calls.listLiveCalls();
    expect(live.map(({ callUuid }) => callUuid)).toEqual([CALL]);
    expect((await client.calls.getLiveCall(CALL)).callUuid).toBe(CALL);
    expect(await client.calls.listQueuedCalls()).toEqual([]);
    const cdr = aCdr({ accountId: asAccountId(service.account.authId) });
    await service.store.calls.settle({ cdr, entries: [], notification: undefined });
    expect(await client.calls.get(cdr.callUuid)).toMatchObject({
      billedDuration: 60,
      totalAmount: '0.00650',
    });
  });

  it('controls a live call', async () => {
    const moved = await client.calls.transfer(CALL, {
      legs: 'aleg',
      alegUrl: 'https://a.example/x',
    });
    expect(moved.message).toContain('transfer');
    expect((await client.calls.record(CALL, { timeLimit: 10 })).recordingId).toBe('rec-1');
    await client.calls.stopRecording(CALL);
    const played = await client.calls.playMusic(CALL, 'https://a.example/x.mp3');
    expect(played.message).toBe('play started');
    await client.calls.stopPlayingMusic(CALL);
    expect((await client.calls.speakText(CALL, 'Hello')).message).toBe('speak started');
    await client.calls.stopSpeakingText(CALL);
    expect((await client.calls.sendDigits(CALL, '12#')).message).toBe('digits sent');
    await client.calls.hangup(CALL);
    expect(service.control.requested.at(-1)?.operation).toBe('hangup');
  });

  it('streams a live call', async () => {
    const stream = await client.calls.stream(CALL, 'wss://bot.example/ws', { bidirectional: true });
    expect(stream.message).toBe('audio streaming started');
  });

  it('moderates conferences', async () => {
    service.control.rooms = [{ uuid: 'c-1', name: 'room', runningMs: 0, members: [] }];
    expect((await client.conferences.list()).conferences).toEqual(['room']);
    expect((await client.conferences.get('room')).conferenceMemberCount).toBe('0');
    expect((await client.conferences.muteMember('room', '1')).memberId).toBe('1');
    await client.conferences.hangup('room');
  });

  it('manages sub-accounts', async () => {
    const made = await client.subaccounts.create('team', true);
    expect(made.authId).toMatch(/^SA_/);
    expect(await client.subaccounts.get(made.authId)).toMatchObject({
      name: 'team',
      enabled: true,
    });
    expect((await client.subaccounts.update(made.authId, 'crew', true)).message).toBe('changed');
    await client.subaccounts.delete(made.authId);
  });

  it('lists recordings', async () => {
    expect(await client.recordings.list({ limit: 1 })).toEqual(expect.any(Array));
  });

  it('searches, buys, reads, updates, lists and releases numbers', async () => {
    const { authId } = service.account;
    const inventory = { country: 'US', currency: 'USD', setup_fee: 0.5, monthly_fee: 1 };
    for (const e164 of ['14155550190', '14155550191'])
      expect((await service.admin('POST', '/numbers', { ...inventory, e164 })).status).toBe(201);
    await service.book({ amount: 20, type: 'credit', referenceType: 'payment' });
    await service.ledger.putRate({
      direction: 'inbound',
      prefix: '',
      perMinute: micros(5500),
      pulseMs: 60_000,
      currency: 'USD',
      accountId: undefined,
    });
    const offers = await client.numbers.search('US', { pattern: '5550190', type: 'local' });
    expect(offers).toHaveLength(1);
    expect(offers[0]).toMatchObject({
      number: '14155550190',
      monthlyRentalRate: '1.00000',
      setupRate: '0.50000',
      voiceRate: '0.00550',
    });
    const app = await client.applications.create('numbers', APPLICATION);
    await expect(client.numbers.buy('14155550190', '999999')).rejects.toMatchObject({
      status: 400,
    });
    const bought = await client.numbers.buy('14155550190', app.appId);
    expect(bought).toMatchObject({
      message: 'created',
      status: 'fulfilled',
      numbers: [{ number: '14155550190', status: 'Success' }],
    });
    await expect(client.numbers.buy('14155550190')).rejects.toMatchObject({ status: 409 });
    expect(await client.numbers.get('14155550190')).toMatchObject({
      number: '14155550190',
      application: `/v1/Account/${authId}/Application/${app.appId}/`,
      resourceUri: `/v1/Account/${authId}/Number/14155550190/`,
    });
    const sub = await client.subaccounts.create('numbers', true);
    expect((await client.numbers.update('14155550190', { subAccount: sub.authId })).message).toBe(
      'changed',
    );
    await client.numbers.update('14155550190', { alias: 'Front line' });
    expect(await client.numbers.get('14155550190')).toMatchObject({ alias: 'Front line' });
    expect((await client.numbers.list({ limit: 5 }))[0].alias).toBe('Front line');
    await client.numbers.update('14155550190', { subAccount: sub.authId });
    expect(await client.numbers.get('14155550190')).toMatchObject({ alias: 'Front line' });
    const url = `/v1/Account/${authId}/Number/14155550190/`;
    expect((await service.post(url, { alias: '' })).status).toBe(202);
    expect((await service.get(url)).body.alias).toBeNull();
    expect((await service.post(url, { alias: 'x'.repeat(129) })).status).toBe(400);
    await expect(client.numbers.update('14155550191', {})).rejects.toMatchObject({ status: 404 });
    const list = await client.numbers.list({ limit: 5 });
    expect(list.map(({ number }: { number: string }) => number)).toEqual(['14155550190']);
    expect(list[0].subAccount).toBe(`/v1/Account/${sub.authId}/`);
    expect(list.meta).toMatchObject({ totalCount: 1 });
    await client.numbers.unrent('14155550190');
    await expect(client.numbers.get('14155550190')).rejects.toMatchObject({ status: 404 });
  });

  it('keeps the bare 401 of the spec for numbers under /api/v1', async () => {
    const reply = await service.get(`${service.root}/Number/`);
    expect([reply.status, reply.text]).toEqual([401, '']);
    const own = await service.get(`${service.root.replace('/api', '')}/Number/`);
    expect(own.status).toBe(200);
  });

  it('updates the name of the account and refuses fields that are not stored', async () => {
    expect((await client.accounts.update({ name: 'Ada Ltd' })).message).toBe('changed');
    expect(await client.accounts.get()).toMatchObject({ name: 'Ada Ltd' });
    await expect(client.accounts.update({ city: 'Paris' })).rejects.toMatchObject({ status: 400 });
    await client.accounts.update({ name: 'Ada' });
  });

  it('reads the prices of a country', async () => {
    for (const [prefix, price] of [
      ['44', 10_000],
      ['447', 20_000],
      ['1', 1],
    ] as const) {
      await service.ledger.putRate({
        direction: 'outbound',
        prefix,
        perMinute: micros(price),
        pulseMs: 60_000,
        currency: 'USD',
        accountId: undefined,
      });
    }
    const prices = await client.pricings.get('GB');
    expect(prices).toMatchObject({
      country: 'United Kingdom',
      countryCode: '44',
      countryIso: 'GB',
    });
    expect(prices.voice.outbound.local.rate).toBe('0.01000');
    expect(prices.voice.outbound.rates.map((row: { prefix: string[] }) => row.prefix)).toEqual([
      ['44'],
      ['447'],
    ]);
    await expect(client.pricings.get('XX')).rejects.toMatchObject({ status: 400 });
  });

  it('runs multi-party calls', async () => {
    const member = {
      memberId: '1',
      callUuid: CALL,
      from: '1',
      to: '2',
      callerName: '',
      inRoomMs: 2000,
      ...({ direction: 'inbound', muted: false, deaf: false } as const),
      party: {
        role: 'agent',
        onHold: false,
        coaching: false,
        recording: 'not-recording',
        joinedUs: 1_000_000,
        startsOnEnter: true,
        endsOnExit: false,
      } as const,
    };
    const mpc = {
      uuid: REQUEST_UUID,
      name: 'case',
      runningMs: 3000,
      hasBegun: true,
      members: [member],
    };
    const facts = { createdUs: 1_000_000, startedUs: 2_000_000, former: [] };
    service.control.parties = [mpc];
    service.control.endedParties = [
      {
        ...mpc,
        uuid: CALL,
        members: [],
        party: { ...facts, recording: 'not-recording', endedUs: 3_000_000, cause: 'alone' },
      },
    ];
    const friendlyName = 'case';
    const names = () => ({ friendlyName });
    expect(await client.multiPartyCalls.list(names())).toHaveLength(2);
    const ended = await client.multiPartyCalls.list({ ...names(), status: 'ended' });
    expect(ended).toHaveLength(1);
    expect(ended[0]).toMatchObject({
      status: 'Ended',
      terminationCauseCode: 1010,
      endTime: '1970-01-01 00:00:03.000000+00:00',
    });
    const later = { ...names(), end_time__gt: '1970-01-02 00:00' };
    expect(await client.multiPartyCalls.list(later)).toHaveLength(0);
    expect(await client.multiPartyCalls.get({ friendlyName })).toMatchObject({
      mpcUuid: REQUEST_UUID,
      status: 'Active',
    });
    expect(await client.multiPartyCalls.get({ uuid: REQUEST_UUID })).toMatchObject({
      friendlyName,
    });
    const who = { friendlyName, from: '14155550100', to: '14155550101' };
    const added = await client.multiPartyCalls.addParticipant('Agent', who);
    expect(added.calls).toMatchObject([{ to: '14155550101' }]);
    expect(service.control.lastPlaced.answer.url).toMatch(/^document:/);
    await client.multiPartyCalls.addParticipant('customer', { friendlyName, callUuid: CALL });
    await client.multiPartyCalls.start({ friendlyName, status: 'active' });
    await client.multiPartyCalls.startRecording({ friendlyName });
    await client.multiPartyCalls.pauseRecording({ friendlyName });
    await client.multiPartyCalls.resumeRecording({ friendlyName });
    await client.multiPartyCalls.stopRecording({ friendlyName });
    const recorded = await client.multiPartyCalls.startParticipantRecording('1', names());
    expect(recorded.recordingUrl).toBe('https://media.test/r.mp3');
    await client.multiPartyCalls.pauseParticipantRecording('1', names());
    await client.multiPartyCalls.resumeParticipantRecording('1', names());
    await client.multiPartyCalls.stopParticipantRecording('1', names());
    await client.multiPartyCalls.startPlayAudio('1', 'https://app.test/a.mp3', names());
    await client.multiPartyCalls.stopPlayAudio('1', names());
    const listed = await client.multiPartyCalls.listParticipants({ friendlyName });
    expect(listed.objects).toMatchObject([{ memberId: '1', role: 'agent' }]);
    expect(await client.multiPartyCalls.getParticipant('1', { friendlyName })).toMatchObject({
      callUuid: CALL,
    });
    await client.multiPartyCalls.updateParticipant('1', {
      friendlyName,
      mute: true,
      coachMode: false,
    });
    await client.multiPartyCalls.kickParticipant('1', { friendlyName });
    await client.multiPartyCalls.stop({ friendlyName });
    const actions = service.control.requested
      .filter(({ operation }) => operation === 'changeMultiPartyCall')
      .map(({ args }) => args[2]);
    expect(actions).toEqual([
      { kind: 'begin' },
      { kind: 'pauseRecording' },
      { kind: 'resumeRecording' },
      { kind: 'stopRecording' },
      { kind: 'pauseRecording', member: '1' },
      { kind: 'resumeRecording', member: '1' },
      { kind: 'stopRecording', member: '1' },
      { kind: 'play', member: '1', url: 'https://app.test/a.mp3' },
      { kind: 'silence', member: '1' },
      { kind: 'member', member: '1', change: { mute: true, hold: undefined, coachMode: false } },
      { kind: 'kick', member: '1' },
      { kind: 'end' },
    ]);
  });

  it("creates tokens signed with the account's token", async () => {
    const { authId, authToken } = service.account;
    const { token } = await client.token.create(authId, { sub: 'alice', outgoing_allow: true });
    const [head = '', payload = '', signature = ''] = String(token).split('.');
    const signed = createHmac('sha256', authToken).update(`${head}.${payload}`).digest('base64url');
    expect(signature).toBe(signed);
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      iss: authId,
      sub: 'alice',
      grants: { voice: { incoming_allow: false, outgoing_allow: true } },
    });
    await expect(client.token.create('MA_OTHER', {})).rejects.toMatchObject({ status: 400 });
    const long = { exp: Math.floor(service.clock.wallMs() / 1000) + 90_000 };
    await expect(client.token.create(authId, long)).rejects.toMatchObject({ status: 400 });
  });

  it('reports wrong credentials as error 401', async () => {
    const outsider = clientFor(service.account.authId, 'wrong');
    await expect(outsider.applications.list()).rejects.toMatchObject({ status: 401 });
  });
});
