import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { DEFAULT_STREAM_LIMITS } from '../../../src/edge/stream/client.ts';
import { until } from '../../eventually.ts';
import { faultsOf } from '../../protocol/audio-stream/strict-schema.ts';
import { Bot, guard, mediaMessage, OPTIONS, openStream } from './fixture.ts';

const cleanups: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function bot(options?: Parameters<typeof Bot.listen>[0]): Promise<Bot> {
  const started = await Bot.listen(options);
  cleanups.push(() => started.stop());
  return started;
}

async function started(
  at: Bot,
  ...more: Parameters<typeof openStream> extends [string, ...infer R] ? R : never
) {
  const stream = openStream(at.url, ...more);
  await until(() => stream.reported.log.includes('started'), 'started');
  const media = stream.media[0];
  if (media === undefined) throw new Error('no media stream was opened');
  cleanups.push(() => stream.socket.close('call_hangup'));
  return { ...stream, media };
}

describe('upgrade (dialect §1.3, §1.4)', () => {
  it('sends signature, User-Agent and copies of the extra headers; no subprotocol, no compression', async () => {
    const customer = await bot();
    await started(customer);
    const { headers } = customer.requests[0]!;
    expect(headers).toMatchObject({
      'x-plivo-signature-v3': 'signed',
      'user-agent': 'Carillon/test',
      'x-ph-tenant': '7',
      'x-vh-tenant': '7',
      'sec-websocket-version': '13',
    });
    expect(headers['sec-websocket-protocol']).toBeUndefined();
    expect(headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('signs the URL as configured for the account of the call', async () => {
    const customer = await bot();
    const signed: unknown[] = [];
    const url = `${customer.url}/ws?b=2&a=1`;
    const stream = openStream(
      url,
      {},
      {
        signUpgrade: (...what) => {
          signed.push(what);
          return Promise.resolve({});
        },
      },
    );
    await until(() => stream.reported.log.includes('started'), 'started');
    expect(signed).toEqual([[url, OPTIONS.accountId]]);
    expect(customer.requests[0]?.url).toBe('/ws?b=2&a=1');
  });

  it('converts user information of the URL to Basic authorization and removes it from the URL', async () => {
    const customer = await bot();
    const stream = openStream(customer.url.replace('ws://', 'ws://us%40er:p%3Ass@'));
    await until(() => stream.reported.log.includes('started'), 'started');
    const expected = `Basic ${Buffer.from('us@er:p:ss').toString('base64')}`;
    expect(customer.requests[0]?.headers.authorization).toBe(expected);
  });

  it('omits extra headers that are invalid in HTTP', async () => {
    const customer = await bot();
    await started(customer, {
      extraHeaders: [
        ['evil', 'a\r\nHost: x'],
        ['good', 'yes'],
      ],
    });
    expect(customer.requests[0]?.headers['x-ph-good']).toBe('yes');
    expect(customer.requests[0]?.headers['x-ph-evil']).toBeUndefined();
  });
});

describe('outbound audio', () => {
  it('sends start first, then numbered media, as text that strict clients accept', async () => {
    const customer = await bot();
    const { media } = await started(customer);
    media.events.media([mediaMessage(1), mediaMessage(2)]);
    media.events.media([mediaMessage(3)]);
    await until(() => customer.messages.length === 4, 'four messages');
    expect(customer.messages.flatMap(faultsOf)).toEqual([]);
    expect(customer.messages.map((text) => JSON.parse(text).sequenceNumber)).toEqual([0, 1, 2, 3]);
    expect(customer.events('media').map((m) => (m['media'] as { chunk: number }).chunk)).toEqual([
      1, 2, 3,
    ]);
  });

  it('allows the engine to reuse its buffer immediately', async () => {
    const customer = await bot();
    const { media } = await started(customer);
    const buffer = mediaMessage(1);
    for (let i = 0; i < 50; i += 1) {
      buffer.set(mediaMessage(1));
      media.events.media([buffer]);
      buffer.fill(0);
    }
    await until(() => customer.messages.length === 51, 'all messages');
    expect(customer.messages.flatMap(faultsOf)).toEqual([]);
  });

  it('opens the media side with the format, tracks and extra_headers of the stream', async () => {
    const customer = await bot();
    const { media } = await started(customer, { encoding: 'audio/x-mulaw' });
    expect(media.options).toMatchObject({
      streamId: OPTIONS.streamId,
      encoding: 'audio/x-mulaw',
      rate: 8000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{\\"tenant\\":\\"7\\"}"',
      queueMs: 60_000,
    });
  });

  it('keeps dtmf in order between media messages', async () => {
    const customer = await bot();
    const { media } = await started(customer);
    media.events.media([mediaMessage(1)]);
    media.events.dtmf('5', 1_760_000_001_000);
    media.events.media([mediaMessage(2)]);
    await until(() => customer.messages.length === 4, 'four messages');
    expect(customer.messages.map((text) => JSON.parse(text).event)).toEqual([
      'start',
      'media',
      'dtmf',
      'media',
    ]);
    expect(customer.messages.flatMap(faultsOf)).toEqual([]);
  });
});

describe('messages of the bot', () => {
  it('delivers checkpoint, playedStream, clearAudio and clearedAudio to engine, bot and call', async () => {
    const customer = await bot();
    const { media, reported } = await started(customer);
    customer.say({ event: 'checkpoint', streamId: OPTIONS.streamId, name: 'utt-7' });
    await until(() => media.log.length === 1, 'checkpoint');
    media.events.played(media.log[0]!.split(' ')[1]!);
    customer.say({ event: 'clearAudio', streamId: OPTIONS.streamId });
    await until(() => customer.messages.length === 3, 'answers');
    expect(customer.events('playedStream')).toMatchObject([{ name: 'utt-7' }]);
    expect(media.log).toEqual(['checkpoint 1', 'clear']);
    expect(reported.log).toEqual(['started', 'played utt-7', 'cleared']);
  });

  it('decodes and queues playAudio in an unusual form; reports a full queue', async () => {
    const customer = await bot();
    const { media, reported } = await started(customer);
    const message = {
      media: { sampleRate: '16000', payload: 'AAAA', contentType: 'audio/L16' },
      event: 'playAudio',
    };
    customer.say(message);
    await until(() => media.log.length === 1, 'enqueue');
    media.accepts = false;
    customer.say(message);
    await until(() => customer.events('error').length === 1, 'error');
    expect(media.log).toEqual(['enqueue audio/x-l16 16000', 'enqueue audio/x-l16 16000']);
    expect(reported.faults).toEqual(['buffer_full']);
  });

  it('passes sendDTMF to the call and keeps the stream open', async () => {
    const customer = await bot();
    const { reported } = await started(customer);
    customer.say({ event: 'sendDTMF', dtmf: '12#' });
    await until(() => reported.log.includes('digits 12#'), 'digits');
    expect(reported.ends).toEqual([]);
  });

  it('reports broken JSON, partial frames and binary data as error events without closing', async () => {
    const customer = await bot();
    const { media, reported } = await started(customer);
    customer.say('{"event":"playAu');
    customer.say('');
    customer.sockets[0]?.send(Buffer.from([0, 255, 1]));
    customer.say({ event: 'checkpoint', name: 'still here' });
    await until(() => media.log.length === 1, 'checkpoint');
    await until(() => customer.events('error').length === 3, 'errors');
    expect(customer.messages.flatMap(faultsOf)).toEqual([]);
    expect(reported.faults).toEqual(['invalid_message', 'invalid_message', 'invalid_message']);
    expect(reported.ends).toEqual([]);
  });

  it('reassembles a message from many WebSocket fragments', async () => {
    const customer = await bot();
    const { media } = await started(customer);
    const text = JSON.stringify({ event: 'checkpoint', name: 'fragments' });
    for (const char of text) customer.sockets[0]?.send(char, { fin: false });
    customer.sockets[0]?.send('', { fin: true });
    await until(() => media.log.length === 1, 'checkpoint');
  });

  it('ends the stream on stop: confirms it and closes with 1000', async () => {
    const customer = await bot();
    const { media, reported } = await started(customer);
    customer.say({ event: 'stop', streamId: OPTIONS.streamId });
    await until(() => reported.ends.length === 1 && customer.closes.length === 1, 'end');
    expect(reported.ends).toEqual([{ kind: 'stopRequested' }]);
    expect(customer.closes[0]?.code).toBe(1000);
    expect(customer.events('stop')).toHaveLength(1);
    expect(media.log).toEqual(['close']);
  });
});

describe('ends', () => {
  it('sends stop as the last message on close(reason)', async () => {
    const customer = await bot();
    const { socket, reported, media } = await started(customer);
    media.events.media([mediaMessage(1)]);
    socket.close('stream_timeout');
    socket.close('call_hangup');
    media.events.media([mediaMessage(2)]);
    await until(() => customer.closes.length === 1, 'close');
    expect(customer.messages.map((text) => JSON.parse(text).event)).toEqual([
      'start',
      'media',
      'stop',
    ]);
    expect(customer.events('stop')).toMatchObject([{ stop: { reason: 'stream_timeout' } }]);
    expect(reported.ends).toEqual([{ kind: 'closed' }]);
  });

  it('waits for the queue to be sent when draining', async () => {
    const customer = await bot();
    const { socket, reported, media } = await started(customer);
    socket.close('xml_moved_on', { drain: true });
    expect(media.log).toEqual(['checkpoint 0']);
    expect(reported.ends).toEqual([]);
    media.events.played('0');
    await until(() => customer.closes.length === 1, 'close');
    expect(reported.ends).toEqual([{ kind: 'closed' }]);
  });

  it('never reports the end inside the call that caused it', async () => {
    const customer = await bot();
    const { socket, reported } = await started(customer);
    socket.close('call_hangup');
    expect(reported.ends).toEqual([]);
    await Promise.resolve();
    expect(reported.ends).toHaveLength(1);
  });

  it.each([
    [1000, 'bye', 'code 1000, "bye"'],
    [1011, '', 'code 1011'],
  ])(
    'reports a close by the application with %i as dropped, with code and reason',
    async (code, reason, words) => {
      const customer = await bot();
      const { reported } = await started(customer);
      customer.sockets[0]?.close(code, reason);
      await until(() => reported.ends.length === 1, 'end');
      expect(reported.ends).toEqual([{ kind: 'dropped', detail: expect.stringContaining(words) }]);
    },
  );

  it('reports a broken connection as dropped', async () => {
    const customer = await bot();
    const { reported } = await started(customer);
    customer.sockets[0]?.terminate();
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([{ kind: 'dropped' }]);
  });

  it('drops a bot that does not answer pings', async () => {
    const customer = await bot({ autoPong: false });
    const { reported, clock } = await started(customer);
    await clock.advance(40_000);
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('pong') },
    ]);
  });

  it('keeps a bot that answers pings', async () => {
    const customer = await bot();
    let pings = 0;
    const { reported, clock } = await started(customer);
    customer.sockets[0]?.on('ping', () => {
      pings += 1;
    });
    for (let i = 1; i <= 5; i += 1) {
      await clock.advance(20_000);
      await until(() => pings === i, `ping ${i}`);
      // The pong is in transit: it arrives before a message that the bot sends after it.
      const received = reported.log.length;
      customer.say({ event: 'clearAudio' });
      await until(() => reported.log.length > received, 'cleared');
    }
    expect(reported.ends).toEqual([]);
  });

  it('closes with 1009 and a reason on a message beyond the limit', async () => {
    const customer = await bot();
    const limits = { maxMessageBytes: 1000 };
    const { reported } = await started(customer, {}, { limits });
    customer.say('x'.repeat(1001));
    await until(() => reported.ends.length === 1 && customer.closes.length === 1, 'end');
    expect(reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('exceeds the limit of 1000 bytes') },
    ]);
    expect(customer.closes[0]).toEqual({
      code: 1009,
      reason: 'the message exceeds the limit of 1000 bytes',
    });
    expect(customer.events('error')[0]?.['error']).toEqual({
      code: 'invalid_message',
      message: 'the message exceeds the limit of 1000 bytes',
    });
    expect(customer.messages.at(-1)).toContain('"event":"error"');
  });

  it('drops the stream without media', async () => {
    const customer = await bot();
    const stream = openStream(customer.url, {}, {}, 'leg closed');
    await until(() => stream.reported.ends.length === 1, 'end');
    expect(stream.reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('leg closed') },
    ]);
  });
});

