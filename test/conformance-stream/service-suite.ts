/** Conformance tests for the service side of the stream socket, one per rule. See README.md. */
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../eventually.ts';
import { onTime } from '../on-time.ts';
import { faultsOf } from '../protocol/audio-stream/strict-schema.ts';
import { ScriptedBot } from './scripted-bot.ts';
import { l16, levelAt, loudMs, loudPart, RATE_HZ, tone } from './signal.ts';

interface StreamRequest {
  readonly url: string;
  readonly bidirectional: boolean;
  readonly encoding: 'audio/x-l16' | 'audio/x-mulaw';
  readonly rate: 8000 | 16000;
  readonly extraHeaders: ReadonlyArray<readonly [string, string]>;
}

interface CallUnderTest {
  /** Sends a DTMF digit from the caller. */
  press(digit: string): void;
  /** Audio received by the caller so far, 8 kHz. */
  received(): Int16Array;
  hangup(): void;
}

export interface ServiceUnderTest {
  /** Starts an answered call whose stream connects to `url`. The caller sends `voice` (8 kHz), then silence. */
  call(stream: StreamRequest, voice: Int16Array): Promise<CallUnderTest>;
  /** Encodes samples as mu-law. */
  mulaw(samples: Int16Array): Buffer;
}

type Media = {
  readonly track: string;
  readonly timestamp: string;
  readonly chunk: number;
  readonly payload: string;
};
const mediaOf = (message: Readonly<Record<string, unknown>>): Media => message['media'] as Media;

const FRAME_BYTES: Readonly<Record<string, number>> = {
  'audio/x-mulaw/8000': 160,
  'audio/x-l16/8000': 320,
  'audio/x-l16/16000': 640,
};
const SILENCE = new Int16Array(0);
/** Amplitude of test tones, and the tolerance after resampling and codec (0.5 dB). */
const LEVEL = 8000;
const HALF_DB = 10 ** (0.5 / 20);

