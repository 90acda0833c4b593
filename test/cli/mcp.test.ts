import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { accountClient, operatorClient } from '../../src/cli/connection.ts';
import { type McpHttpServer, serveHttp } from '../../src/cli/mcp/server.ts';
import { mcpTools } from '../../src/cli/mcp/tools.ts';
import { VERSION } from '../../src/config/version.ts';
import { startDemo } from '../../src/demo/demo.ts';
import { aCdr } from '../edge/store/records.ts';
import { aLiveCall } from '../spec/fake-control.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const READING = [
  'get_alarms',
  'get_balance',
  'get_call',
  'get_call_record',
  'get_campaign',
  'get_ladder',
  'get_status',
  'list_call_records',
  'list_campaigns',
  'list_live_calls',
  'test_stream',
  'validate_document',
];
const WRITING = ['hang_up_call', 'pause_campaign', 'resume_campaign'];

const ENTRY = { atUs: 0, kind: 'stream', text: 'transcript', facts: { text: 'Hi' } } as const;
const hungUp: string[] = [];
let ladder = 'A -> B INVITE';
let service: Service;
let env: Record<string, string>;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  service = await startService({
    deps: {
      liveCalls: {
        list: async () => [aLiveCall({ callerName: 'Grace' })],
        get: async () => ({ call: undefined, log: [ENTRY] }),
        messages: async () => ladder as never,
        quality: async () => undefined,
        scores: async () => [],
        hangup: async (callUuid) => {
          hungUp.push(callUuid);
          return true;
        },
        qualitySamples: async () => undefined,
      },
    },
  });
  const { authId, authToken } = service.account;
  env = {
    CARILLON_URL: (await service.server.start()).url,
    CARILLON_ADMIN_TOKEN: ADMIN_TOKEN,
    CARILLON_AUTH_ID: authId,
    CARILLON_AUTH_TOKEN: authToken,
  };
  const cdr = aCdr({ accountId: authId, hangupCauseName: 'Busy Line' });
  await service.store.calls.settle({ cdr, entries: [], notification: undefined });
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await service.stop();
});

/** The declared types of the SDK do not fit `exactOptionalPropertyTypes`. */
async function connected(transport: object): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  closing.push(() => client.close());
  return client;
}

async function overHttp(allowWrite: boolean): Promise<{ client: Client; server: McpHttpServer }> {
  const needs = { operator: () => operatorClient({}, env), account: () => accountClient({}, env) };
  const tools = mcpTools(needs, allowWrite);
  const server = await serveHttp(tools, { host: '127.0.0.1', port: 0, token: 'secret' });
  closing.push(() => server.stop());
  const requestInit = { headers: { authorization: 'Bearer secret' } };
  const transport = new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
  return { client: await connected(transport), server };
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).toSorted();

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content as readonly { readonly text: string }[];
  return { text: first?.text ?? '', isError: isError === true };
}