describe('connect failures', () => {
  const failure = async (url: string, client: Parameters<typeof openStream>[2] = {}) => {
    const { reported } = openStream(url, {}, client);
    await until(() => reported.ends.length === 1, 'end');
    return reported.ends[0];
  };

  it('reports a refused connection', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await failure(`ws://127.0.0.1:${port}`)).toEqual({
      kind: 'connectFailed',
      detail: 'the connection failed: ECONNREFUSED',
    });
  });

  it('reports an HTTP status instead of an upgrade, including redirects', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: 'ws://127.0.0.1:1/' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const end = await failure(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(end).toEqual({
      kind: 'connectFailed',
      detail: 'the server answered the upgrade with HTTP 302',
    });
  });

  it('times out on a server that accepts and sends nothing', async () => {
    const server = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => server.close());
    const { reported, clock } = openStream(
      `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    await clock.advance(DEFAULT_STREAM_LIMITS.session.connectMs);
    expect(reported.ends).toMatchObject([
      { kind: 'connectFailed', detail: expect.stringContaining('10000 ms') },
    ]);
  });

  it.each([
    ['http://127.0.0.1/', 'must start with wss:// or ws://, not with http://'],
    ['not a url', 'cannot be parsed'],
    ['ws://127.0.0.1:0/', 'the stream URL must not have port 0'],
  ])('refuses %s', async (url, words) => {
    expect(await failure(url)).toEqual({
      kind: 'connectFailed',
      detail: expect.stringContaining(words),
    });
  });

  it('refuses ws:// unless it is allowed', async () => {
    const customer = await bot();
    expect(await failure(customer.url, { egress: guard(false) })).toMatchObject({
      kind: 'connectFailed',
    });
    expect(customer.requests).toEqual([]);
  });

  it('never connects to an address that the egress guard refuses', async () => {
    const customer = await bot();
    expect(await failure(customer.url, { egress: guard(true, false) })).toEqual({
      kind: 'connectFailed',
      detail: expect.stringMatching(/^the address is refused: /),
    });
    const byName = customer.url.replace('127.0.0.1', 'localhost');
    expect(await failure(byName, { egress: guard(true, false) })).toEqual({
      kind: 'connectFailed',
      detail: expect.stringMatching(/^the address is refused: /),
    });
    expect(customer.requests).toEqual([]);
  });

  it('ends when the call closes it while connecting', async () => {
    const customer = await bot();
    const { reported, socket } = openStream(customer.url);
    socket.close('call_hangup');
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toEqual([{ kind: 'closed' }]);
    expect(reported.log).toEqual([]);
  });
});

describe('a bot that does not read', () => {
  it('loses the oldest media, keeps the newest and all control messages, and uses bounded memory', async () => {
    const customer = await bot();
    const { media, reported, streams, socket } = await started(customer);
    customer.sockets[0]?.pause();
    for (let chunk = 1; chunk <= 20_000; chunk += 1) media.events.media([mediaMessage(chunk)]);
    media.events.dtmf('5', 1_760_000_001_000);
    await until(() => reported.log.includes('degraded 90'), 'all levels');
    expect(reported.log.slice(0, 4)).toEqual([
      'started',
      'degraded 30',
      'degraded 60',
      'degraded 90',
    ]);
    customer.sockets[0]?.resume();
    await until(() => customer.events('dtmf').length === 1, 'dtmf');
    const chunks = customer.events('media').map((m) => (m['media'] as { chunk: number }).chunk);
    expect(chunks.at(-1)).toBe(20_000);
    expect(chunks.length).toBeLessThan(20_000);
    expect([...chunks].sort((a, b) => a - b)).toEqual(chunks);
    socket.close('call_hangup');
    await until(() => reported.ends.length === 1, 'end');
    expect(streams.counters().mediaDropped).toBe(20_000 - chunks.length);
    expect(streams.counters().open).toBe(0);
  });

  it('receives at most the newest four seconds of a burst', async () => {
    const customer = await bot();
    const { media } = await started(customer);
    const chunks = () =>
      customer.events('media').map((m) => (m['media'] as { chunk: number }).chunk);
    let sent = 0;
    const send = (): void => {
      sent += 1;
      media.events.media([mediaMessage(sent)]);
    };
    // Send as fast as the bot reads, because a live line is not faster.
    while (sent < 200) {
      send();
      await until(() => chunks().length === sent, 'the message');
    }
    customer.sockets[0]?.pause();
    for (let i = 0; i < 600; i += 1) send();
    media.events.dtmf('5', 1_760_000_001_000);
    send();
    customer.sockets[0]?.resume();
    await until(
      () => customer.events('dtmf').length === 1 && chunks().at(-1) === sent,
      'the present',
    );
    const late = chunks().filter((chunk) => chunk > 200);
    expect(late.length).toBeLessThanOrEqual(202);
    expect([...late].sort((a, b) => a - b)).toEqual(late);
    const tail = customer.messages.map((text) => JSON.parse(text).event).slice(-2);
    expect(tail).toEqual(['dtmf', 'media']);
  });

  it('is dropped when control messages exceed the limit', async () => {
    const customer = await bot();
    const { media, reported } = await started(customer);
    customer.sockets[0]?.pause();
    for (let i = 0; i < 60_000 && reported.ends.length === 0; i += 1) {
      media.events.dtmf('5', 1_760_000_001_000);
      if (i % 1000 === 0) await Promise.resolve();
    }
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toEqual([
      { kind: 'dropped', detail: 'the application does not read its socket' },
    ]);
  });
});

describe('a bot that floods', () => {
  it('is read at the limited rate, warned once, and disconnected if it continues', async () => {
    const customer = await bot();
    const limits = { messages: { perSecond: 50, burst: 100 }, floodMs: 300 };
    const { media, streams, reported } = await started(customer, {}, { limits });
    media.verdict = 'taken';
    const flood = JSON.stringify({ event: 'playAudio', media: { payload: 'A'.repeat(20_000) } });
    const startMs = performance.now();
    for (let i = 0; i < 5000; i += 1) customer.say(flood);
    await until(() => reported.ends.length === 1, 'end');
    const allowed = 100 + (performance.now() - startMs) * 0.05 + 1;
    expect(streams.counters().messagesReceived).toBeLessThanOrEqual(allowed);
    expect(reported.faults).toEqual(['buffer_full']);
    expect(reported.ends).toEqual([
      { kind: 'dropped', detail: 'the application flooded the socket' },
    ]);
  });
});

describe('garbage instead of HTTP', () => {
  it('causes a connect failure', async () => {
    const server = createTcpServer((socket) => socket.end('garbage\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { reported } = openStream(`ws://127.0.0.1:${port}`);
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([{ kind: 'connectFailed' }]);
  });
});

