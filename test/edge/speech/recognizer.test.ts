import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { err, ok } from '../../../src/base/result.ts';
import type {
  InterimTranscript,
  ListenOptions,
  MediaLeg,
  MediaStreamEvents,
} from '../../../src/domain/call/needs.ts';
import {
  createRecognizer,
  type RecognizerOptions,
  type RecognizerService,
} from '../../../src/edge/speech/recognizer.ts';
import { openWav, resampler, toPcm16 } from '../../../src/protocol/audio-file/audio-file.ts';
import { formOf, SpeechServer } from './speech-server.ts';

const RATE = 16_000;
const FRAME = 320;

let server: SpeechServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

const recogniser = (options: Partial<RecognizerOptions>): Promise<RecognizerService> =>
  createRecognizer({
    engine: 'auto',
    httpUrl: '',
    httpModel: 'whisper-1',
    webSocketUrl: '',
    apiKey: '',
    timeLimitMs: 5000,
    maxListening: 2,
    decode: () => Promise.resolve(err({ kind: 'notAudio', detail: 'neither WAV nor MP3' })),
    logger: silentLogger,
    run: () => Promise.resolve(err({ kind: 'absent', detail: 'not installed' })),
    ...options,
  });

/** A leg with a peer whose speech the test controls. */
class SpeakingLeg {
  #events: MediaStreamEvents | undefined;
  isOpen = false;
  #sequence = 0;

  readonly media = {
    openStream: (_options: unknown, events: MediaStreamEvents) => {
      this.#events = events;
      this.isOpen = true;
      return {
        close: () => {
          this.isOpen = false;
        },
      };
    },
  } as unknown as Pick<MediaLeg, 'openStream'>;

  say(samples: Int16Array): void {
    for (let at = 0; at + FRAME <= samples.length && this.isOpen; at += FRAME) {
      const frame = Buffer.from(samples.slice(at, at + FRAME).buffer).toString('base64');
      this.#sequence += 1;
      // The native engine leaves the sequence number blank for the sender to fill in.
      const text = `{"sequenceNumber":          ,"event":"media","media":{"track":"inbound","chunk":${this.#sequence},"payload":"${frame}"},"extra_headers":"{}"}`;
      this.#events?.media([Buffer.from(text)]);
    }
  }
}

const silence = (ms: number): Int16Array =>
  Int16Array.from({ length: (RATE * ms) / 1000 }, (_, i) => (i % 7) - 3);
const tone = (ms: number): Int16Array =>
  Int16Array.from({ length: (RATE * ms) / 1000 }, (_, i) => Math.sin(i / 8) * 6000);

const listening = (over: Partial<ListenOptions> = {}): ListenOptions => ({
  language: 'en-US',
  model: 'default',
  hints: [],
  profanityFilter: false,
  endSilenceMs: 1000,
  maxMs: 10_000,
  speaking: () => undefined,
  interim: undefined,
  ...over,
});

const json = (value: unknown) => (_: unknown, response: import('node:http').ServerResponse) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
};