describe('carillon mcp over HTTP', () => {
  it('offers only reading tools by default, and marks the others', async () => {
    expect(await namesOf((await overHttp(false)).client)).toEqual(READING);
    const { client } = await overHttp(true);
    const { tools } = await client.listTools();
    const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
    expect(writing.map(({ name }) => name).toSorted()).toEqual(WRITING);
    expect(tools).toHaveLength(READING.length + WRITING.length);
  });

  it('refuses clients without the token', async () => {
    const { server } = await overHttp(false);
    const post = (authorization: string) =>
      fetch(server.url, { method: 'POST', body: '{}', headers: { authorization } });
    expect((await post('Bearer wrong')).status).toBe(401);
    expect((await post('')).status).toBe(401);
    expect((await post('Bearer secret')).status).not.toBe(401);
    expect((await fetch(`${server.url}/other`)).status).toBe(404);
  });

  it.each([
    ['POST', '[', 400, 'the body is not JSON'],
    ['POST', '1', 400, 'the body is not JSON'],
    ['POST', `"${'x'.repeat(1_100_000)}"`, 413, 'the body exceeds 1048576 bytes'],
    ['DELETE', undefined, 405, 'send requests with POST'],
  ])('refuses %s %.5s with %d and the reason', async (method, body, status, reason) => {
    const { server } = await overHttp(false);
    const reply = await fetch(server.url, {
      method,
      headers: { authorization: 'Bearer secret' },
      ...(body !== undefined && { body }),
    });
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({
      error: { message: expect.stringContaining(reason) },
    });
  });

  it('has the version of the service', async () => {
    const { client } = await overHttp(false);
    expect(client.getServerVersion()).toEqual({ name: 'carillon', version: VERSION });
  });

  it('answers questions about calls, records, balance and campaigns', async () => {
    const { client } = await overHttp(false);
    expect((await call(client, 'list_live_calls')).text).toContain('Grace');
    const one = { call_uuid: aCdr().callUuid };
    expect((await call(client, 'get_call', one)).text).toContain('transcript');
    expect((await call(client, 'get_ladder', one)).text).toBe('A -> B INVITE');
    const records = await call(client, 'list_call_records', { limit: 5 });
    expect(JSON.parse(records.text).data).toHaveLength(1);
    const record = await call(client, 'get_call_record', { call_uuid: aCdr().callUuid });
    expect(record.text).toContain('Busy Line');
    expect((await call(client, 'get_balance', { currency: 'USD' })).text).toContain(
      '"currency": "USD"',
    );
    expect((await call(client, 'list_campaigns')).isError).toBe(false);
    for (const name of ['get_alarms', 'get_status'])
      expect(await call(client, name)).toMatchObject({ isError: false });
  });

  it('hangs up a call if writing is allowed', async () => {
    const { client } = await overHttp(true);
    const one = { call_uuid: aCdr().callUuid };
    expect((await call(client, 'hang_up_call', one)).text).toBe('the call was hung up');
    expect(hungUp).toEqual([aCdr().callUuid]);
  });

  it('reports errors of the service and wrong arguments to the model', async () => {
    const { client } = await overHttp(false);
    const unknown = { call_uuid: '0b6c1c3e-8f0a-4f4e-9a53-000000000000' };
    expect((await call(client, 'get_call_record', unknown)).isError).toBe(true);
    expect(await call(client, 'get_call')).toEqual({ text: 'call_uuid is missing', isError: true });
    const odd = { currency: 'USD', x: 1 };
    expect((await call(client, 'get_balance', odd)).text).toBe('x is not an argument');
    const half = { limit: 1.5 };
    expect((await call(client, 'list_call_records', half)).text).toBe(
      'limit must be a whole number',
    );
    const many = { limit: 51 };
    expect((await call(client, 'list_call_records', many)).text).toBe('limit must be from 1 to 50');
    expect((await call(client, 'hang_up_call', unknown)).text).toBe(
      'there is no tool hang_up_call',
    );
  });

  it('says that a long result is cut', async () => {
    const { client } = await overHttp(false);
    ladder = 'A -> B INVITE\n'.repeat(10_000);
    const { text: shown } = await call(client, 'get_ladder', { call_uuid: aCdr().callUuid });
    ladder = 'A -> B INVITE';
    expect(shown.length).toBeLessThanOrEqual(100_000);
    expect(shown).toMatch(
      /^A -> B INVITE\n.*\n\[cut: 140000 characters, of which \d+ are shown\]$/s,
    );
  });

  it('validates documents and tests streams without a call', async () => {
    const { client } = await overHttp(false);
    const valid = await call(client, 'validate_document', {
      xml: '<Response><Hangup/></Response>',
    });
    expect(JSON.parse(valid.text)).toEqual({ valid: true, elements: ['hangup'], warnings: [] });
    const wrong = await call(client, 'validate_document', {
      xml: '<Response>\n<Dail/></Response>',
    });
    expect(JSON.parse(wrong.text)).toMatchObject({ valid: false, line: 2 });
    const demo = await startDemo({ host: '127.0.0.1', port: 0, logger: silentLogger });
    const tested = await call(client, 'test_stream', { url: demo.streamUrl, seconds: 1 });
    await demo.stop();
    expect(JSON.parse(tested.text).faults).toEqual([]);
    expect((await call(client, 'test_stream', { url: 'http://x/' })).isError).toBe(true);
  });
});

describe('carillon mcp on standard input and output', () => {
  it('serves a client that starts it', async () => {
    const args = [MAIN, 'mcp', '--allow-write'];
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    const client = await connected(transport);
    expect(await namesOf(client)).toEqual([...READING, ...WRITING].toSorted());
    const record = await call(client, 'get_call_record', { call_uuid: aCdr().callUuid });
    expect(record.text).toContain('Busy Line');
  });

  it('answers all requests of a script whose input ends', async () => {
    const child = spawn(process.execPath, [MAIN, 'mcp'], { env });
    const clientInfo = { name: 'script', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const requests = [
      { id: 1, method: 'initialize', params },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'get_status', arguments: {} } },
    ];
    child.stdin.end(
      requests.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''),
    );
    const lines = (await text(child.stdout)).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
  });
});
