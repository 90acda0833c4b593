import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { derive } from '../../../src/service/settings.ts';
import { loadSettings } from '../../config/load-settings.ts';
import { ADMIN_TOKEN, SCRAPE_TOKEN, type Service, startService } from '../../spec/service.ts';

const DEFAULTS = new URL('../../../config/default.json', import.meta.url).pathname;

let service: Service;
beforeAll(async () => {
  service = await startService({ settings: { operatorPages: 'token', refusedPerSecond: 50 } });
});
afterAll(() => service.stop());

const bearer = (token: string) => ({
  as: null,
  headers: { authorization: `Bearer ${token}` },
});
const basic = (password: string) => ({
  as: null,
  headers: { authorization: `Basic ${Buffer.from(`ops:${password}`).toString('base64')}` },
});
const operatorPaths = (body: { readonly paths: object }): readonly string[] =>
  Object.keys(body.paths).filter((path) => path.startsWith('/admin') || path === '/metrics');

describe('metrics and the operator’s part of the API page require authorization', () => {
  it('an unknown path is an HTML page for browsers and JSON for programs', async () => {
    const page = await service.get('/nowhere', { as: null, headers: { accept: 'text/html,*/*' } });
    expect(page.status).toBe(404);
    expect(page.text).toContain('<h1>404: Page not found</h1>');
    const api = await service.get('/api/v1/nowhere', { headers: { accept: 'text/html' } });
    expect(api.status).toBe(404);
    expect(api.body).toHaveProperty('error');
  });

  it.each(['/metrics', '/admin/docs', '/admin/openapi.json'])(
    '%s requires credentials',
    async (url) => {
      expect((await service.get(url, { as: null })).status).toBe(401);
      expect((await service.get(url)).status).toBe(401);
      const refused = await service.get(url, bearer('wrong'));
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toContain('Basic');
      expect((await service.get(url, bearer(ADMIN_TOKEN))).status).toBe(200);
      expect((await service.get(url, basic(ADMIN_TOKEN))).status).toBe(200);
    },
  );

  it('the metrics token opens only the metrics', async () => {
    expect((await service.get('/metrics', bearer(SCRAPE_TOKEN))).text).toContain('up 1');
    for (const url of ['/admin/docs', '/admin/openapi.json', '/admin/v1/accounts'])
      expect((await service.get(url, bearer(SCRAPE_TOKEN))).status).toBe(401);
  });

  it("/openapi.json shows the customer’s part to all clients and the operator's part to the operator", async () => {
    for (const request of [{ as: null }, {}, bearer('wrong')]) {
      const document = await service.get('/openapi.json', request);
      expect(document.body.paths['/api/v1/Account/{auth_id}/Call/']).toBeDefined();
      expect(operatorPaths(document.body)).toEqual([]);
    }
    const whole = await service.get('/openapi.json', bearer(ADMIN_TOKEN));
    expect(operatorPaths(whole.body).length).toBeGreaterThan(20);
  });

  it('counts wrong operator tokens on a public page', async () => {
    const guessed = await startService({
      settings: { operatorPages: 'token', refusedPerSecond: 3 },
    });
    for (let i = 0; i < 3; i += 1) await guessed.get('/openapi.json', bearer(`guess ${i}`));
    expect((await guessed.get('/metrics', bearer(ADMIN_TOKEN))).status).toBe(429);
    await guessed.stop();
  });

  it('serves a proven token while another client at the address guesses', async () => {
    const guessed = await startService({
      settings: { operatorPages: 'token', refusedPerSecond: 3 },
    });
    const scrape = () => guessed.get('/metrics', bearer(ADMIN_TOKEN));
    expect((await scrape()).status).toBe(200);
    for (let i = 0; i < 9; i += 1) await guessed.get('/metrics', bearer(`guess ${i}`));
    expect((await scrape()).status).toBe(200);
    expect((await guessed.get('/metrics', bearer('guess'))).status).toBe(429);
    await guessed.stop();
  });

  it('direct: is open to clients that connect without a proxy', async () => {
    const local = await startService({ settings: { operatorPages: 'direct' } });
    expect((await local.get('/metrics', { as: null })).status).toBe(200);
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
      const reply = await local.get('/metrics', { as: null, headers: { [name]: '192.0.2.1' } });
      expect([name, reply.status]).toEqual([name, 401]);
    }
    await local.stop();
  });

  it.each([
    [{}, 'direct'],
    [{ http: { host: '0.0.0.0' } }, 'token'],
    [{ http: { host: '192.0.2.1' } }, 'token'],
    [{ publicUrl: 'https://voice.example' }, 'token'],
    [{ publicUrl: 'nonsense' }, 'token'],
    [{ publicUrl: 'http://127.0.0.1:8080' }, 'direct'],
    [{ http: { trustProxy: ['127.0.0.1'] } }, 'token'],
    [{ http: { operatorPages: 'token' } }, 'token'],
    [{ http: { host: '0.0.0.0', operatorPages: 'open' } }, 'open'],
  ] as const)('settings %o: %s', (over, expected) => {
    const settings = loadSettings({}, DEFAULTS);
    const http = { ...settings.http, ...('http' in over ? over.http : {}) };
    expect(derive({ ...settings, ...over, http }).operatorPages).toBe(expected);
  });
});

describe('every response has security headers', () => {
  const usual = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };

  it.each([
    ['/healthz', 200],
    ['/docs', 200],
    ['/nowhere', 404],
    ['/admin/v1/accounts', 401],
    ['/api/v1/Account/x/%', 400],
  ])('%s: %i', async (url, status) => {
    const reply = await service.get(url, { as: null });
    expect(reply.status).toBe(status);
    expect(reply.headers).toMatchObject(usual);
    expect(reply.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(reply.headers['strict-transport-security']).toBeUndefined();
  });

  it('includes responses to invalid HTTP', async () => {
    const { url } = await service.server.start();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    for (const [name, value] of Object.entries(usual))
      expect(answer).toContain(`${name}: ${value}`);
    socket.destroy();
  });

  it('sends HSTS if the listener uses TLS', async () => {
    const encrypted = await startService({ settings: { publicUrl: 'https://voice.example' } });
    const { headers } = await encrypted.get('/healthz', { as: null });
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    await encrypted.stop();
  });
});
