/** Spec: Authentication 1 to 10, path case, versioning; dialect §0.2 rules 5 and 6. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId } from '../../src/base/ids.ts';
import type { LogFields, Logger } from '../../src/base/logger.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let balance: string;
beforeEach(async () => {
  service = await startService();
  balance = `${service.root}/balance/USD`;
});
afterEach(() => service.stop());

const basic = ({ authId, authToken }: { authId: string; authToken: string }) => ({
  authorization: `Basic ${Buffer.from(`${authId}:${authToken}`).toString('base64')}`,
});

describe('Authentication', () => {
  it('1: X-Auth-ID and X-Auth-Token are both required', async () => {
    const { authId, authToken } = service.account;
    const ask = async (headers: Record<string, string>) =>
      (await service.get(balance, { as: null, headers })).status;
    expect(await ask({ 'x-auth-id': authId, 'x-auth-token': authToken })).toBe(200);
    expect(await ask({ 'x-auth-id': authId })).toBe(401);
    expect(await ask({ 'x-auth-token': authToken })).toBe(401);
  });

  it('2: HTTP Basic is accepted on transactions, and on every other account route', async () => {
    for (const url of [`${service.root}/transactions`, balance, `${service.root}/Endpoint/`]) {
      const reply = await service.get(url, { as: null, headers: basic(service.account) });
      expect(reply.status, url).toBe(200);
    }
  });

  it('3: an access token as Bearer reads selected endpoints, until it expires', async () => {
    const made = await service.post(`${service.root}/access-token`, { expires_in: 60 });
    expect(made.status).toBe(201);
    const headers = { authorization: `Bearer ${made.body.access_token}` };
    expect((await service.get(balance, { as: null, headers })).status).toBe(200);
    const endpoints = await service.get(`${service.root}/Endpoint/`, { as: null, headers });
    expect(endpoints.status).toBe(401);
    await service.clock.advance(61_000);
    expect((await service.get(balance, { as: null, headers })).status).toBe(401);
  });

  it('4: the path account must be the authenticated one, else 403', async () => {
    const other = await service.addAccount({ name: 'Bob' });
    const reply = await service.get(balance, { as: other });
    expect(reply.status).toBe(403);
    expect(reply.body.error).toEqual({
      code: 403,
      message: 'Access denied: account ID mismatch',
    });
  });

  it("6: refuses an endpoint’s SIP password and the operator's token", async () => {
    const as = { authId: service.account.authId, authToken: 'operator-token' };
    expect((await service.get(balance, { as })).status).toBe(401);
    const headers = { authorization: 'Bearer operator-token' };
    expect((await service.get(balance, { as: null, headers })).status).toBe(401);
  });

  it('8: returns 401 for missing or wrong credentials, regardless of the body', async () => {
    const reply = await service.post(`${service.root}/Endpoint/`, { not: 'valid' }, { as: null });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toContain('Basic');
  });

  it('8: a lowercase path on the call operation gives 401', async () => {
    const { authId } = service.account;
    for (const url of [`/api/v1/account/${authId}/call/`, `/api/v1/account/${authId}/Call/`]) {
      expect((await service.post(url, {})).status, url).toBe(401);
    }
  });

  it.each([
    'Basic',
    'Basic !!!',
    `Basic ${Buffer.from('no-colon').toString('base64')}`,
    'Digest x',
    'Bearer',
    '',
  ])('answers a malformed Authorization header with 401: %s', async (authorization) => {
    const reply = await service.get(balance, { as: null, headers: { authorization } });
    expect(reply.status).toBe(401);
  });

  it('10: accepts a rotated token immediately, and the old one until the overlap ends', async () => {
    const { authId } = service.account;
    const rotated = await service.post(`${service.root}/token`, { overlap_seconds: 60 });
    expect(rotated.status).toBe(201);
    const fresh = { authId, authToken: rotated.body.auth_token };
    expect((await service.get(balance, { as: fresh })).status).toBe(200);
    expect((await service.get(balance)).status).toBe(200);
    await service.clock.advance(61_000);
    expect((await service.get(balance)).status).toBe(401);
    expect((await service.get(balance, { as: fresh })).status).toBe(200);
  });

  it('refuses a suspended account with 403', async () => {
    await service.admin('PATCH', `/accounts/${service.account.authId}`, { status: 'suspended' });
    expect((await service.get(balance)).status).toBe(403);
  });

  it('answers repeated wrong credentials with 429, while valid ones from the same address are served', async () => {
    const guarded = await startService({ settings: { refusedPerSecond: 3 } });
    const url = `${guarded.root}/balance/USD`;
    const guess = (authId: AccountId) => guarded.get(url, { as: { authId, authToken: 'x' } });
    const wrong = () => guess(guarded.account.authId);
    expect([await wrong(), await wrong(), await wrong()].map(({ status }) => status)).toEqual([
      401, 401, 401,
    ]);
    const refused = await wrong();
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect((await guarded.get(url)).status).toBe(200);
    expect((await guess(asAccountId('MA_X'))).status).toBe(401);
    expect((await guarded.get('/healthz', { as: null })).status).toBe(200);
    await guarded.clock.advance(1000);
    expect((await wrong()).status).toBe(401);
    await guarded.stop();
  });

  it('logs one warning for X-Forwarded-For without a trusted proxy', async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, text: string) => warnings.push(text) };
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const behind = await startService({ logger });
    for (let i = 0; i < 3; i += 1) await behind.get('/healthz', { as: null, headers });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('http.trustProxy');
    await behind.stop();
    const trusting = await startService({ logger, settings: { trustProxy: ['127.0.0.1'] } });
    await trusting.get('/healthz', { as: null, headers });
    expect(warnings).toHaveLength(1);
    await trusting.stop();
  });

  it("answers requests above the account's rate with 429 and Retry-After, and serves other accounts", async () => {
    const slow = await startService({ settings: { requestsPerSecond: 3 } });
    const other = await slow.addAccount({ name: 'Bob' });
    const url = `${slow.root}/balance/USD`;
    for (let i = 0; i < 3; i += 1) expect((await slow.get(url)).status).toBe(200);
    const refused = await slow.get(url);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    const bobs = `/api/v1/Account/${other.authId}/balance/USD`;
    expect((await slow.get(bobs, { as: other })).status).toBe(200);
    await slow.clock.advance(1000);
    expect((await slow.get(url)).status).toBe(200);
    await slow.stop();
  });
});

describe('paths', () => {
  it('PascalCase /Account/ is required for endpoints, balance, export and provisioning', async () => {
    const lower = `/api/v1/account/${service.account.authId}`;
    for (const path of ['/balance/USD', '/Endpoint/', '/trunks', '/numbers']) {
      expect((await service.get(lower + path)).status, path).toBe(404);
    }
    expect((await service.post(`${lower}/export/recording/`, {})).status).toBe(404);
  });

  it('the capacity endpoint is lowercase', async () => {
    expect((await service.get(`/api/v1/account/${service.account.authId}/capacity`)).status).toBe(
      200,
    );
    expect((await service.get(`${service.root}/capacity`)).status).toBe(404);
  });

  it('paths work with and without a trailing slash, and under /v1 (dialect §0.2 rule 6)', async () => {
    const { authId } = service.account;
    for (const url of [
      `/api/v1/Account/${authId}/Endpoint`,
      `/v1/Account/${authId}/Endpoint/`,
      `/v1/Account/${authId}/Endpoint?limit=1`,
      `/api/v1/Account/${authId}/balance/USD/`,
    ]) {
      expect((await service.get(url)).status, url).toBe(200);
    }
  });

  it('answers a wrong method with 405 and Allow, an unknown path with 404', async () => {
    const wrong = await service.send('DELETE', balance);
    expect([wrong.status, wrong.headers['allow']]).toEqual([405, 'GET']);
    expect((await service.get('/api/v1/nothing')).status).toBe(404);
  });
});

describe('requests', () => {
  it('echoes a valid X-Request-ID and generates one otherwise', async () => {
    const given = await service.get(balance, { headers: { 'x-request-id': 'trace-1.a' } });
    expect(given.headers['x-request-id']).toBe('trace-1.a');
    const evil = await service.get(balance, { headers: { 'x-request-id': 'a b\u00e9' } });
    expect(evil.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers an invalid URL with 400 in the error shape', async () => {
    const reply = await service.get(`${service.root}/Endpoint/%zz`);
    expect([reply.status, reply.body]).toEqual([400, { error: 'malformed request' }]);
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('accepts booleans of a query as text in any case', async () => {
    const url = `${service.root}/Endpoint/?application_id__isnull=`;
    expect((await service.get(`${url}True`)).status).toBe(200);
    expect((await service.get(`${url}maybe`)).status).toBe(400);
  });

  it('answers malformed JSON with 400, another content type with 415, a large body with 413', async () => {
    const url = `${service.root}/Application/`;
    const broken = await service.post(url, '{"a":');
    expect([broken.status, broken.body.error]).toEqual([400, 'malformed JSON']);
    const form = await service.post(url, 'a=b', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form.status).toBe(415);
    const large = await service.post(url, { app_name: 'x'.repeat(70_000) });
    expect(large.status).toBe(413);
  });

  it('refuses JSON that is nested too deeply, also with an Idempotency-Key', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const body = (levels: number) =>
      `{"app_name":"deep","answer_url":"https://a.example/","more":${nested(levels)}}`;
    for (const headers of [{}, { 'idempotency-key': 'deep' }]) {
      const refused = await service.post(`${service.root}/Application/`, body(30_000), { headers });
      expect([refused.status, refused.body.error]).toEqual([400, 'JSON is nested too deeply']);
      const taken = await service.post(`${service.root}/Application/`, body(40), { headers });
      expect(taken.status).toBe(201);
    }
  });

  it('refuses __proto__ in a body', async () => {
    const reply = await service.post(`${service.root}/Application/`, '{"__proto__":{"a":1}}');
    expect(reply.status).toBe(400);
  });

  it('writes no token to a log line or an error body', async () => {
    const lines: string[] = [];
    const write = (fields: LogFields, message: string) =>
      lines.push(JSON.stringify({ ...fields, error: String(fields['error']) }) + message);
    const logger: Logger = {
      debug: write,
      info: write,
      warn: write,
      error: write,
      child: () => logger,
    };
    const noisy = await startService({ logger });
    const replies = [
      await noisy.get(`${noisy.root}/balance/USD?token=${noisy.account.authToken}`),
      await noisy.get(`${noisy.root}/balance/XXX`, { as: null, headers: basic(noisy.account) }),
      await noisy.post(`${noisy.root}/Endpoint/`, { username: '-', password: 'hunter2hunter2' }),
    ];
    noisy.store.ledger.balance = () => Promise.reject(new Error('broken'));
    replies.push(await noisy.get(`${noisy.root}/balance/USD`));
    expect(replies.at(-1)?.status).toBe(500);
    const written = lines.join('\n') + replies.map(({ text }) => text).join('\n');
    expect(lines.length).toBeGreaterThan(3);
    expect(written).not.toContain(noisy.account.authToken);
    expect(written).not.toContain('hunter2');
    await noisy.stop();
  });
});