describe('wss', () => {
  const file = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url));

  const received: string[] = [];
  beforeEach(() => received.splice(0));

  async function secureBot(greet: (socket: WebSocket) => void = () => undefined): Promise<string> {
    const server = createHttpsServer({
      key: readFileSync(file('key.pem')),
      cert: readFileSync(file('cert.pem')),
    });
    const sockets = new WebSocketServer({ server });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      for (const client of sockets.clients) client.terminate();
      server.close();
    });
    sockets.on('connection', (socket) => {
      socket.on('message', (data) => received.push(String(data)));
      socket.on('close', (code) => received.push(`close ${code}`));
      socket.on('error', () => undefined);
      greet(socket);
    });
    return `wss://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('reports an unknown certificate authority as a connect failure with the reason', async () => {
    const { reported } = openStream(await secureBot());
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toEqual([
      { kind: 'connectFailed', detail: 'the connection failed: DEPTH_ZERO_SELF_SIGNED_CERT' },
    ]);
  });

  it('trusts an authority of the operator in addition to the built-in ones, without allowing ws://', async () => {
    const client = { caFile: file('cert.pem'), egress: guard(false) };
    const { reported, socket } = openStream(await secureBot(), {}, client);
    await until(() => reported.log.includes('started'), 'started');
    socket.close('call_hangup');
    await until(() => received.includes('close 1000'), 'close');
  });

  it.each(['localhost', '127.0.0.1'])(
    'accepts the name of the URL, %s, in the certificate',
    async (host) => {
      const url = (await secureBot()).replace('127.0.0.1', host);
      const { reported, socket } = openStream(url, {}, { caFile: file('cert.pem') });
      await until(() => reported.log.includes('started'), 'started');
      socket.close('call_hangup');
      await until(() => received.includes('close 1000'), 'close');
      expect(received.map((text) => text.slice(0, 5))).toEqual(['{"seq', '{"seq', 'close']);
    },
  );

  it('reports a certificate for another name as a connect failure', async () => {
    const url = (await secureBot()).replace('127.0.0.1', '127.0.0.2');
    const other = createTcpServer((from) => {
      const to = connect(Number(new URL(url).port), '127.0.0.1');
      from.pipe(to).pipe(from);
      to.on('error', () => undefined);
      from.on('error', () => undefined);
    }).listen(Number(new URL(url).port), '127.0.0.2');
    await once(other, 'listening');
    cleanups.push(() => other.close());
    const { reported } = openStream(url, {}, { caFile: file('cert.pem') });
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toEqual([
      {
        kind: 'connectFailed',
        detail: 'the connection failed: the certificate is for another address',
      },
    ]);
  });

  it('transfers messages of any size both ways, many in one record and one in many records', async () => {
    const big = JSON.stringify({
      event: 'checkpoint',
      name: 'x'.repeat(1000),
      pad: 'y'.repeat(200_000),
    });
    const url = await secureBot((socket) => {
      for (let i = 0; i < 100; i += 1)
        socket.send(JSON.stringify({ event: 'checkpoint', name: `${i}` }));
      socket.send(big);
    });
    const { reported, media, socket } = openStream(url, {}, { caFile: file('cert.pem') });
    await until(() => media[0]?.log.length === 101, 'all checkpoints');
    expect(reported.faults).toEqual([]);
    socket.close('call_hangup');
    await until(() => received.includes('close 1000'), 'close');
  });

  it('reports a server without TLS as a connect failure', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => server.close());
    const { reported } = openStream(`wss://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([
      { kind: 'connectFailed', detail: expect.stringContaining('the TLS handshake failed') },
    ]);
  });

  it('fails to start if the CA file cannot be read', () => {
    expect(() => openStream('wss://127.0.0.1', {}, { caFile: '/nowhere.pem' })).toThrow(
      '/nowhere.pem',
    );
  });
});