export function describeServiceConformance(name: string, service: ServiceUnderTest): void {
  const cleanups: Array<() => Promise<void> | void> = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function placed(request: Partial<StreamRequest> = {}, voice: Int16Array = SILENCE) {
    const bot = await ScriptedBot.listen();
    cleanups.push(() => bot.stop());
    const call = await service.call(
      {
        url: bot.url,
        bidirectional: true,
        encoding: 'audio/x-l16',
        rate: 8000,
        extraHeaders: [['tenant', '7']],
        ...request,
      },
      voice,
    );
    cleanups.push(() => call.hangup());
    await bot.wait('start');
    return { bot, call };
  }

  /** A test of audio or its time, which threads that had to wait can disturb. */
  const inRealTime = (title: string, check: () => Promise<void>): void =>
    it(title, () => onTime(check));

  describe(`${name}: service to application`, () => {
    inRealTime(
      'sends start first, followed immediately by continuous media, including silence',
      async () => {
        const startMs = performance.now();
        const { bot } = await placed();
        const last = await bot.wait('media', 25);
        const [first, second] = bot.received;
        expect(first?.message.event).toBe('start');
        expect(second?.message.event).toBe('media');
        // Not faster than real time. A busy machine delays messages, so the time counts from before the call.
        expect(last.atMs - startMs).toBeGreaterThan(24 * 20 - 60);
      },
    );

    it('sends messages that strict clients accept, numbered 0, 1, 2 …', async () => {
      const { bot, call } = await placed();
      call.press('5');
      await bot.wait('dtmf');
      bot.say({ event: 'checkpoint', streamId: bot.streamId, name: 'a' });
      bot.say({ event: 'clearAudio', streamId: bot.streamId });
      bot.say('rubbish');
      await bot.wait('clearedAudio');
      await bot.wait('error');
      call.hangup();
      await bot.waitClosed();
      expect(bot.received.flatMap(({ text }) => faultsOf(text))).toEqual([]);
      const numbers = bot.received.map(({ message }) => message['sequenceNumber']);
      expect(numbers).toEqual(numbers.map((_, i) => i));
    });

    it.each([
      ['audio/x-mulaw', 8000],
      ['audio/x-l16', 8000],
      ['audio/x-l16', 16000],
    ] as const)(
      'sends media in %s at %i Hz as announced in start, 20 ms per message',
      async (encoding, rate) => {
        const { bot } = await placed({ encoding, rate });
        await bot.wait('media', 10);
        const start = bot.of('start')[0]?.message['start'] as { mediaFormat: unknown };
        expect(start.mediaFormat).toEqual({ encoding, sampleRate: rate });
        for (const { message } of bot.of('media')) {
          expect(Buffer.from(mediaOf(message).payload, 'base64').length).toBe(
            FRAME_BYTES[`${encoding}/${rate}`],
          );
        }
      },
    );

    inRealTime(
      "numbers chunks from 1, increases timestamps by 20 ms, and uses the caller's track",
      async () => {
        const { bot } = await placed();
        await bot.wait('media', 20);
        const media = bot.of('media').map(({ message }) => mediaOf(message));
        expect(media.map(({ chunk }) => chunk)).toEqual(media.map((_, i) => i + 1));
        expect(new Set(media.map(({ track }) => track))).toEqual(new Set(['inbound']));
        const first = Number(media[0]?.timestamp);
        expect(media.map(({ timestamp }) => Number(timestamp) - first)).toEqual(
          media.map((_, i) => i * 20),
        );
        expect(Math.abs(first - Date.now())).toBeLessThan(5000);
      },
    );

    inRealTime("carries the caller's audio in order and at its level", async () => {
      const { bot } = await placed({}, tone(1000, 1500, LEVEL));
      await bot.wait('media', 70);
      const bytes = Buffer.concat(
        bot.of('media').map(({ message }) => Buffer.from(mediaOf(message).payload, 'base64')),
      );
      const samples = Int16Array.from({ length: bytes.length / 2 }, (_, i) =>
        bytes.readInt16LE(i * 2),
      );
      const received = loudPart(samples).subarray(800, 8800);
      expect(levelAt(1000, received)).toBeGreaterThan(LEVEL / HALF_DB);
      expect(levelAt(1000, received)).toBeLessThan(LEVEL * HALF_DB);
    });

    it('includes extra headers in start and media as a JSON string', async () => {
      const { bot } = await placed();
      await bot.wait('media');
      for (const event of ['start', 'media']) {
        expect(bot.of(event)[0]?.message['extra_headers']).toBe('{"tenant":"7"}');
      }
    });

    it('reports a key once with its digit', async () => {
      const { bot, call } = await placed();
      await bot.wait('media', 10);
      call.press('#');
      call.press('7');
      await bot.wait('dtmf', 2);
      await bot.wait('media', bot.of('media').length + 15);
      expect(
        bot.of('dtmf').map(({ message }) => (message['dtmf'] as { digit: string }).digit),
      ).toEqual(['#', '7']);
    });
  });

  describe(`${name}: playAudio`, () => {
    for (const [contentType, rate] of [
      ['audio/x-mulaw', 8000],
      ['audio/x-l16', 8000],
      ['audio/x-l16', 16000],
      ['audio/x-l16', 24000],
    ] as const)
      inRealTime(
        `plays ${contentType} at ${rate} Hz completely, at its pitch and level`,
        async () => {
          const { bot, call } = await placed();
          const sound = tone(700, 500, LEVEL, rate);
          bot.play(
            contentType === 'audio/x-mulaw' ? service.mulaw(sound) : l16(sound),
            contentType,
            rate,
          );
          bot.say({ event: 'checkpoint', name: 'end' });
          await bot.wait('playedStream');
          await bot.wait('media', bot.of('media').length + 5);
          const received = loudPart(call.received());
          expect(received.length / (RATE_HZ / 1000)).toBeGreaterThan(490);
          expect(received.length / (RATE_HZ / 1000)).toBeLessThan(510);
          const middle = received.subarray(400, 400 + 2400);
          expect(levelAt(700, middle)).toBeGreaterThan(LEVEL / HALF_DB);
          expect(levelAt(700, middle)).toBeLessThan(LEVEL * HALF_DB);
        },
      );

    inRealTime('joins chunks of any length, including odd ones, without a click', async () => {
      const { bot, call } = await placed();
      const bytes = l16(tone(700, 400, LEVEL));
      for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 1013) {
        bot.play(bytes.subarray(at, at + size), 'audio/x-l16', 8000);
      }
      bot.say({ event: 'checkpoint', name: 'end' });
      await bot.wait('playedStream');
      await bot.wait('media', bot.of('media').length + 5);
      const received = loudPart(call.received());
      const middle = received.subarray(400, 400 + 2400);
      expect(levelAt(700, middle)).toBeGreaterThan(LEVEL / HALF_DB);
      // The steepest step of this sine is 4400 per sample. A click would be twice as large.
      const steps = middle.map((x, i) => Math.abs(x - (middle[i - 1] ?? x)));
      expect(Math.max(...steps)).toBeLessThan(6000);
    });

    inRealTime(
      'plays a burst in real time, and sends playedStream once the audio has been heard',
      async () => {
        const { bot } = await placed();
        const startMs = performance.now();
        for (let i = 1; i <= 3; i += 1) {
          bot.play(l16(tone(700, 200, LEVEL)), 'audio/x-l16', 8000);
          bot.say({ event: 'checkpoint', streamId: bot.streamId, name: `part ${i}` });
        }
        await bot.wait('playedStream', 3);
        const played = bot.of('playedStream');
        expect(played.map(({ message }) => message['name'])).toEqual([
          'part 1',
          'part 2',
          'part 3',
        ]);
        played.forEach(({ atMs }, i) => {
          expect(atMs - startMs).toBeGreaterThan(200 * (i + 1) - 45);
          // A busy machine delays messages.
          expect(atMs - startMs).toBeLessThan(200 * (i + 1) + 2000);
        });
      },
    );

    it('answers a checkpoint immediately if no audio is queued', async () => {
      const { bot } = await placed();
      bot.say({ event: 'checkpoint', name: 'now' });
      expect((await bot.wait('playedStream')).message['name']).toBe('now');
    });

    inRealTime(
      'clears queued audio on clearAudio, and never completes its checkpoints',
      async () => {
        const { bot, call } = await placed();
        bot.play(l16(tone(700, 3000, LEVEL)), 'audio/x-l16', 8000);
        bot.say({ event: 'checkpoint', name: 'never' });
        await until(() => loudMs(call.received()) >= 200, 'the caller hears the bot');
        bot.say({ event: 'clearAudio', streamId: bot.streamId });
        await bot.wait('clearedAudio');
        const media = bot.of('media').length;
        await bot.wait('media', media + 5);
        const receivedAtClear = loudMs(call.received());
        await bot.wait('media', media + 30);
        expect(loudMs(call.received())).toBeLessThanOrEqual(receivedAtClear + 20);
        expect(receivedAtClear).toBeLessThan(1000);
        expect(bot.of('playedStream')).toEqual([]);
        bot.play(l16(tone(700, 100, LEVEL)), 'audio/x-l16', 8000);
        bot.say({ event: 'checkpoint', name: 'after' });
        expect((await bot.wait('playedStream')).message['name']).toBe('after');
      },
    );
  });

  describe(`${name}: bad input`, () => {
    it.each([
      ['{"event":', 'invalid_message'],
      ['{"event":"dance"}', 'invalid_message'],
      [
        '{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":8000,"payload":"!"}}',
        'invalid_payload',
      ],
      [
        '{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":8000,"payload":""}}',
        'invalid_payload',
      ],
      [
        '{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":16000,"payload":"AAAA"}}',
        'unsupported_format',
      ],
      [
        '{"event":"playAudio","media":{"contentType":"audio/opus","sampleRate":8000,"payload":"AAAA"}}',
        'unsupported_format',
      ],
    ])('reports %s as %s, and the stream continues', async (text, code) => {
      const { bot } = await placed();
      bot.say(text);
      expect((await bot.wait('error')).message['error']).toMatchObject({ code });
      await bot.wait('media', bot.of('media').length + 5);
      expect(bot.closed).toBeUndefined();
    });

    it('reports audio beyond the queue limit as buffer_full, and plays the queued audio', async () => {
      const { bot, call } = await placed();
      const tenSeconds = l16(tone(700, 10_000, LEVEL));
      for (let i = 0; i < 8; i += 1) bot.play(tenSeconds, 'audio/x-l16', 8000);
      expect((await bot.wait('error')).message['error']).toMatchObject({ code: 'buffer_full' });
      await until(() => loudMs(call.received()) > 100, 'the caller hears the bot');
    });

    it('ignores playback on a one-way stream', async () => {
      const { bot, call } = await placed({ bidirectional: false });
      bot.play(l16(tone(700, 200, LEVEL)), 'audio/x-l16', 8000);
      expect((await bot.wait('error')).message['error']).toMatchObject({ code: 'invalid_message' });
      await bot.wait('media', bot.of('media').length + 20);
      expect(loudMs(call.received())).toBe(0);
    });
  });

  describe(`${name}: the end`, () => {
    it('sends stop with its reason as the last message after the caller hangs up, and closes with code 1000', async () => {
      const { bot, call } = await placed();
      await bot.wait('media', 3);
      call.hangup();
      expect((await bot.waitClosed()).code).toBe(1000);
      expect(bot.received.at(-1)?.message).toMatchObject({
        event: 'stop',
        stop: { reason: 'call_hangup' },
      });
    });

    inRealTime('ends the stream immediately when the application sends stop', async () => {
      const { bot } = await placed();
      bot.play(l16(tone(700, 3000, LEVEL)), 'audio/x-l16', 8000);
      const requestedMs = performance.now();
      bot.say({ event: 'stop', streamId: bot.streamId });
      const { code, atMs } = await bot.waitClosed();
      expect(code).toBe(1000);
      expect(atMs - requestedMs).toBeLessThan(1000);
    });
  });
}
