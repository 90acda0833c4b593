import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  type CallbackClient,
  createCallbackClient,
} from '../../../src/domain/callback/callback.ts';
import { MAX_JSON_EVENTS_PER_ACCOUNT } from '../../../src/domain/callback/settings.ts';
import { signatureHeaders, signedStrings } from '../../../src/domain/callback/signature.ts';
import type { JsonEvent } from '../../../src/domain/callback/types.ts';
import { SimClock } from '../../sim/clock.ts';
import { FakeHttp, seededRandom } from './fake-http.ts';

let clock: SimClock;
let http: FakeHttp;
let client: CallbackClient;
let attempted: string[];

beforeEach(() => {
  clock = new SimClock();
  http = new FakeHttp(clock);
  attempted = [];
  client = createCallbackClient({
    http,
    clock,
    random: seededRandom(),
    logger: silentLogger,
    tokens: { tokensOf: async () => ({ own: 'token', parent: undefined }) },
    settings: { userAgent: 'Test/1', signatureHeaders: ['X-Plivo-Signature'], firstByteMs: 5000 },
    notifications: {
      put: () => Promise.reject(new Error('events are not stored')),
      adopt: async () => 0,
      listPending: () => Promise.resolve([]),
      recordAttempt: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      removeUntil: () => Promise.resolve(0),
    },
    onAttempt: ({ subject, event }, { status }) => attempted.push(`${subject} ${event} ${status}`),
  });
});

const post = (over: Partial<JsonEvent> = {}): void =>
  client.post({
    accountId: asAccountId('MA_A'),
    callUuid: asCallUuid('c1'),
    name: 'Hangup',
    target: { url: 'https://a.example/trunk?t=1#rc=3', method: 'POST' },
    body: { Billsec: 12, Allowed: true, MOS: null, From: '14155550100' },
    ...over,
  });

describe('JSON events (dialect §3.9: trunk webhooks)', () => {
  it('are JSON objects with numbers and booleans as such; headers contain name and ID', async () => {
    post();
    await clock.advance(0);
    const [sent] = http.requests;
    expect(JSON.parse(sent?.request.body ?? '')).toEqual({
      Event: 'Hangup',
      Billsec: 12,
      Allowed: true,
      MOS: null,
      From: '14155550100',
    });
    expect(sent?.request.url).toBe('https://a.example/trunk?t=1');
    expect(sent?.request.headers).toMatchObject({
      'Content-Type': 'application/json',
      'X-Vobiz-Event': 'Hangup',
      'X-Vobiz-Request-ID': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(attempted).toEqual(['c1 Hangup 200']);
  });

  it('are signed like a request without form parameters (dialect §4.2)', async () => {
    post();
    await clock.advance(0);
    const headers = http.requests[0]?.request.headers ?? {};
    const signed = {
      method: 'POST',
      url: 'https://a.example/trunk?t=1',
      bodyParameters: [],
    } as const;
    const nonce = headers['X-Plivo-Signature-V3-Nonce'] ?? '';
    const tokens = { own: 'token', parent: undefined };
    expect(headers).toMatchObject(
      signatureHeaders(signedStrings(signed, nonce), tokens, ['X-Plivo-Signature']),
    );
  });

  it('are sent in the query by GET', async () => {
    post({ target: { url: 'https://a.example/trunk', method: 'GET' } });
    await clock.advance(0);
    const [sent] = http.requests;
    expect(sent?.request.url).toBe(
      'https://a.example/trunk?Event=Hangup&Billsec=12&Allowed=true&MOS=&From=14155550100',
    );
    expect(sent?.request.body).toBeUndefined();
  });

  it('are sent once regardless of the response', async () => {
    http.reply = () => 503;
    post();
    await clock.advance(60_000);
    expect(attempted).toEqual(['c1 Hangup 503']);
  });

  it('of one call are sent in order, also after a failure; other calls do not wait', async () => {
    http.reply = (_, count) => (count === 1 ? 'connect' : 200);
    http.delayMs = 100;
    post({ name: 'CallInitiated' });
    post();
    post({ callUuid: asCallUuid('c2') });
    await clock.advance(50);
    expect(http.requests).toHaveLength(2);
    await clock.advance(1000);
    expect(attempted).toEqual(['c1 CallInitiated undefined', 'c2 Hangup 200', 'c1 Hangup 200']);
  });

  it("above the account's concurrency limit are dropped; other accounts have separate limits", async () => {
    http.delayMs = 1000;
    for (let i = 0; i <= MAX_JSON_EVENTS_PER_ACCOUNT; i += 1)
      post({ callUuid: asCallUuid(`c${i}`) });
    post({ accountId: asAccountId('MA_B'), callUuid: asCallUuid('b1') });
    await clock.advance(500);
    expect(http.requests).toHaveLength(MAX_JSON_EVENTS_PER_ACCOUNT + 1);
    await clock.advance(1000);
    post({ callUuid: asCallUuid('later') });
    await clock.advance(0);
    expect(http.requests).toHaveLength(MAX_JSON_EVENTS_PER_ACCOUNT + 2);
  });

  it('in progress have a grace period when the service stops', async () => {
    http.delayMs = 100;
    post();
    post({ callUuid: asCallUuid('c2'), target: { url: 'https://a.example/slow', method: 'POST' } });
    let isClosed = false;
    void client.close(500).then(() => {
      isClosed = true;
    });
    await clock.advance(100);
    expect(isClosed).toBe(true);
    expect(attempted).toHaveLength(2);
    post();
    await clock.advance(1000);
    expect(http.requests).toHaveLength(2);
    expect(clock.nextMs()).toBeUndefined();
  });

  it('never delay the stop beyond the grace period', async () => {
    http.reply = () => 'silence';
    post();
    let isClosed = false;
    void client.close(500).then(() => {
      isClosed = true;
    });
    await clock.advance(500);
    expect(isClosed).toBe(true);
  });
});
