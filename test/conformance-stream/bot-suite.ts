/** Conformance tests for the application side of the stream socket, which every bot must pass. See README.md. */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../eventually.ts';
import type { Message } from './scripted-bot.ts';

export interface BotUnderTest {
  /** WebSocket URL of a running bot that plays audio in response to audio. */
  url(): Promise<string>;
}

const STREAM_ID = '5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22';
const FORMATS = [
  ['audio/x-l16', 8000, 320],
  ['audio/x-l16', 16000, 640],
  ['audio/x-mulaw', 8000, 160],
] as const;

export function describeBotConformance(name: string, bot: BotUnderTest): void {
  const sockets: WebSocket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });

  async function connected(encoding: string = 'audio/x-l16', sampleRate = 8000) {
    const socket = new WebSocket(await bot.url(), { perMessageDeflate: false });
    sockets.push(socket);
    const received: Message[] = [];
    socket.on('message', (data) => received.push(JSON.parse(String(data))));
    await once(socket, 'open');
    let sequenceNumber = 0;
    const say = (event: string, fields: object): void => {
      socket.send(JSON.stringify({ sequenceNumber, event, ...fields }));
      sequenceNumber += 1;
    };
    let chunk = 0;
    const media = (bytes: number): void => {
      chunk += 1;
      const timestamp = String(1_760_000_000_000 + chunk * 20);
      const payload = Buffer.alloc(bytes, chunk).toString('base64');
      say('media', {
        streamId: STREAM_ID,
        media: { track: 'inbound', timestamp, chunk, payload },
        extra_headers: '{}',
      });
    };
    say('start', {
      start: {
        callId: '0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11',
        streamId: STREAM_ID,
        accountId: 'MA_0123456789ABCDEFG',
        tracks: ['inbound'],
        mediaFormat: { encoding, sampleRate },
      },
      extra_headers: '{}',
    });
    const plays = (): Message[] => received.filter(({ event }) => event === 'playAudio');
    return { socket, received, say, media, plays };
  }

  describe(`${name}: application to service`, () => {
    it.each(FORMATS)(
      'understands %s at %i Hz and plays in a supported format',
      async (encoding, rate, bytes) => {
        const { media, plays } = await connected(encoding, rate);
        for (let i = 0; i < 10; i += 1) media(bytes);
        await until(() => plays().length > 0, 'the bot plays');
        for (const play of plays()) {
          const { contentType, sampleRate, payload } = play['media'] as Record<string, unknown>;
          const pair = `${contentType} ${sampleRate}`;
          expect([
            'audio/x-l16 8000',
            'audio/x-l16 16000',
            'audio/x-l16 24000',
            'audio/x-mulaw 8000',
          ]).toContain(pair);
          expect(Buffer.from(String(payload), 'base64').toString('base64')).toBe(payload);
        }
      },
    );

    it("uses the stream's ID, or none, in every message", async () => {
      const { media, plays, received } = await connected();
      media(320);
      await until(() => plays().length > 0, 'the bot plays');
      for (const { streamId } of received) expect([undefined, STREAM_ID]).toContain(streamId);
    });

    it('answers pings', async () => {
      const { socket } = await connected();
      socket.ping();
      await once(socket, 'pong');
    });

    it('ignores unknown events and fields', async () => {
      const { say, media, plays } = await connected();
      say('weather', { streamId: STREAM_ID, weather: { rain: true } });
      say('error', { streamId: STREAM_ID, error: { code: 'buffer_full', message: 'full' } });
      say('playedStream', { streamId: STREAM_ID, name: 'never asked for' });
      say('clearedAudio', { streamId: STREAM_ID, more: 1 });
      media(320);
      await until(() => plays().length > 0, 'the bot still plays');
    });

    it('answers the closing handshake after stop', async () => {
      const { socket, say } = await connected();
      say('stop', {
        streamId: STREAM_ID,
        stop: { callId: 'x', accountId: 'y', reason: 'call_hangup' },
      });
      socket.close(1000);
      const [code] = await once(socket, 'close');
      expect(code).toBe(1000);
    });

    it('serves another caller after a connection was aborted', async () => {
      const first = await connected();
      const second = await connected();
      first.socket.terminate();
      second.media(320);
      await until(() => second.plays().length > 0, 'the bot plays for the other caller');
    });
  });
}