describe('recognition over HTTP (POST /v1/audio/transcriptions)', () => {
  it('sends one utterance as WAV with its parameters after a pause', async () => {
    server = await SpeechServer.listen({
      reply: json({ text: ' Hello there. ', segments: [{ avg_logprob: -0.1 }] }),
    });
    const recognizer = await recogniser({ httpUrl: server.url, apiKey: 'key-1' });
    const leg = new SpeakingLeg();
    let spoke = 0;
    const options = {
      hints: ['sales', 'support'],
      language: 'de-DE',
      speaking: () => {
        spoke += 1;
      },
    };
    const listener = recognizer.listen(leg.media, listening(options));
    leg.say(silence(3000));
    expect(spoke).toBe(0);
    leg.say(tone(800));
    expect(spoke).toBe(1);
    leg.say(silence(900));
    expect(leg.isOpen).toBe(true);
    leg.say(silence(300));
    expect(leg.isOpen).toBe(false);
    expect(await listener.received).toMatchObject({
      ok: true,
      value: { text: 'Hello there.', confidence: Math.exp(-0.1) },
    });
    const [received] = server.received;
    expect(received).toMatchObject({
      path: '/v1/audio/transcriptions',
      authorization: 'Bearer key-1',
    });
    const form = formOf(received?.body ?? Buffer.alloc(0));
    expect(form).toMatchObject({
      model: 'whisper-1',
      language: 'de',
      prompt: 'sales, support',
      response_format: 'verbose_json',
    });
    const wav = openWav(Buffer.from(form['file'] ?? '', 'latin1'));
    expect(wav.ok && wav.value).toMatchObject({ rate: RATE, channels: 1 });
    // The speech, the pause after it, and a short lead.
    const seconds = wav.ok ? wav.value.length / RATE : 0;
    expect(seconds).toBeGreaterThan(1.8);
    expect(seconds).toBeLessThan(2.6);
    expect(recognizer.listening).toBe(0);
  });

  it.each([
    [(_: unknown, r: import('node:http').ServerResponse) => r.writeHead(500).end(), 'status 500'],
    [(_: unknown, r: import('node:http').ServerResponse) => r.end('<html>'), 'did not return JSON'],
    [json({ words: 'x' }), 'returned no text'],
    [(_: unknown, r: import('node:http').ServerResponse) => r.socket?.destroy(), 'request failed'],
  ])('reports a failing server with the reason, %#', async (reply, reason) => {
    server = await SpeechServer.listen({
      reply: (received, response) => void reply(received, response),
    });
    const recognizer = await recogniser({ httpUrl: server.url });
    const leg = new SpeakingLeg();
    const listener = recognizer.listen(leg.media, listening());
    leg.say(tone(500));
    leg.say(silence(1500));
    const received = await listener.received;
    expect(received).toMatchObject({ ok: false, error: { kind: 'failed' } });
    expect(JSON.stringify(received)).toContain(reason);
    expect(JSON.stringify(received)).not.toContain('127.0.0.1');
  });

  it('masks rude words on request', async () => {
    server = await SpeechServer.listen({
      reply: json({ text: 'What the fuck, my Damn classic assets' }),
    });
    const recognizer = await recogniser({ httpUrl: server.url });
    const leg = new SpeakingLeg();
    const listener = recognizer.listen(leg.media, listening({ profanityFilter: true }));
    leg.say(tone(500));
    leg.say(silence(1500));
    expect(await listener.received).toMatchObject({
      value: { text: 'What the f***, my D*** classic assets' },
    });
  });

  it('ignores a click, and cuts off speech beyond the time limit', async () => {
    server = await SpeechServer.listen({ reply: json({ text: 'long' }) });
    const recognizer = await recogniser({ httpUrl: server.url });
    const leg = new SpeakingLeg();
    let spoke = false;
    const options = listening({
      maxMs: 2000,
      speaking: () => {
        spoke = true;
      },
    });
    const listener = recognizer.listen(leg.media, options);
    leg.say(silence(200));
    leg.say(tone(40));
    leg.say(silence(400));
    expect(spoke).toBe(false);
    leg.say(tone(3000));
    expect(leg.isOpen).toBe(false);
    expect(await listener.received).toMatchObject({ value: { text: 'long' } });
  });

  it('limits simultaneous recognitions, and a stopped one frees its slot', async () => {
    server = await SpeechServer.listen({ reply: json({ text: 'x' }) });
    const recognizer = await recogniser({ httpUrl: server.url });
    const legs = [1, 2, 3].map(() => new SpeakingLeg());
    const listeners = legs.map((leg) => recognizer.listen(leg.media, listening()));
    expect(await listeners[2]?.received).toMatchObject({ error: { kind: 'busy' } });
    listeners[0]?.stop();
    expect(await listeners[0]?.received).toMatchObject({ error: { kind: 'aborted' } });
    expect(legs[0]?.isOpen).toBe(false);
    expect(recognizer.listening).toBe(1);
    listeners[1]?.stop();
    await listeners[1]?.received;
  });

  it('sends a whole recording in one request', async () => {
    server = await SpeechServer.listen({ reply: json({ text: 'all of it' }) });
    const samples = new Uint8Array(tone(5000).buffer);
    const decode = () => Promise.resolve(ok({ rate: 16_000, samples } as const));
    const recognizer = await recogniser({ httpUrl: server.url, decode });
    const { language, model, hints, profanityFilter } = listening();
    const request = { language, model, hints, profanityFilter };
    expect(await recognizer.transcribe(new Uint8Array(1), request)).toMatchObject({
      value: { text: 'all of it', durationMs: 5000 },
    });
  });
});

