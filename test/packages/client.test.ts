/** The client packages: their types match the API, errors and retries match their READMEs, and they run outside this repository. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ApiError,
  CarillonError,
  Client,
  type ClientOptions,
  ConnectionError,
  isSigned,
  isSignedBody,
  ReplyError,
  TimeoutError,
} from '../../packages/client/src/client.ts';
import { type ApiDescription, clientApi } from '../../scripts/client-api/file.ts';
import { pythonApi } from '../../scripts/client-api/python.ts';
import {
  bodySignatureHeader,
  signatureHeaders,
  signedStrings,
} from '../../src/domain/callback/signature.ts';
import { openApiDocument } from '../../src/edge/rest/openapi.ts';
import { ROUTES } from '../../src/edge/rest/routes.ts';
import { Program } from '../e2e/service.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PACKAGE = join(ROOT, 'packages', 'client');
const PYTHON = join(ROOT, 'packages', 'python');
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A callback as the service signs it, with a query, repeated names and characters beyond ASCII. */
const SIGNED = signedCallback();
function signedCallback() {
  const form = [
    ['To', '14155550100'],
    ['From', '1'],
    ['From', '0'],
    ['Name', 'Zoë 😀'],
    // The order of these names differs between UTF-16 and code points.
    ['Ａ', '1'],
    ['😀', '2'],
  ] as const;
  const url = 'https://user:pw@bot.example/answer?b=2&a=1%20x';
  const signed = signedStrings(
    { method: 'POST', url, bodyParameters: form },
    '12345678901234567890',
  );
  const tokens = { own: 'secret', parent: undefined };
  return { url, form, headers: signatureHeaders(signed, tokens, ['X-Plivo-Signature']) };
}

const BALANCE = '/api/v1/Account/{auth_id}/balance/{currency}';
const APPLICATIONS = '/api/v1/Account/{auth_id}/Application/';

