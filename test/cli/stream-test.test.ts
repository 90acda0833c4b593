import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { asAccountId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { problems, table } from '../../src/cli/stream-test/observations.ts';
import { runStreamTest, type StreamTestOptions } from '../../src/cli/stream-test/run.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import { convertRate } from '../../src/phone/audio/wav.ts';
import { guard } from '../edge/stream/fixture.ts';

const servers: WebSocketServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Message = Record<string, unknown> & { media?: { payload: string } };

async function bot(
  behave: (message: Message, say: (m: unknown) => void, socket: WebSocket) => void,
): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  server.on('connection', (socket) => {
    const say = (message: unknown): void =>
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    socket.on('message', (data) => behave(JSON.parse(String(data)), say, socket));
  });
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A rising sweep, in which no part resembles another. */
const VOICE = {
  rate: 8000,
  samples: Int16Array.from({ length: 8000 }, (_, i) => 8000 * Math.sin(i * (0.1 + i / 20_000))),
};

const test = (url: string, more: Partial<StreamTestOptions> = {}) =>
  runStreamTest({
    url,
    voice: VOICE,
    durationMs: 300,
    format: { encoding: 'audio/x-l16', rate: 8000 },
    extraHeaders: [],
    digits: '',
    accountId: asAccountId('MA_00000000000000000'),
    caFile: '',
    egress: guard(true),
    clock: systemClock,
    random: systemRandom,
    signUpgrade: () => Promise.resolve({}),
    progress: () => undefined,
    ...more,
  });

const rowOf = (rows: ReturnType<typeof table>, what: string): string | undefined =>
  rows.find(([name]) => name === what)?.[1];

describe('carillon stream test', () => {
  it('sends audio to an echo bot, records the response and finds no fault', async () => {
    const url = await bot(({ event, media }, say) => {
      if (event === 'media') say({ event: 'playAudio', media: { payload: media?.payload } });
    });
    const { seen, recording } = await test(url, { durationMs: 1400 });
    expect(problems(seen)).toEqual([]);
    expect(seen.end).toEqual({ kind: 'closed' });
    expect(seen.mediaSent).toBeGreaterThan(50);
    const received = convertRate(recording ?? { rate: 24_000, samples: new Int16Array(0) }, 8000);
    expect(findEcho(VOICE.samples, received, 500)?.foundPart).toBe(1);
  });

  it("counts the bot's checkpoints, clears and digits", async () => {
    const url = await bot(({ event }, say) => {
      if (event !== 'start') return;
      say({ event: 'playAudio', media: { payload: Buffer.alloc(640).toString('base64') } });
      say({ event: 'checkpoint', name: 'a' });
      say({ event: 'sendDTMF', dtmf: '12' });
    });
    const { seen } = await test(url);
    const rows = table(seen);
    expect(rowOf(rows, 'checkpoints answered')).toBe('1 of 1');
    expect(rowOf(rows, 'keys pressed by the bot')).toBe('12');
    expect(rowOf(rows, 'playAudio messages')).toBe('1 (40-40 ms each)');
    expect(problems(seen)).toEqual([]);
  });

  it('describes every protocol fault with its count', async () => {
    const url = await bot(({ event }, say) => {
      if (event !== 'start') return;
      say('{"event":');
      say({ event: 'dance' });
      say({ event: 'dance' });
      say({
        event: 'playAudio',
        media: { contentType: 'audio/x-mulaw', sampleRate: 16000, payload: 'AAAA' },
      });
    });
    const found = problems((await test(url)).seen);
    expect(found).toContainEqual('invalid_message: unknown event "dance" (2x)');
    expect(found).toContainEqual(
      'unsupported_format: audio/x-mulaw is taken at 8000 Hz only, not at 16000',
    );
    expect(found).toContainEqual(
      expect.stringMatching(/^invalid_message: the message is not JSON/),
    );
    expect(found).toContainEqual('the bot sent no audio');
  });

  it('reports why a stream failed to start, or why it broke', async () => {
    const refused = await test('ws://127.0.0.1:9/');
    expect(problems(refused.seen)).toEqual([
      'no stream: the connection failed: ECONNREFUSED (no server listens at this address and port)',
    ]);
    expect(refused.recording).toBeUndefined();
    const url = await bot((_message, _say, socket) => socket.close(1011, 'out of memory'));
    const broken = await test(url, { durationMs: 60_000 });
    expect(problems(broken.seen)[0]).toContain('code 1011, "out of memory"');
  });

  it('reports a bot that sends audio slower than real time', async () => {
    const url = await bot(({ event, media }, say) => {
      // Sends 10 ms per 20 ms.
      if (event === 'media')
        say({ event: 'playAudio', media: { payload: media?.payload.slice(0, 212) } });
    });
    const { seen } = await test(url, { durationMs: 2500 });
    expect(problems(seen)).toEqual([expect.stringContaining('slower than real time')]);
  });

  it('reports a WAV file in place of raw samples (spec: raw, without a WAV header)', async () => {
    const wav = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(640)]).toString('base64');
    const url = await bot(({ event }, say) => {
      if (event === 'start') say({ event: 'playAudio', media: { payload: wav } });
    });
    expect(problems((await test(url)).seen)).toEqual([
      'a payload begins with a WAV header, which sounds like a click: send samples only',
    ]);
  });

  it('reports the side that ended the stream', async () => {
    const url = await bot(({ event }, say) => {
      if (event === 'start') say({ event: 'stop' });
    });
    expect(rowOf(table((await test(url)).seen), 'ended by')).toBe('the bot, by a stop message');
  });

  it('detects a bot that does not answer pings within one test', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
    servers.push(server);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { seen } = await test(`ws://127.0.0.1:${port}`, { durationMs: 20_000 });
    expect(problems(seen)[0]).toContain('no pong within 5000 ms of a ping');
  });

  it('finds interruptions in the speech of a bot that sends too late', async () => {
    const url = await bot(({ event }, say) => {
      if (event !== 'start') return;
      const say40ms = () =>
        say({ event: 'playAudio', media: { payload: Buffer.alloc(640).toString('base64') } });
      say40ms();
      setTimeout(say40ms, 150);
    });
    const { seen } = await test(url, { durationMs: 400 });
    expect(seen.interruptions).toBe(1);
    expect(seen.longestInterruptionMs).toBeGreaterThan(50);
  });
});
