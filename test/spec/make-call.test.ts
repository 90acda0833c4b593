/** Spec: POST …/Call/, its table; Errors: Make call; Limits: Make call. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { err } from '../../src/base/result.ts';
import { REQUEST_UUID } from './fake-control.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let url: string;
beforeAll(async () => {
  service = await startService();
  url = `${service.root}/Call/`;
});
afterAll(() => service.stop());
beforeEach(() => {
  service.control.requested.length = 0;
  service.control.placing = undefined;
});

const valid = { from: '14155550100', to: '14155550101', answer_url: 'https://a.example/answer' };
const place = (over: object = {}) => service.post(url, { ...valid, ...over });
const placed = async (over: object = {}) => {
  const reply = await place(over);
  expect(reply.status, reply.text).toBe(200);
  return service.control.lastPlaced;
};

describe('POST Call', () => {
  it('returns 200 with api_id, request_uuid and Call fired', async () => {
    const { status, body } = await place();
    expect(status).toBe(200);
    expect(body).toEqual({
      api_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      request_uuid: REQUEST_UUID,
      message: 'Call fired',
    });
  });

  it('compat.makeCallStatus sets 201 for existing Vobiz clients', async () => {
    const vobiz = await startService({ settings: { makeCallStatus: 201 } });
    expect((await vobiz.post(`${vobiz.root}/Call/`, valid)).status).toBe(201);
    await vobiz.stop();
  });

  it('applies the defaults of the table', async () => {
    expect(await placed()).toEqual({
      accountId: service.account.authId,
      subAccount: undefined,
      from: '14155550100',
      destinations: [{ kind: 'number', number: '14155550101' }],
      answer: { url: 'https://a.example/answer', method: 'POST' },
      ring: undefined,
      hangup: undefined,
      fallback: undefined,
      machineDetection: undefined,
      callerName: undefined,
      sendDigits: undefined,
      sendOnPreanswer: false,
      timeLimitMs: 14_400_000,
      hangupOnRingMs: undefined,
      ringTimeoutMs: undefined,
      sipHeaders: [],
      idempotencyKey: undefined,
    });
  });

  it.each(['tel:+1-415-555-0101', 'TEL:14155550101;isub=1', '+1 (415) 555-0101', '1.415.555.0101'])(
    'accepts from and to written as %s',
    async (written) => {
      expect(await placed({ from: written, to: written })).toMatchObject({
        from: '14155550101',
        destinations: [{ kind: 'number', number: '14155550101' }],
      });
    },
  );

  it('accepts every URL with its method', async () => {
    const request = await placed({
      answer_method: 'GET',
      ring_url: 'https://a.example/ring',
      hangup_url: 'https://a.example/hangup',
      hangup_method: 'GET',
      fallback_url: 'https://a.example/fallback',
    });
    expect(request).toMatchObject({
      answer: { method: 'GET' },
      ring: { url: 'https://a.example/ring', method: 'POST' },
      hangup: { url: 'https://a.example/hangup', method: 'GET' },
      fallback: { url: 'https://a.example/fallback', method: 'POST' },
    });
  });

  it('splits destinations at <, each a number or SIP URI, and keeps duplicates', async () => {
    const { destinations } = await placed({
      to: '+1 415-555-0101<sip:bob@pbx.example:5070;transport=tcp<14155550101',
    });
    expect(destinations).toEqual([
      { kind: 'number', number: '14155550101' },
      { kind: 'sip', uri: 'sip:bob@pbx.example:5070;transport=tcp' },
      { kind: 'number', number: '14155550101' },
    ]);
  });

  it('a comma is not a separator', async () => {
    const { status, body } = await place({ to: '14155550101,14155550102' });
    expect(status).toBe(400);
    expect(body.details).toHaveProperty('to');
  });

  it('accepts 1000 destinations, and returns 400 for 1001', async () => {
    const to = (count: number) => Array.from({ length: count }, () => '14155550101').join('<');
    expect((await placed({ to: to(1000) })).destinations).toHaveLength(1000);
    const { status, body } = await place({ to: to(1001) });
    expect(status).toBe(400);
    expect(body.details.to).toContain('1000');
  });

  it.each([
    ['from', undefined],
    ['to', undefined],
    ['answer_url', undefined],
    ['from', 'Ada'],
    ['to', ''],
    ['to', '14155550101<'],
    ['to', 'sip:nohost'],
    ['to', 'sip:bob@pbx.example:99999'],
    ['to', 'sip:bob@pbx.example:0'],
    ['to', 'sip:bob@pbx..example:x'],
    ['to', 'sips:bob@pbx.example'],
    ['to', 'sip:bob@pbx.example;transport=tls'],
    ['to', '1415555010112345678'],
    ['from', '1415555010012345678'],
    ['answer_url', 'not-a-url'],
    ['answer_method', 'PATCH'],
    ['machine_detection', 'maybe'],
    ['machine_detection_time', 1999],
    ['machine_detection_time', 10_001],
    ['machine_detection_maximum_speech_length', 999],
    ['machine_detection_maximum_speech_length', 6001],
    ['machine_detection_initial_silence', 1999],
    ['machine_detection_initial_silence', 10_001],
    ['machine_detection_maximum_words', 1],
    ['machine_detection_maximum_words', 11],
    ['machine_detection_initial_greeting', 999],
    ['machine_detection_initial_greeting', 5001],
    ['caller_name', 'x'.repeat(51)],
    ['caller_name', 'Ada\r\nX-Evil: 1'],
    ['caller_name', 'Ada\u0000'],
    ['caller_name', 'Ada\tL'],
    ['from', '14155550100;x=\r\nX-Evil: 1'],
    ['to', 'sip:a\u0001b@voice.example'],
    ['sip_headers', 'a=1\u007f'],
    ['send_digits', '12x'],
    ['send_digits', '1@'],
    ['send_digits', '@500'],
    ['time_limit', 0],
    ['time_limit', 'long'],
    ['hangup_on_ring', -1],
    ['ring_timeout', 0],
    ['sip_headers', 'no-value'],
  ])('returns 400 with the field named when %s is %j', async (field, value) => {
    const { status, body } = await place({ [field]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ api_id: expect.any(String), error: 'invalid request parameters' });
    expect(Object.keys(body.details)).toEqual([field]);
    expect(service.control.requested).toEqual([]);
  });

  it('accepts numbers and booleans as text, and the limits of the ranges', async () => {
    const request = await placed({
      from: 14155550100,
      to: 14155550101,
      send_on_preanswer: 'TRUE',
      time_limit: '60',
      ring_timeout: '45',
      hangup_on_ring: '20',
      machine_detection: 'True',
      machine_detection_time: '2000',
      machine_detection_maximum_speech_length: 6000,
      machine_detection_initial_silence: 10_000,
      machine_detection_maximum_words: '2',
      machine_detection_initial_greeting: 5000,
    });
    expect(request).toMatchObject({
      from: '14155550100',
      sendOnPreanswer: true,
      timeLimitMs: 60_000,
      ringTimeoutMs: 45_000,
      hangupOnRingMs: 20_000,
      machineDetection: {
        mode: 'detect',
        callback: undefined,
        totalMs: 2000,
        maximumSpeechMs: 6000,
        initialSilenceMs: 10_000,
        maximumWords: 2,
        initialGreetingMs: 5000,
      },
    });
  });

  it('machine_detection is adaptive unless the request limits greeting or words', async () => {
    const adaptive = async (over: object) =>
      (await placed({ machine_detection: 'true', ...over })).machineDetection?.adaptive;
    expect(await adaptive({})).toBe(true);
    expect(await adaptive({ machine_detection_time: 3000 })).toBe(true);
    expect(await adaptive({ machine_detection_initial_greeting: 1500 })).toBe(false);
    expect(await adaptive({ machine_detection_maximum_words: 3 })).toBe(false);
  });

  it('machine_detection: true and hangup; the string false is off', async () => {
    const mode = async (value: unknown) =>
      (await placed({ machine_detection: value })).machineDetection?.mode;
    expect(await mode(true)).toBe('detect');
    expect(await mode('hangup')).toBe('hangup');
    expect(await mode('false')).toBeUndefined();
    const asynchronous = await placed({
      machine_detection: 'true',
      machine_detection_url: 'https://a.example/amd',
      machine_detection_method: 'GET',
    });
    expect(asynchronous.machineDetection?.callback).toEqual({
      url: 'https://a.example/amd',
      method: 'GET',
    });
  });

  it('send_digits: w and W wait, @ sets the tone duration (forms 1w2W3, 123@1000)', async () => {
    expect((await placed({ send_digits: '1w2W3' })).sendDigits).toEqual({
      digits: '1w2W3',
      toneMs: 160,
    });
    expect((await placed({ send_digits: '123@1000' })).sendDigits).toEqual({
      digits: '123',
      toneMs: 1000,
    });
    expect((await placed({ send_digits: '*#0ab' })).sendDigits?.digits).toBe('*#0AB');
  });

  it('ends a call after 24 h for time_limit of 86400 or more', async () => {
    expect((await placed({ time_limit: 86_400 })).timeLimitMs).toBe(86_400_000);
    expect((await placed({ time_limit: 200_000 })).timeLimitMs).toBe(86_400_000);
  });

  it('ignores unknown fields', async () => {
    await placed({ parent_call_uuid: 'x', extra: { deep: true } });
  });

  it('parses sip_headers as k=v pairs', async () => {
    const { sipHeaders } = await placed({ sip_headers: 'tenant=7,route=a=b' });
    expect(sipHeaders).toEqual([
      ['tenant', '7'],
      ['route', 'a=b'],
    ]);
  });

  it('passes Idempotency-Key to the domain; an invalid one is 400', async () => {
    const keyed = await service.post(url, valid, { headers: { 'idempotency-key': 'order-7' } });
    expect(keyed.status).toBe(200);
    expect(service.control.lastPlaced.idempotencyKey).toBe('order-7');
    const nonsense = await service.post(url, valid, {
      headers: { 'idempotency-key': 'x'.repeat(129) },
    });
    expect(nonsense.status).toBe(400);
  });

  it('charges a call of a sub-account to the parent and records the sub-account', async () => {
    const sub = await service.addSubAccount();
    const reply = await service.post(`/api/v1/Account/${sub.authId}/Call/`, valid, { as: sub });
    expect(reply.status).toBe(200);
    expect(service.control.lastPlaced).toMatchObject({
      accountId: service.account.authId,
      subAccount: sub.authId,
    });
  });
});

describe('Errors: Make call', () => {
  it('401: missing or wrong auth headers', async () => {
    for (const as of [null, { ...service.account, authToken: 'wrong' }]) {
      const reply = await service.post(url, valid, { as });
      expect(reply.status).toBe(401);
      expect(reply.body).toMatchObject({ api_id: expect.any(String), error: 'Invalid token' });
    }
  });

  it('401: a lowercase path', async () => {
    const lower = `/api/v1/account/${service.account.authId}/call/`;
    expect((await service.post(lower, valid)).status).toBe(401);
  });

  it('404: unknown auth ID in the path; 403: auth ID of another account', async () => {
    const unknown = await service.post('/api/v1/Account/MA_NOBODY/Call/', valid);
    expect(unknown.status).toBe(404);
    const other = await service.addAccount({ name: 'Bob' });
    const foreign = await service.post(`/api/v1/Account/${other.authId}/Call/`, valid);
    expect(foreign.status).toBe(403);
    expect(foreign.body.error).toBe('Access denied: account ID mismatch');
  });

  it('404: a missing trailing slash, or a wrong path', async () => {
    const bare = `/api/v1/Account/${service.account.authId}/Call`;
    expect((await service.post(bare, valid)).status).toBe(404);
    expect((await service.post(`${service.root}/Calls/`, valid)).status).toBe(404);
    expect(service.control.requested).toEqual([]);
  });

  it('402: insufficient balance', async () => {
    service.control.placing = err({ kind: 'insufficientFunds' });
    const { status, body } = await place();
    expect(status).toBe(402);
    expect(body).toMatchObject({ api_id: expect.any(String), error: 'insufficient balance' });
  });

  it.each(['cps', 'concurrency'] as const)('429 with Retry-After: %s limit', async (kind) => {
    service.control.placing = err({ kind, limit: 2, retryAfterMs: 1200 });
    const { status, headers, body } = await place();
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('2');
    expect(body.error).toContain('2');
  });

  it('503 with Retry-After while the service drains', async () => {
    service.control.placing = err({ kind: 'unavailable', retryAfterMs: 5000 });
    const { status, headers } = await place();
    expect([status, headers['retry-after']]).toEqual([503, '5']);
  });

  it('409: an Idempotency-Key used with another request', async () => {
    service.control.placing = err({ kind: 'idempotencyConflict' });
    expect((await place()).status).toBe(409);
  });
});
