import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { err, ok } from '../../../src/base/result.ts';
import type { Pcm, SpeechRequest, Synthesizer } from '../../../src/domain/call/needs.ts';
import { wavOf } from '../../../src/edge/speech/recognition/openai.ts';
import { createSynthesizer } from '../../../src/edge/speech/synthesizer.ts';
import { type Received, SpeechServer } from './speech-server.ts';

let folder: string;
let server: SpeechServer;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-voice-'));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const RATE = 16_000;
const wave = (seconds: number): Uint8Array =>
  new Uint8Array(
    Int16Array.from({ length: RATE * seconds }, (_, i) => Math.sin(i / 8) * 2000).buffer,
  );

const LISTING = 'Pty Language Age/Gender VoiceName File Other\n 5  en-us  M  x  y\n';

/** Creates a synthesizer whose local engine counts its runs and fails, so that a test detects its use. */
async function voice(runs: string[]): Promise<Synthesizer> {
  return createSynthesizer({
    engine: 'espeak-ng',
    cacheDir: join(folder, 'cache'),
    logger: silentLogger,
    http: {
      url: server.url,
      apiKey: '',
      model: 'tts-1',
      voices: ['WOMAN=nova'],
      timeLimitMs: 2000,
    },
    run: (_command, args, input) => {
      if (args[0] === '--voices') return Promise.resolve(ok(Buffer.from(LISTING)));
      runs.push(input);
      return Promise.resolve(err({ kind: 'failed', detail: 'not in this test' }));
    },
  });
}

const say = (text: string, ssml?: string): SpeechRequest => ({
  text,
  ssml,
  voice: 'WOMAN',
  language: 'en-US',
});

async function received(synthesizer: Synthesizer, request: SpeechRequest): Promise<Pcm[]> {
  const pieces: Pcm[] = [];
  for await (const piece of synthesizer.speak(request, { rate: RATE }))
    if (piece.ok) pieces.push(piece.value);
  return pieces;
}

const requested = (one: Received | undefined): unknown => JSON.parse(String(one?.body));
const seconds = (pieces: Pcm[]): number =>
  pieces.reduce((sum, { samples, rate }) => sum + samples.length / 2 / rate, 0);

