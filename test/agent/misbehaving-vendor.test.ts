/** Vendors that break the rules of TLS, HTTP, WebSocket or their own protocol. The caller hears at most the fallback. */
import { createHash } from 'node:crypto';
import { createServer as createHttp, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { eventually, until } from '../eventually.ts';
import { AGENT, TestCall } from './call.ts';
import { audio24k, type Event, Vendor } from './vendor.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function portOf(server: Server | HttpServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Begins a call with the vendor at `url`. */
function callTo(url: string, agent: Partial<AgentFile> = {}): TestCall {
  const call = new TestCall({ ...agent, model: { ...AGENT.model, url, apiKey: 'sk-test' } });
  closing.push(() => call.conversation.close());
  return call;
}

/** The call ends with the fallback once, and its record states the cause. */
async function fails(call: TestCall, cause: RegExp): Promise<void> {
  await eventually('an outcome', () => call.outcome);
  expect(call.outcomes).toMatchObject([{ kind: 'fallback', cause: expect.stringMatching(cause) }]);
  expect(call.notes.map(({ text }) => text).join('\n')).toMatch(
    new RegExp(`failed: .*${cause.source}`),
  );
  expect(call.of('stop')).toHaveLength(1);
}

/** A vendor that completes the WebSocket handshake and then sends bytes. */
async function vendorOfFrames(
  frames: readonly Buffer[],
  headers: readonly string[] = [],
): Promise<string> {
  const server = createHttp();
  server.on('upgrade', ({ headers: { 'sec-websocket-key': key } }, socket) => {
    socket.on('error', () => undefined);
    const accept = createHash('sha1')
      .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept}`,
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.resume();
    socket.write(Buffer.concat(frames));
  });
  return `ws://127.0.0.1:${await portOf(server)}/`;
}

/** A frame with the first byte `head` and an announced length (RFC 6455 section 5.2). */
function frame(head: number, payload: Buffer, announced = payload.length): Buffer {
  const length = Buffer.alloc(10);
  length[0] = head;
  length[1] = 127;
  length.writeBigUInt64BE(BigInt(announced), 2);
  return Buffer.concat([length, payload]);
}

const TEXT = 0x81;
const PING = 0x89;

describe('the fallback and its cause, with a vendor that', () => {
  it('has a URL that the WebSocket client refuses', async () => {
    await fails(callTo('ws://127.0.0.1:9/live#part'), /cannot be reached: .*fragment/);
  });

  it('has a key that is not a valid header value', async () => {
    const call = new TestCall({
      model: { ...AGENT.model, url: 'ws://127.0.0.1:9/live', apiKey: 'sk-test\n' },
    });
    closing.push(() => call.conversation.close());
    await fails(call, /cannot be reached: Invalid character in header/);
  });

  it('accepts the connection and never answers the TLS handshake', async () => {
    const port = await portOf(createServer());
    const call = callTo(`wss://127.0.0.1:${port}/`);
    await call.clock.advance(5000);
    await fails(call, /did not accept the session in time/);
  });

  it('breaks off in the middle of the TLS handshake', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('\x16\x03\x03')));
    await fails(callTo(`wss://127.0.0.1:${await portOf(server)}/`), /the model .+/);
  });

  it('trickles the response of the handshake', async () => {
    const server = createServer((socket) => socket.write('HTTP/1.1 101 Swi'));
    const call = callTo(`ws://127.0.0.1:${await portOf(server)}/`);
    await call.clock.advance(5000);
    await fails(call, /did not accept the session in time/);
  });

  it.each([
    [429, { 'retry-after': '20' }, '{"error":{"message":"Rate limit reached"}}'],
    [500, {}, '<html>'],
    [503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'x'.repeat(100_000)],
    [401, {}, '{"error":{"message":"Incorrect API key provided"}}'],
  ])('refuses the handshake with %d', async (status, headers, body) => {
    const server = createHttp();
    server.on('upgrade', (_, socket) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.on('error', () => undefined);
      socket.end(
        `HTTP/1.1 ${status} No\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n${body}`,
      );
    });
    const said = /"message":"([^"]+)"/.exec(body)?.[1] ?? '';
    const wait = 'retry-after' in headers ? `, retry after ${headers['retry-after']}` : '';
    const cause = new RegExp(`the model responded with status ${status}${wait}.*${said}`);
    await fails(callTo(`ws://127.0.0.1:${await portOf(server)}/`), cause);
  });

  it.each([
    [
      'selects a subprotocol that was not offered',
      [],
      ['Sec-WebSocket-Protocol: mqtt'],
      'subprotocol',
    ],
    ['selects an extension', [], ['Sec-WebSocket-Extensions: permessage-deflate'], 'xtension'],
    ['announces a frame of 1 TB', [frame(TEXT, Buffer.from('{'), 2 ** 40)], [], 'payload size'],
    ['sends invalid UTF-8', [frame(TEXT, Buffer.from([0x7b, 0xff, 0xfe]))], [], 'UTF-8'],
    ['sends a compressed frame', [frame(TEXT | 0x40, Buffer.from('{}'))], [], 'RSV1'],
    ['sends a masked frame', [Buffer.from([TEXT, 0x80, 0, 0, 0, 0])], [], 'MASK'],
    ['sends a continuation without a begin', [frame(0x80, Buffer.from('{}'))], [], 'opcode 0'],
    ['sends no JSON', Array(30).fill(frame(TEXT, Buffer.from('hello'))), [], 'malformed events'],
    [
      'sends nested arrays',
      Array(30).fill(frame(TEXT, Buffer.from('['.repeat(100_000)))),
      [],
      'malformed events',
    ],
    ['floods pings', Array(2000).fill(Buffer.from([PING, 0])), [], 'too many pings'],
  ])('%s', async (_, frames, headers, cause) => {
    await fails(callTo(await vendorOfFrames(frames, headers)), new RegExp(cause));
  });
});