describe('types', () => {
  it('match the API description (written by scripts/client-api.ts)', () => {
    const described = openApiDocument(ROUTES, 'x') as unknown as ApiDescription;
    expect(readFileSync(join(PACKAGE, 'src/api.ts'), 'utf8')).toBe(clientApi(described));
    expect(readFileSync(join(PYTHON, 'carillon/api.py'), 'utf8')).toBe(pythonApi(described));
  });

  it('and versions of both packages are those of the project', () => {
    const versionOf = (path: string): string =>
      /version"? ?[:=] ?"([^"]+)"/.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1] ?? '';
    const version = versionOf('package.json');
    expect(version).not.toBe('');
    expect(versionOf('packages/client/package.json')).toBe(version);
    expect(versionOf('packages/python/pyproject.toml')).toBe(version);
  });

  it('reject invalid requests at compile time', () => {
    const client = new Client({ url: 'http://127.0.0.1:1' });
    const never = (): void => {
      // @ts-expect-error no such path
      void client.get('/api/v1/Account/{auth_id}/nothing');
      // @ts-expect-error the path takes a currency
      void client.get(BALANCE);
      // @ts-expect-error an application has a name
      void client.post(APPLICATIONS, { body: { answer_url: 'https://bot.example/' } });
      // @ts-expect-error there is no such filter
      void client.get('/admin/v1/accounts', { query: { nothing: 1 } });
      // @ts-expect-error the operator's paths have no account
      void client.get('/admin/v1/accounts/{auth_id}');
    };
    expect(never).toBeTypeOf('function');
  });
});

describe('against the service', () => {
  let service: Service;
  let url: string;
  let client: Client;
  beforeAll(async () => {
    service = await startService();
    url = (await service.server.start()).url;
    const { authId, authToken } = service.account;
    client = new Client({ url, authId, authToken, adminToken: ADMIN_TOKEN });
  });
  afterAll(() => service.stop());

  it('creates, reads, changes and deletes, as account and as operator', async () => {
    const body = { app_name: 'typed', answer_url: 'https://bot.example/a b' };
    const { app_id } = await client.post(APPLICATIONS, { body });
    const one = '/api/v1/Account/{auth_id}/Application/{app_id}/';
    expect((await client.get(one, { path: { app_id } })).app_name).toBe('typed');
    expect(await client.delete(one, { path: { app_id } })).toBeUndefined();
    const { accounts } = await client.get('/admin/v1/accounts', { query: { limit: 1 } });
    expect(accounts[0]?.auth_id).toBe(service.account.authId);
  });

  it('runs a repeated POST with the same key once, and without a key twice', async () => {
    const body = { app_name: 'once', answer_url: 'https://bot.example/' };
    const make = async (key?: string): Promise<string> => {
      const options = key === undefined ? {} : { idempotencyKey: key };
      return (await client.post(APPLICATIONS, { body, ...options })).app_id;
    };
    expect(await make('k')).toBe(await make('k'));
    expect(await make()).not.toBe(await make());
  });

  it('reports status, message and fields of a refusal', async () => {
    const body = { app_name: '', answer_url: 'nowhere' };
    const error = await client.post(APPLICATIONS, { body }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toBeInstanceOf(CarillonError);
    expect(error).toMatchObject({ status: 400, operation: `POST ${APPLICATIONS}` });
    expect(Object.keys((error as ApiError).details)).toContain('app_name');
    const outsider = new Client({ url, authId: 'MA_X', authToken: 'x' });
    await expect(outsider.get(BALANCE, { path: { currency: 'USD' } })).rejects.toMatchObject({
      status: 401,
    });
  });

  it('returns a file as a stream', async () => {
    const file = await client.file('/api/v1/Account/{auth_id}/cdr/export', {
      query: { format: 'csv' },
    });
    expect(await file.text()).toMatch(/^\w+(,\w+)+\r\n/);
  });

  it('tells whether the service signed a callback', async () => {
    const got = { ...SIGNED.headers };
    const check = (token: string, form: readonly (readonly [string, string])[]) =>
      isSigned(got, SIGNED.url, token, form);
    expect(await check('secret', SIGNED.form)).toBe(true);
    expect(await check('other', SIGNED.form)).toBe(false);
    expect(await check('secret', SIGNED.form.slice(1))).toBe(false);
    expect(await isSigned(new Headers(), SIGNED.url, 'secret', SIGNED.form)).toBe(false);
    const event = '{"event":"campaign.started"}';
    const header = bodySignatureHeader(event, { own: 'secret' });
    expect(await isSignedBody(header, event, 'secret')).toBe(true);
    expect(await isSignedBody(new Headers(header), `${event} `, 'secret')).toBe(false);
  });

  it.skipIf(!hasPython)('the Python client passes its tests against the service', async () => {
    const ran = await outputOf(
      'python3',
      ['-W', 'error', '-m', 'unittest', 'tests/test_client.py'],
      {
        CARILLON_URL: url,
        AUTH_ID: service.account.authId,
        AUTH_TOKEN: service.account.authToken,
        ADMIN_TOKEN,
        SIGNATURE: SIGNED.headers['X-Plivo-Signature-V3'] ?? '',
      },
    );
    expect(ran).toMatch(/Ran 13 tests[\s\S]*\nOK\n$/);
  });

  it("the README's example runs on the packed package without other packages", async () => {
    const place = mkdtempSync(join(tmpdir(), 'carillon-client-'));
    try {
      const installed = join(place, 'node_modules', 'carillon-client');
      mkdirSync(installed, { recursive: true });
      const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
      const args = ['-p', PACKAGE, '--outDir', join(installed, 'dist')];
      const built = spawnSync(tsc, args, { encoding: 'utf8' });
      expect([built.status, built.stdout, built.stderr]).toEqual([0, '', '']);
      copyFileSync(join(PACKAGE, 'package.json'), join(installed, 'package.json'));
      const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
      const [, example = ''] = /```js example\n([\s\S]*?)```/.exec(readme) ?? [];
      writeFileSync(join(place, 'example.mjs'), example);
      const program = new Program(join(place, 'example.mjs'), [], {
        CARILLON_URL: url,
        AUTH_ID: service.account.authId,
        AUTH_TOKEN: service.account.authToken,
      });
      expect([await program.exited, program.stderr]).toEqual([0, '']);
      expect(program.stdout).toMatch(/^\d+ \d+\n404 /);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});

/** Runs a program in the folder of the Python client, while this process serves its requests. Returns its output. */
async function outputOf(
  program: string,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
) {
  const child = spawn(program, args, { cwd: PYTHON, env: { ...process.env, ...more } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(child, 'close');
  return output;
}

describe('failures', () => {
  const waits: number[] = [];
  /** A client of a scripted service that returns one response per attempt. */
  const scripted = (answers: readonly (() => Response)[], more: Partial<ClientOptions> = {}) => {
    const requested: RequestInit[] = [];
    waits.length = 0;
    const fetch = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
      requested.push(init);
      const answer = answers[requested.length - 1];
      if (answer !== undefined) return answer();
      return new Promise((_, reject) =>
        init.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
      );
    };
    const client = new Client({
      url: 'http://voice.test/',
      authId: 'MA_1',
      authToken: 't',
      fetch: fetch as typeof globalThis.fetch,
      wait: async (ms) => void waits.push(ms),
      random: () => 0.5,
      ...more,
    });
    return { client, requested };
  };
  const status =
    (code: number, headers = {}) =>
    () =>
      new Response('{}', { status: code, headers });
  const lost = (code: string) => () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  };
  const balance = (client: Client) => client.get(BALANCE, { path: { currency: 'USD' } });
  const remove = (client: Client) =>
    client.delete('/api/v1/Account/{auth_id}/Application/{app_id}/', { path: { app_id: '1' } });
  const make = (client: Client) =>
    client.post(APPLICATIONS, { body: { app_name: 'a', answer_url: 'https://a.example/' } });

  it('retries refused requests twice with increasing delays, and respects Retry-After', async () => {
    const { client, requested } = scripted([
      status(503, { 'retry-after': '3' }),
      status(429),
      status(200),
    ]);
    await balance(client);
    expect([requested.length, waits]).toEqual([3, [3000, 500]]);
    const tired = scripted([status(503), status(503), status(503), status(200)]);
    await expect(remove(tired.client)).rejects.toMatchObject({ status: 503 });
    expect(tired.requested).toHaveLength(3);
    const away = scripted([status(503, { 'retry-after': '3600' }), status(200)]);
    await expect(balance(away.client)).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
  });

  it('retries requests with an unknown outcome only if they are idempotent', async () => {
    for (const failure of [lost('ECONNRESET'), status(502), status(504)]) {
      await balance(scripted([failure, status(200)]).client);
      const posted = scripted([failure, status(200)]);
      await make(posted.client);
      const keys = posted.requested.map(({ headers }) =>
        new Headers(headers).get('idempotency-key'),
      );
      expect(keys[0]).toMatch(/^[\w-]{36}$/);
      expect(keys[1]).toBe(keys[0]);
      await expect(remove(scripted([failure, status(204)]).client)).rejects.toThrow(CarillonError);
    }
    const nobody = scripted([lost('ECONNREFUSED'), () => new Response(null, { status: 204 })]);
    expect(await remove(nobody.client)).toBeUndefined();
    await expect(balance(scripted([status(400), status(200)]).client)).rejects.toThrow(ApiError);
  });

  it('distinguishes kinds of failures', async () => {
    const reset = lost('ECONNRESET');
    const gone = balance(scripted([reset, reset, reset]).client);
    await expect(gone).rejects.toThrow(ConnectionError);
    const silent = scripted([], { timeoutMs: 5, retries: 0 });
    await expect(balance(silent.client)).rejects.toThrow(TimeoutError);
    const page = scripted([() => new Response('<html>')]);
    await expect(balance(page.client)).rejects.toThrow(ReplyError);
    const huge = scripted([() => new Response('x'.repeat(100))], { maxReplyBytes: 99 });
    await expect(balance(huge.client)).rejects.toThrow(ReplyError);
  });

  it("aborts with the reason of the caller's signal, including between two attempts", async () => {
    const stop = new AbortController();
    const { client } = scripted([]);
    const requested = client.get(BALANCE, { path: { currency: 'USD' }, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(requested).rejects.toThrow('enough');
    const later = new AbortController();
    const waiting = scripted([status(503), status(200)], {
      wait: async () => later.abort(new Error('enough')),
    });
    const input = { path: { currency: 'USD' }, signal: later.signal };
    await expect(waiting.client.get(BALANCE, input)).rejects.toThrow('enough');
    expect(waiting.requested).toHaveLength(1);
  });

  it('encodes path parameters and requires all of them', async () => {
    const { client } = scripted([status(404)]);
    const path = { currency: '../x' };
    const error = await client.get(BALANCE, { path }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    await expect(client.get(BALANCE, { path: { currency: '' } })).rejects.toThrow('no currency');
  });
});
