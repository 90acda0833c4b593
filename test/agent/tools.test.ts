/** Tools of agents, called by a stand-in for OpenAI Realtime. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFile, AgentTool } from '../../src/agent/agent-file.ts';
import { AGENT, TestCall } from './call.ts';
import { type Event, Vendor } from './vendor.ts';

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

const asked: Asked[] = [];
let respond: (response: ServerResponse) => void;
let server: Server;
let url: string;
let vendor: Vendor;
let call: TestCall;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method = '', headers } = request;
      asked.push({ method, url: request.url ?? '', body, headers });
      respond(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slots`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  asked.length = 0;
  respond = (response) => response.end('{"free":["9:00"]}');
  vendor = await Vendor.listen();
  vendor.react = (event) => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated', session: {} });
  };
});
afterEach(async () => {
  call.conversation.close();
  await vendor.close();
});

const aTool = (more: Partial<AgentTool>): AgentTool => ({
  name: 'slots',
  type: 'http',
  description: 'Returns free slots',
  method: 'POST',
  headers: {},
  timeoutSeconds: 8,
  mode: 'blind',
  ...more,
});

async function begin(
  tools: readonly AgentTool[],
  more: Partial<AgentFile> = {},
  sounds?: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const model = { ...AGENT.model, url: vendor.url, apiKey: 'sk' };
  call = new TestCall({ ...more, model, tools: [...tools] }, sounds);
  await vendor.got(({ type }) => type === 'session.update');
}

/** Calls a tool and returns its result for the model. */
async function result(name: string, args: Event, id = 'c1'): Promise<unknown> {
  vendor.send({
    type: 'response.function_call_arguments.done',
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  });
  const reply = await vendor.got(
    ({ type, item }) =>
      type === 'conversation.item.create' && (item as Event | undefined)?.['call_id'] === id,
  );
  return (reply['item'] as Event)['output'];
}

describe('HTTP tools', () => {
  it('send the arguments as JSON and return the response', async () => {
    await begin([
      aTool({ url, headers: { 'X-Key': 'k' }, parameters: { properties: { day: {} } } }),
    ]);
    expect(vendor.received[0]?.['session']).toMatchObject({
      tools: [
        {
          type: 'function',
          name: 'slots',
          parameters: { type: 'object', properties: { day: {} } },
        },
      ],
    });
    expect(await result('slots', { day: '2026-05-01' })).toBe('{"free":["9:00"]}');
    expect(asked).toMatchObject([{ method: 'POST', url: '/slots', body: '{"day":"2026-05-01"}' }]);
    expect(asked[0]?.headers).toMatchObject({ 'x-key': 'k', 'content-type': 'application/json' });
  });

  it('send the content type of the file once', async () => {
    await begin([aTool({ url, headers: { 'Content-Type': 'application/vnd.api+json' } })]);
    await result('slots', {});
    expect(asked[0]?.headers['content-type']).toBe('application/vnd.api+json');
  });

  it('send the arguments of GET in the query', async () => {
    await begin([aTool({ url: `${url}?a=1`, method: 'GET' })]);
    await result('slots', { day: 'monday', list: [1] });
    expect(asked[0]?.url).toBe('/slots?a=1&day=monday&list=%5B1%5D');
  });

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['an error status', (r) => r.writeHead(503).end('down'), /^error: status 503: down$/],
    [
      'a redirect',
      (r) => r.writeHead(302, { location: 'http://a/' }).end(),
      /^error: the request failed: unexpected redirect$/,
    ],
    [
      'an endless response',
      (r) => r.end('x'.repeat(1_000_000)),
      /^error: the request failed: the response exceeds 16384 bytes$/,
    ],
    ['a broken connection', (r) => r.destroy(), /^error: the request failed: other side closed$/],
    ['no response in time', () => undefined, /^error: no response within 0.2 s$/],
  ])('tell the model about %s', async (_, fault, expected) => {
    respond = fault;
    await begin([aTool({ url, timeoutSeconds: 0.2 })]);
    const output = await result('slots', {});
    expect(output).toMatch(expected);
    // The timeline shows why the model could not use the tool.
    expect(call.notes.map(({ text }) => text)).toContain(`tool slots: ${output}`);
    expect(call.outcome).toBeUndefined();
  });
});

describe('tools', () => {
  it('that the model invents are in the timeline', async () => {
    await begin([aTool({ url })]);
    expect(await result('missing', {})).toBe('error: there is no such tool');
    expect(call.notes.map(({ text }) => text)).toEqual([
      'tool missing: error: there is no such tool',
    ]);
  });

  it('play a sound to the caller', async () => {
    const sound = Buffer.alloc(1600, 1);
    await begin([aTool({ name: 'menu', type: 'play' })], {}, new Map([['menu', sound]]));
    expect(await result('menu', {})).toBe('playing');
    expect((await call.told('playAudio'))['media']).toEqual({
      contentType: 'audio/x-l16',
      sampleRate: 8000,
      payload: sound.toString('base64'),
    });
  });

  it('request a warm transfer and return its result', async () => {
    const mover = aTool({ name: 'move', type: 'transfer', mode: 'warm', to: ['100', '200'] });
    await begin([{ ...mover, callerId: '14155550100', music: 'https://a.example/m.mp3' }]);
    const output = result('move', { to: '200', reason: 'Anna has a question.' });
    expect(await call.told('transfer')).toEqual({
      event: 'transfer',
      transfer: {
        mode: 'warm',
        to: '200',
        callerId: '14155550100',
        music: 'https://a.example/m.mp3',
        introduction: 'Anna has a question.',
      },
    });
    call.receive({ event: 'transfer', transfer: { status: 'ringing', detail: '' } });
    call.receive({ event: 'transfer', transfer: { status: 'failed', detail: 'busy' } });
    expect(await output).toBe('transfer failed: busy');
  });

  it('stop at the limit of calls', async () => {
    await begin([aTool({ url })], { limits: { ...AGENT.limits, toolCalls: 1 } });
    expect(await result('slots', {}, 'c1')).toBe('{"free":["9:00"]}');
    expect(await result('slots', {}, 'c2')).toBe('error: too many tool calls');
    expect(asked).toHaveLength(1);
  });
});
