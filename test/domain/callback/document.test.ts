import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import {
  type CallbackClient,
  createCallbackClient,
  type DocumentOptions,
  type DocumentResult,
} from '../../../src/domain/callback/callback.ts';
import type { CallbackAttempt } from '../../../src/domain/callback/types.ts';
import { SimClock } from '../../sim/clock.ts';
import { FakeHttp, seededRandom } from './fake-http.ts';

let clock: SimClock;
let http: FakeHttp;
let client: CallbackClient;
let attempts: CallbackAttempt[];
let hangup: AbortController;

beforeEach(() => {
  clock = new SimClock();
  http = new FakeHttp(clock);
  attempts = [];
  hangup = new AbortController();
  client = createCallbackClient({
    http,
    clock,
    random: seededRandom(),
    logger: silentLogger,
    tokens: {
      tokensOf: async (id) => (id === 'MA_X' ? { own: 'token', parent: undefined } : undefined),
    },
    settings: { userAgent: 'Test/1', signatureHeaders: ['X-Plivo-Signature'], firstByteMs: 5000 },
    notifications: {
      put: async () => undefined,
      adopt: async () => 0,
      listPending: async () => [],
      recordAttempt: async () => undefined,
      remove: async () => undefined,
      removeUntil: async () => 0,
    },
    onAttempt: () => undefined,
  });
});

const parameters = [
  ['CallUUID', 'u1'],
  ['Event', 'StartApp'],
] as const;

const fetchFrom = (
  url: string,
  method: 'GET' | 'POST' = 'POST',
  more: Partial<DocumentOptions> = {},
): Promise<DocumentResult> =>
  client.fetchDocument({ url, method }, parameters, {
    kind: 'answer',
    accountId: asAccountId('MA_X'),
    callUuid: asCallUuid('u1'),
    signal: hangup.signal,
    onAttempt: (attempt) => attempts.push(attempt),
    ...more,
  });

/** Advances the clock until all work has ended. */
const settled = async <T>(pending: Promise<T>, ms = 200_000): Promise<T> => {
  await clock.advance(ms);
  return pending;
};