describe("streaming recognition (vosk-server's protocol)", () => {
  const vosk = (socket: import('ws').WebSocket, message: Buffer | string): void => {
    if (typeof message !== 'string') socket.send(JSON.stringify({ partial: 'see you' }));
    else if (message.includes('eof')) {
      const result = [
        { word: 'see', conf: 1 },
        { word: 'you', conf: 0.5 },
      ];
      socket.send(JSON.stringify({ text: 'see you [unk]', result }));
      socket.close();
    }
  };

  it('recognizes while the caller speaks, reports interim words, and ends with eof', async () => {
    server = await SpeechServer.listen({ stream: vosk });
    const recognizer = await recogniser({ webSocketUrl: `ws://127.0.0.1:${server.port}` });
    expect(recognizer.engine).toBe('websocket');
    const leg = new SpeakingLeg();
    const first = Promise.withResolvers<InterimTranscript>();
    const options = {
      hints: ['see you'],
      interim: (words: InterimTranscript) => first.resolve(words),
    };
    const listener = recognizer.listen(leg.media, listening(options));
    leg.say(tone(600));
    expect(await first.promise).toEqual({ stable: '', unstable: 'see you', stability: 0.6 });
    leg.say(silence(1500));
    expect(await listener.received).toMatchObject({ value: { text: 'see you', confidence: 0.75 } });
    expect(server.texts.map((text) => JSON.parse(text))).toEqual([
      { config: { sample_rate: RATE, words: 1, phrase_list: ['see you', '[unk]'] } },
      { eof: 1 },
    ]);
    expect(server.streamed).toBeGreaterThan(RATE * 2 * 1.5);
  });

  it.each([30, 200])(
    'transcribes all of a recording of %i s at the speed of the server',
    async (seconds) => {
      let queue = Promise.resolve();
      let pieces = 0;
      server = await SpeechServer.listen({
        stream: (socket, message) => {
          const isAudio = typeof message !== 'string';
          if (!isAudio && !message.includes('eof')) return;
          queue = queue.then(async () => {
            if (isAudio) pieces += 1;
            const hasText = !isAudio || pieces % 10 === 0;
            if (hasText) await delay(pieces <= 30 ? 250 : 10);
            socket.send(
              JSON.stringify(hasText ? { text: isAudio ? 'part' : 'end' } : { partial: '' }),
            );
            if (!isAudio) socket.close();
          });
        },
      });
      const samples = new Uint8Array(seconds * RATE * 2);
      const recognizer = await recogniser({
        webSocketUrl: `ws://127.0.0.1:${server.port}`,
        decode: () => Promise.resolve(ok({ rate: 16_000, samples } as const)),
      });
      const { language, model, hints, profanityFilter } = listening();
      const request = { language, model, hints, profanityFilter };
      expect(await recognizer.transcribe(new Uint8Array(1), request)).toMatchObject({
        value: { text: `${'part '.repeat(seconds / 10)}end`, durationMs: seconds * 1000 },
      });
    },
  );

  it('fails if the server disconnects before its final words', async () => {
    server = await SpeechServer.listen({ stream: (socket) => socket.close() });
    const recognizer = await recogniser({ webSocketUrl: `ws://127.0.0.1:${server.port}` });
    const leg = new SpeakingLeg();
    const listener = recognizer.listen(leg.media, listening());
    leg.say(tone(600));
    leg.say(silence(1500));
    expect(await listener.received).toMatchObject({ error: { kind: 'failed' } });
  });
});

describe('without a recognizer', () => {
  it('reports immediately that recognition is unavailable', async () => {
    const recognizer = await recogniser({});
    const leg = new SpeakingLeg();
    const listener = recognizer.listen(leg.media, listening());
    expect(await listener.received).toMatchObject({ error: { kind: 'unavailable' } });
    expect(leg.isOpen).toBe(false);
  });
});

const installed = ['/usr/bin/pocketsphinx_continuous', '/usr/bin/espeak-ng'].every(existsSync);

describe.skipIf(!installed)("Debian's pocketsphinx", () => {
  function spoken(words: string): Int16Array {
    const wav = openWav(execFileSync('espeak-ng', ['-v', 'en-us', '--stdout', words]));
    if (!wav.ok) throw new Error(wav.error);
    const convert = resampler(wav.value.rate, RATE);
    const samples = convert.push(wav.value.mono(0, wav.value.length));
    return new Int16Array(toPcm16(samples).buffer);
  }

  it('recognizes one of the expected phrases', async () => {
    const recognizer = await recogniser({ run: undefined });
    expect(recognizer.engine).toBe('pocketsphinx');
    const leg = new SpeakingLeg();
    const hints = ['sales', 'yes please', 'no thank you', 'Qwrtz'];
    const listener = recognizer.listen(leg.media, listening({ hints }));
    leg.say(silence(500));
    leg.say(spoken('yes please'));
    leg.say(silence(1500));
    const received = await listener.received;
    expect(received).toMatchObject({ ok: true, value: { text: 'yes please' } });
  });

  it('supports only American English', async () => {
    const recognizer = await recogniser({ run: undefined });
    const leg = new SpeakingLeg();
    const listener = recognizer.listen(leg.media, listening({ language: 'fr-FR' }));
    expect(await listener.received).toMatchObject({ error: { kind: 'unavailable' } });
  });
});