describe('speech from a server (POST /v1/audio/speech)', () => {
  it('requests repeated text once, and maps the voice', async () => {
    const reply = (_: Received, response: ServerResponse) => void response.end(wavOf(wave(1)));
    server = await SpeechServer.listen({ reply });
    const runs: string[] = [];
    const synthesizer = await voice(runs);
    const first = await received(synthesizer, say('Good morning.'));
    expect(seconds(first)).toBeCloseTo(1, 1);
    expect(first[0]?.rate).toBe(RATE);
    expect(seconds(await received(synthesizer, say('Good morning.')))).toBeCloseTo(1, 1);
    expect(server.received).toHaveLength(1);
    expect(requested(server.received[0])).toEqual({
      model: 'tts-1',
      input: 'Good morning.',
      voice: 'nova',
      response_format: 'wav',
    });
    expect(runs).toEqual([]);
  });

  it('shares one request between callers that hear the same new text, also if one hangs up', async () => {
    const rest = Promise.withResolvers<void>();
    const reply = (_: Received, response: ServerResponse): void => {
      const wav = wavOf(wave(10));
      response.write(wav.subarray(0, 200_000));
      void rest.promise.then(() => response.end(wav.subarray(200_000)));
    };
    server = await SpeechServer.listen({ reply });
    const runs: string[] = [];
    const synthesizer = await voice(runs);
    const request = say('The same text for all.');
    const leaver = synthesizer.speak(request, { rate: RATE })[Symbol.asyncIterator]();
    expect((await leaver.next()).done).toBe(false);
    const all = Array.from({ length: 40 }, () => received(synthesizer, request));
    await leaver.return?.();
    rest.resolve();
    for (const pieces of await Promise.all(all)) expect(seconds(pieces)).toBeCloseTo(10, 1);
    expect(server.received).toHaveLength(1);
    expect(runs).toEqual([]);
  });

  it('cancels the request when the last caller has hung up', async () => {
    const closed = Promise.withResolvers<void>();
    const reply = (_: Received, response: ServerResponse): void => {
      response.once('close', () => closed.resolve());
      response.write(wavOf(wave(10)).subarray(0, 200_000));
      const more = setInterval(() => response.write(new Uint8Array(20_000)), 20);
      response.once('close', () => clearInterval(more));
    };
    server = await SpeechServer.listen({ reply });
    const pieces = (await voice([])).speak(say('A text.'), { rate: RATE })[Symbol.asyncIterator]();
    await pieces.next();
    await pieces.return?.();
    await closed.promise;
  });

  it('plays before the server has finished', async () => {
    const rest = Promise.withResolvers<void>();
    const reply = (_: Received, response: ServerResponse): void => {
      const wav = wavOf(wave(10));
      response.write(wav.subarray(0, 200_000));
      void rest.promise.then(() => response.end(wav.subarray(200_000)));
    };
    server = await SpeechServer.listen({ reply });
    const pieces = (await voice([]))
      .speak(say('A long text.'), { rate: RATE })
      [Symbol.asyncIterator]();
    const first = await pieces.next();
    expect(first.done).toBe(false);
    rest.resolve();
    let total = first.done === true || !first.value.ok ? 0 : seconds([first.value.value]);
    expect(total).toBeGreaterThan(3);
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
      if (next.value.ok) total += seconds([next.value.value]);
    }
    expect(total).toBeCloseTo(10, 1);
  });

  it.each([
    [(_: Received, response: ServerResponse) => void response.writeHead(503).end()],
    [
      (_: Received, response: ServerResponse) =>
        void response.end('no wav at all, but long enough'),
    ],
    [(_: Received, response: ServerResponse) => void response.socket?.destroy()],
  ])(
    'falls back to the local voice, and does not use the server for a while, %#',
    async (reply) => {
      server = await SpeechServer.listen({ reply });
      const runs: string[] = [];
      const synthesizer = await voice(runs);
      await received(synthesizer, say('One.'));
      await received(synthesizer, say('Two.'));
      expect(runs).toEqual(['One.', 'Two.']);
      expect(server.received).toHaveLength(1);
    },
  );

  it('uses the server for other calls after it refused a text or a voice', async () => {
    const reply = ({ body }: Received, response: ServerResponse): void => {
      if (String(body).includes('unknown')) response.writeHead(400).end();
      else response.end(wavOf(wave(1)));
    };
    server = await SpeechServer.listen({ reply });
    const runs: string[] = [];
    const synthesizer = await voice(runs);
    await received(synthesizer, { ...say('One.'), voice: 'unknown' });
    await received(synthesizer, say('Two.'));
    expect(runs).toEqual(['One.']);
    expect(server.received).toHaveLength(2);
  });

  it('uses the server for other calls after a text without words', async () => {
    const reply = ({ body }: Received, response: ServerResponse) =>
      void response.end(wavOf(body.includes('...') ? new Uint8Array(0) : wave(1)));
    server = await SpeechServer.listen({ reply });
    const runs: string[] = [];
    const synthesizer = await voice(runs);
    await received(synthesizer, say('...'));
    expect(seconds(await received(synthesizer, say('Hello')))).toBeCloseTo(1, 1);
    expect(runs).toEqual(['...']);
  });

  it('uses the server again as soon as a request ends, after too many at the same time', async () => {
    const held: ServerResponse[] = [];
    const reply = (_: Received, response: ServerResponse): void => void held.push(response);
    server = await SpeechServer.listen({ reply });
    const runs: string[] = [];
    const synthesizer = await voice(runs);
    const all = Array.from({ length: 33 }, (_, i) => received(synthesizer, say(`Text ${i}.`)));
    await vi.waitFor(() => expect(held).toHaveLength(32));
    for (const response of held.splice(0)) response.end(wavOf(wave(1)));
    await Promise.all(all);
    expect(runs).toHaveLength(1);
    const next = received(synthesizer, say('Next.'));
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]?.end(wavOf(wave(1)));
    expect(seconds(await next)).toBeCloseTo(1, 1);
  });

  it('speaks SSML with its pauses', async () => {
    const reply = (_: Received, response: ServerResponse) => void response.end(wavOf(wave(1)));
    server = await SpeechServer.listen({ reply });
    const pieces = await received(await voice([]), say('a b', 'Hi<break time="500ms"/>there'));
    expect(server.received.map((one) => (requested(one) as { input: string }).input)).toEqual([
      'Hi',
      'there',
    ]);
    expect(seconds(pieces)).toBeCloseTo(2.5, 1);
  });
});