describe('fetching a document', () => {
  it('POSTs the parameters as a form, signed, with the configured User-Agent', async () => {
    http.reply = () => ({ status: 200, body: '<Response><Hangup/></Response>' });
    const result = await settled(fetchFrom('https://a.example/answer'));
    expect(result).toEqual({
      ok: true,
      value: {
        body: '<Response><Hangup/></Response>',
        contentType: 'application/xml',
        url: 'https://a.example/answer',
        usedFallback: false,
      },
    });
    const { request } = http.requests[0] ?? {};
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://a.example/answer',
      body: 'CallUUID=u1&Event=StartApp',
      connectTimeoutMs: 2000,
      readTimeoutMs: 10_000,
      maxRedirects: 3,
      headers: { 'User-Agent': 'Test/1', 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(request?.headers['X-Plivo-Signature-V3-Nonce']).toMatch(/^\d{20}$/);
    expect(request?.headers['X-Plivo-Signature-V3']).toMatch(/^[\w+/]{43}=$/);
  });

  it('sends the parameters of a GET in the query', async () => {
    await settled(fetchFrom('https://a.example/answer?x=1', 'GET'));
    expect(http.requests[0]?.request).toMatchObject({
      method: 'GET',
      url: 'https://a.example/answer?x=1&CallUUID=u1&Event=StartApp',
      body: undefined,
    });
  });

  it('reports every attempt with the exact signed text and without the token', async () => {
    http.reply = (_request, count) => (count === 1 ? 503 : 200);
    await settled(fetchFrom('https://a.example/answer'));
    expect(attempts).toMatchObject([
      { event: 'StartApp', url: 'https://a.example/answer', status: 503, error: 'HTTP status 503' },
      { status: 200, error: undefined },
    ]);
    expect(attempts[0]?.signedString).toMatch(
      /^https:\/\/a\.example\/answer\?CallUUIDu1EventStartApp\.\d{20}$/,
    );
    expect(attempts[0]?.signedString).not.toBe(attempts[1]?.signedString);
    expect(JSON.stringify(attempts)).not.toContain('"token"');
  });

  it('moves user information into an Authorization header only', async () => {
    await settled(fetchFrom('https://us%40er:se%3Acret@a.example/answer'));
    expect(http.requests[0]?.request.url).toBe('https://a.example/answer');
    expect(http.requests[0]?.request.headers['Authorization']).toBe(
      `Basic ${btoa('us@er:se:cret')}`,
    );
    expect(JSON.stringify(attempts)).not.toMatch(/se%3Acret|se:cret/);
  });

  it('signs the URL as sent, with non-ASCII characters escaped', async () => {
    await settled(fetchFrom('https://a.example/café menu?q=é'));
    expect(http.requests[0]?.request.url).toBe('https://a.example/caf%C3%A9%20menu?q=%C3%A9');
    expect(attempts[0]?.signedString).toMatch(/^https:\/\/a\.example\/caf%C3%A9%20menu\?q=é\./);
  });

  it.each([
    ['https://a.example/{id}/"b"|c', 'https://a.example/%7Bid%7D/%22b%22|c'],
    ['https://a.example/a/../b/./c', 'https://a.example/b/c'],
  ])('signs the path of %s as sent', async (configured, sent) => {
    await settled(fetchFrom(configured));
    expect(http.requests[0]?.request.url).toBe(sent);
    expect(attempts[0]?.signedString.startsWith(`${sent}?`)).toBe(true);
  });

  it('sends an unsigned request for an account without a token', async () => {
    await settled(fetchFrom('https://a.example/', 'POST', { accountId: asAccountId('MA_GONE') }));
    expect(Object.keys(http.requests[0]?.request.headers ?? {}).join()).not.toContain('Signature');
  });
});

describe('Limits (spec): fallback URL after 3 retries or a 60 s timeout', () => {
  const fallback = { url: 'https://b.example/fallback', method: 'GET' as const };

  it('retries three times after 0.5, 1 and 2 s', async () => {
    http.reply = () => 500;
    expect(await settled(fetchFrom('https://a.example/'))).toEqual({
      ok: false,
      error: { kind: 'badStatus', detail: 'HTTP status 500' },
    });
    expect(http.requests.map(({ atMs }) => atMs)).toEqual([0, 500, 1500, 3500]);
  });

  it.each([404, 503, 'connect', 'timeout', 'protocol'] as const)(
    'then requests the fallback URL: %s',
    async (reply) => {
      http.reply = (request) => (request.url.startsWith('https://a.') ? reply : 200);
      const result = await settled(fetchFrom('https://a.example/', 'POST', { fallback }));
      expect(result).toMatchObject({
        ok: true,
        value: { usedFallback: true, url: 'https://b.example/fallback' },
      });
      expect(http.requests).toHaveLength(5);
      expect(http.requests[4]?.request.method).toBe('GET');
    },
  );

  it('abandons the answer URL after 60 s in total', async () => {
    http.reply = (request) => (request.url.startsWith('https://a.') ? 'silence' : 200);
    const pending = fetchFrom('https://a.example/#rt=40000', 'POST', { fallback });
    await clock.advance(59_999);
    expect(http.requests.map(({ atMs }) => atMs)).toEqual([0, 40_500]);
    expect(await settled(pending, 1)).toMatchObject({ ok: true, value: { usedFallback: true } });
    expect(http.requests[2]?.atMs).toBe(60_000);
  });

  it('retries the fallback URL by the same rules', async () => {
    http.reply = () => 500;
    const result = await settled(fetchFrom('https://a.example/', 'POST', { fallback }));
    expect(result).toMatchObject({ ok: false, error: { kind: 'badStatus' } });
    expect(http.requests).toHaveLength(8);
  });

  it.each([
    ['tooLarge', 'tooLarge'],
    ['tooManyRedirects', 'unreachable'],
    ['refusedAddress', 'refusedAddress'],
  ] as const)('does not retry a permanent failure: %s', async (reply, kind) => {
    http.reply = () => reply;
    expect(await settled(fetchFrom('https://a.example/'))).toMatchObject({
      ok: false,
      error: { kind },
    });
    expect(http.requests).toHaveLength(1);
  });

  it.each(['', 'answer.php', 'ftp://a.example/', 'javascript:x', 'https://'])(
    'does not request an invalid URL: "%s"',
    async (url) => {
      expect(await settled(fetchFrom(url))).toMatchObject({
        ok: false,
        error: { kind: 'invalidUrl' },
      });
      expect(http.requests).toHaveLength(0);
    },
  );

  it('applies the fragment of the URL to the policy without sending or signing it (dialect §6)', async () => {
    http.reply = () => 404;
    await settled(fetchFrom('https://a.example/x#rc=1&rp=4xx&ct=100'));
    expect(http.requests.map(({ request }) => [request.url, request.connectTimeoutMs])).toEqual([
      ['https://a.example/x', 100],
      ['https://a.example/x', 100],
    ]);
    expect(attempts[0]?.signedString).not.toContain('rc=');
  });
});

describe('the end of a call', () => {
  it('aborts a fetch in progress immediately with the reason, without further requests', async () => {
    http.reply = () => 'silence';
    const pending = fetchFrom('https://a.example/', 'POST', {
      fallback: { url: 'https://b.example/', method: 'POST' },
    });
    const rejected = expect(pending).rejects.toThrow('the caller hung up');
    await clock.advance(100);
    hangup.abort(new Error('the caller hung up'));
    await rejected;
    await clock.advance(100_000);
    expect(http.requests).toHaveLength(1);
    expect(clock.nextMs()).toBeUndefined();
  });

  it('aborts the wait for a retry in the same way', async () => {
    http.reply = () => 500;
    const pending = fetchFrom('https://a.example/');
    const rejected = expect(pending).rejects.toThrow('the caller hung up');
    await clock.advance(100);
    hangup.abort(new Error('the caller hung up'));
    await rejected;
    await clock.advance(100_000);
    expect(http.requests).toHaveLength(1);
    expect(clock.nextMs()).toBeUndefined();
  });
});