describe('a session with a vendor that', () => {
  let vendor: Vendor;
  let call: TestCall;

  async function begin(agent: Partial<AgentFile> = {}): Promise<void> {
    vendor = await Vendor.listen();
    closing.push(() => void vendor.close());
    vendor.react = (event) => {
      if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
    };
    call = callTo(vendor.url, agent);
    await until(() => call.isReady);
  }

  const done = (id: string, output: readonly Event[] = []): Event => ({
    type: 'response.done',
    response: { id, status: 'completed', output },
  });
  const texts = () => call.notes.map(({ text }) => String(text));

  it.each(['session_expired', 'token_expired', 'insufficient_quota', 'rate_limit_exceeded'])(
    'reports %s during the call',
    async (code) => {
      await begin();
      vendor.send({ type: 'error', error: { code, message: 'The session has ended.' } });
      await fails(call, new RegExp(`${code}: The session has ended`));
    },
  );

  it('gives only empty answers', async () => {
    await begin();
    vendor.send({ type: 'response.created' }, done('r1'));
    await until(() => texts().length > 0);
    expect(texts()).toEqual(['warning: the model gave an empty answer']);
    // An answer with content ends the series.
    vendor.send(
      { type: 'response.output_audio.delta', item_id: 'i', delta: audio24k(20) },
      done('r2'),
      ...['r3', 'r4', 'r5'].map((id) => done(id)),
    );
    await fails(call, /the model gives only empty answers/);
    expect(texts().filter((text) => text.startsWith('warning'))).toHaveLength(4);
  });

  it('speaks forever', async () => {
    await begin();
    const minute = { type: 'response.output_audio.delta', item_id: 'i', delta: audio24k(60_000) };
    vendor.send(...Array<Event>(12).fill(minute));
    await fails(call, /the model sent more audio than the caller can hear/);
  });

  it('speaks forever in real time, until the limit of the call', async () => {
    await begin({ limits: { ...AGENT.limits, minutes: 0.5 } });
    const second = { type: 'response.output_audio.delta', item_id: 'i', delta: audio24k(1000) };
    for (let at = 0; at < 31 && call.outcome === undefined; at += 1) {
      const before = call.of('playAudio').length;
      vendor.send(second);
      await until(() => call.of('playAudio').length > before);
      await call.clock.advance(1000);
    }
    expect(call.outcome).toEqual({ kind: 'limit' });
    expect(texts()).toContain('limit reached: minutes');
  });

  it('repeats tool calls endlessly', async () => {
    const tool = { name: 'keys', type: 'digits', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [tool], limits: { ...AGENT.limits, toolCalls: 3 } });
    let calls = 0;
    vendor.react = (event) => {
      if (event['type'] !== 'response.create') return;
      calls += 1;
      const item = { type: 'function_call', call_id: `c${calls}`, name: 'keys', arguments: '{}' };
      vendor.send({ type: 'response.created' }, done(`r${calls}`, [item]));
    };
    vendor.send(
      done('r0', [{ type: 'function_call', call_id: 'c0', name: 'keys', arguments: '{}' }]),
    );
    await fails(call, /the model called functions endlessly/);
    expect(calls).toBe(8);
  });

  it.each([
    ['text', 'please press one', 'not valid JSON'],
    ['an array', '[1]', 'must be a JSON object'],
    ['an incomplete object', '{"digits":"1', 'not valid JSON'],
    ['deep nesting', `{"a":${'{"a":'.repeat(3000)}1${'}'.repeat(3001)}`, 'error'],
    ['a megabyte', `{"a":"${'x'.repeat(1_000_000)}"}`, 'too long'],
  ])('calls a function with %s as arguments', async (_, given, result) => {
    const tool = {
      name: 'look',
      type: 'http',
      method: 'POST',
      headers: {},
      timeoutSeconds: 1,
      description: 'd',
      url: 'http://127.0.0.1:1/',
    } as unknown as AgentFile['tools'][number];
    await begin({ tools: [tool] });
    vendor.send(
      done('r1', [{ type: 'function_call', call_id: 'c1', name: 'look', arguments: given }]),
    );
    const reply = await vendor.got(({ type }) => type === 'conversation.item.create');
    expect(JSON.stringify(reply)).toContain(result);
    expect(call.outcome).toBeUndefined();
  });

  it('sends fields of wrong types in every known event', async () => {
    await begin();
    const types = ['response.created', 'response.output_item.added', 'response.output_item.done'];
    const more = ['response.output_audio.delta', 'response.function_call_arguments.done', 'error'];
    const values = [null, 0, '', [], {}, true, '\ud800', 1e308];
    for (const type of [...types, ...more, 'response.output_audio_transcript.done'])
      for (const value of values)
        vendor.send({
          type,
          response: value,
          item: value,
          item_id: value,
          delta: value,
          error: value,
          transcript: value,
          arguments: value,
          call_id: value,
          name: value,
        });
    vendor.send({ type: 'response.output_audio.delta', item_id: 'last', delta: audio24k(20) });
    await call.told('checkpoint', ({ name }) => name === 'last');
    expect(call.outcome).toBeUndefined();
  });
});
