import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { err, ok } from '../../../src/base/result.ts';
import type { Pcm } from '../../../src/domain/call/needs.ts';
import {
  type AudioFetch,
  type AudioLimits,
  type AudioRequest,
  type AudioService,
  createAudio,
} from '../../../src/edge/audio/audio-library.ts';
import {
  fitSine,
  int16Bytes,
  int16Samples,
  sine,
  wavFile,
} from '../../protocol/audio-file/signals.ts';
import { SimClock } from '../../sim/clock.ts';

const tone = (seconds: number, rate: number, channels = 1): Uint8Array => {
  const mono = sine(1000, 12000, rate, seconds * rate);
  const samples =
    channels === 1
      ? mono
      : Float32Array.from({ length: mono.length * 2 }, (_, i) => mono[i >> 1] ?? 0);
  return wavFile({ format: 1, bits: 16, channels, rate, data: int16Bytes(samples) });
};

/** A customer's server with scripted responses, which records its requests. */
class Server {
  answers: Array<Awaited<ReturnType<AudioFetch>>> = [];
  readonly requested: Array<{ url: string; request: AudioRequest }> = [];
  /** Delays every response while set. */
  gate: Promise<void> | undefined;

  readonly fetch: AudioFetch = async (url, request) => {
    this.requested.push({ url, request });
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    await this.gate;
    return answer ?? err({ kind: 'connect', detail: 'nothing there' });
  };
}

const file = (bytes: Uint8Array, etag?: string) => ok({ status: 200, etag, bytes });
const status = (code: number) => ok({ status: code, etag: undefined, bytes: new Uint8Array(0) });

let clock: SimClock;
let server: Server;
let services: AudioService[];
let folder: string;

function service(limits: Partial<AudioLimits> = {}): AudioService {
  const made = createAudio({ fetch: server.fetch, clock, limits });
  services.push(made);
  return made;
}

function expectTone(pcm: Pcm, seconds: number): void {
  const samples = int16Samples(pcm.samples);
  expect(pcm.rate).toBe(8000);
  // An MP3 declares what its encoder added.
  expect(samples).toHaveLength(seconds * 8000);
  const fit = fitSine(samples.subarray(2000, 6000), 1000, 8000);
  expect(fit.snrDb).toBeGreaterThan(25);
  expect(fit.amplitude).toBeGreaterThan(11000);
}

beforeEach(async () => {
  clock = new SimClock();
  server = new Server();
  services = [];
  folder = await mkdtemp(join(tmpdir(), 'carillon-audio-'));
});

afterEach(async () => {
  await Promise.all(services.map((made) => made.stop()));
  await rm(folder, { recursive: true });
});

describe('audio library: decoding', () => {
  it('plays a stereo WAV of any rate as mono at the line rate', async () => {
    server.answers = [file(tone(1, 44100, 2))];
    const loaded = await service().library.load('https://customer.test/a.wav');
    if (!loaded.ok) throw new Error(loaded.error.detail);
    expectTone(loaded.value, 1);
  });

  it.each([
    // Expects the listener's rate, or a lower one that holds all of the file's content.
    { fileRate: 48_000, rate: 24_000, given: 24_000, hz: 11_000 },
    { fileRate: 44_100, rate: 16_000, given: 16_000, hz: 7000 },
    { fileRate: 16_000, rate: 24_000, given: 16_000, hz: 7000 },
    { fileRate: 8000, rate: 24_000, given: 8000, hz: 3000 },
  ] as const)('$hz Hz of a file of $fileRate Hz reach a listener of $rate Hz', async (way) => {
    const { fileRate, rate, given, hz } = way;
    const data = int16Bytes(sine(hz, 12000, fileRate, fileRate));
    server.answers = [file(wavFile({ format: 1, bits: 16, channels: 1, rate: fileRate, data }))];
    const { library } = service();
    const [loaded, narrow] = await Promise.all([
      library.load('https://customer.test/a.wav', { rate }),
      library.load('https://customer.test/a.wav', { rate: 8000 }),
    ]);
    if (!loaded.ok || !narrow.ok) throw new Error('not loaded');
    expect([loaded.value.rate, narrow.value.rate]).toEqual([given, 8000]);
    const samples = int16Samples(loaded.value.samples);
    expect(samples).toHaveLength(given);
    const fit = fitSine(samples.subarray(2000, given - 2000), hz, given);
    expect(fit.snrDb).toBeGreaterThan(50);
    expect(fit.amplitude).toBeGreaterThan(10_000);
  });

  it('plays an MP3 regardless of its name', async () => {
    const { library, encoder } = service();
    await writeFile(join(folder, 'in.wav'), tone(2, 8000));
    await encoder.encodeMp3(join(folder, 'in.wav'), join(folder, 'out.mp3'));
    server.answers = [file(await readFile(join(folder, 'out.mp3')))];
    const loaded = await library.load('https://customer.test/prompt');
    if (!loaded.ok) throw new Error(loaded.error.detail);
    expectTone(loaded.value, 2);
  });

  it.each([
    ['a page instead of audio', new TextEncoder().encode('<html>hello</html>')],
    ['an empty body', new Uint8Array(0)],
    [
      'bytes with the beginning of an MP3',
      Uint8Array.from({ length: 5000 }, (_, i) => (i < 2 ? 0xff - 4 * i : 0)),
    ],
    [
      'a WAV with an unknown codec',
      wavFile({ format: 0x55, bits: 16, channels: 1, rate: 8000, data: new Uint8Array(9) }),
    ],
  ])('%s is notAudio', async (_name, bytes) => {
    server.answers = [file(bytes)];
    const loaded = await service().library.load('https://customer.test/x');
    expect(loaded).toMatchObject({ ok: false, error: { kind: 'notAudio' } });
  });

  it('audio beyond the length limit is tooLarge', async () => {
    server.answers = [file(tone(3, 8000))];
    const loaded = await service({ maxMs: 2000 }).library.load('https://customer.test/long.wav');
    expect(loaded).toMatchObject({
      ok: false,
      error: { kind: 'tooLarge', detail: 'longer than 2 s' },
    });
  });
});

describe('audio library: downloads (dialect §2.1 Play)', () => {
  it('limits a download to 10 MB, 2 s to connect and 120 s in total', async () => {
    server.answers = [status(404)];
    await service().library.load('https://customer.test/a.wav');
    expect(server.requested[0]?.request).toMatchObject({
      maxBytes: 10_485_760,
      connectTimeoutMs: 2000,
      readTimeoutMs: 120_000,
    });
  });

  it('retries once after a failed connection or a 5xx, never after a 4xx', async () => {
    server.answers = [err({ kind: 'connect', detail: 'refused' }), file(tone(1, 8000))];
    expect((await service().library.load('https://customer.test/a.wav')).ok).toBe(true);
    server.answers = [status(503), status(502)];
    expect(await service().library.load('https://customer.test/b.wav')).toMatchObject({
      error: { kind: 'httpStatus', detail: 'answered 502' },
    });
    expect(server.requested).toHaveLength(4);
    server.answers = [status(404)];
    await service().library.load('https://customer.test/c.wav');
    expect(server.requested).toHaveLength(5);
  });

  it.each([
    ['refusedAddress', 'refused'],
    ['tooLarge', 'tooLarge'],
    ['timeout', 'unreachable'],
    ['protocol', 'unreachable'],
  ] as const)('maps %s of the client to %s', async (kind, expected) => {
    server.answers = [err({ kind, detail: 'why' })];
    expect(await service().library.load('https://customer.test/a.wav')).toEqual(
      err({ kind: expected, detail: 'why' }),
    );
  });

  it('loads and decodes a file once for simultaneous calls', async () => {
    server.answers = [file(tone(1, 8000))];
    const { library } = service();
    const all = await Promise.all(
      Array.from({ length: 50 }, () => library.load('https://customer.test/a.wav')),
    );
    expect(all.every((loaded) => loaded.ok)).toBe(true);
    expect(server.requested).toHaveLength(1);
  });

  it('plays from memory for a minute, then revalidates the file', async () => {
    server.answers = [file(tone(1, 8000), '"v1"')];
    const { library } = service();
    const url = 'https://customer.test/a.wav';
    await library.load(url);
    await clock.advance(59_000);
    await library.load(url);
    expect(server.requested).toHaveLength(1);
    await clock.advance(2000);
    server.answers = [status(304)];
    expect((await library.load(url)).ok).toBe(true);
    expect(server.requested[1]?.request.headers).toEqual({ 'if-none-match': '"v1"' });
    await library.load(url);
    expect(server.requested).toHaveLength(2);
  });

  it('evicts the least recently used file when memory is full', async () => {
    const { library } = service({ cacheBytes: 2 * 16_000 });
    server.answers = [file(tone(1, 8000))];
    const load = (name: string) => library.load(`https://customer.test/${name}`);
    await load('a');
    await load('b');
    await load('a');
    await load('c');
    expect(server.requested).toHaveLength(3);
    await load('a');
    expect(server.requested).toHaveLength(3);
    await load('b');
    expect(server.requested).toHaveLength(4);
  });

  it('stops waiting when the call ends; limits a slow host without blocking others', async () => {
    const gate = Promise.withResolvers<void>();
    server.gate = gate.promise;
    server.answers = [file(tone(1, 8000))];
    const { library } = service({ maxLoadingPerHost: 2 });
    const ending = new AbortController();
    const first = library.load('https://slow.test/1', { signal: ending.signal });
    void library.load('https://slow.test/2');
    expect(await library.load('https://slow.test/3')).toMatchObject({ error: { kind: 'busy' } });
    const other = library.load('https://other.test/1');
    ending.abort();
    expect(await first).toMatchObject({ error: { kind: 'aborted' } });
    gate.resolve();
    expect((await other).ok).toBe(true);
  });
});

describe('MP3 of recordings', () => {
  it('keeps length and content of a stereo recording, and leaves no partial file', async () => {
    const wav = join(folder, 'call.wav');
    const mp3 = join(folder, 'call.mp3');
    await writeFile(wav, tone(3, 8000, 2));
    const { encoder, library } = service();
    const encoded = await encoder.encodeMp3(wav, mp3);
    expect(encoded).toEqual(ok({ bytes: (await stat(mp3)).size }));
    expect((await readdir(folder)).sort()).toEqual(['call.mp3', 'call.wav']);
    expect((await stat(mp3)).mode & 0o077).toBe(0);
    server.answers = [file(await readFile(mp3))];
    const loaded = await library.load('https://customer.test/call.mp3');
    if (!loaded.ok) throw new Error(loaded.error.detail);
    expectTone(loaded.value, 3);
  });

  it('keeps 7 kHz of a 16 kHz recording', async () => {
    const wav = join(folder, 'wide.wav');
    const data = int16Bytes(sine(7000, 12000, 16_000, 32_000));
    await writeFile(wav, wavFile({ format: 1, bits: 16, channels: 1, rate: 16_000, data }));
    const { encoder, library } = service();
    await encoder.encodeMp3(wav, join(folder, 'wide.mp3'));
    server.answers = [file(await readFile(join(folder, 'wide.mp3')))];
    const loaded = await library.load('https://customer.test/wide.mp3', { rate: 16_000 });
    if (!loaded.ok) throw new Error(loaded.error.detail);
    const samples = int16Samples(loaded.value.samples).subarray(8000, 24_000);
    const fit = fitSine(samples, 7000, 16_000);
    expect(fit.amplitude).toBeGreaterThan(11_000);
    expect(fit.snrDb).toBeGreaterThan(40);
  });

  it('encodes all samples of a file with a header outdated by a crash', async () => {
    const wav = join(folder, 'crashed.wav');
    const bytes = tone(3, 8000);
    new DataView(bytes.buffer).setUint32(40, 16_000, true);
    await writeFile(wav, bytes);
    const { encoder, library } = service();
    await encoder.encodeMp3(wav, join(folder, 'crashed.mp3'));
    server.answers = [file(await readFile(join(folder, 'crashed.mp3')))];
    const loaded = await library.load('https://customer.test/crashed.mp3');
    if (!loaded.ok) throw new Error(loaded.error.detail);
    expectTone(loaded.value, 3);
  });

  it('reports an invalid or missing file, and continues to work', async () => {
    const { encoder } = service();
    await writeFile(join(folder, 'text.wav'), 'not audio');
    const mp3 = join(folder, 'x.mp3');
    expect(await encoder.encodeMp3(join(folder, 'text.wav'), mp3)).toMatchObject({
      error: { kind: 'notAudio' },
    });
    expect(await encoder.encodeMp3(join(folder, 'none.wav'), mp3)).toMatchObject({
      error: { kind: 'failed', detail: expect.stringContaining('ENOENT') },
    });
    await writeFile(join(folder, 'good.wav'), tone(1, 8000));
    expect((await encoder.encodeMp3(join(folder, 'good.wav'), mp3)).ok).toBe(true);
  });

  it('aborts a conversion at its time limit, and runs the next one', async () => {
    const { encoder } = service();
    await writeFile(join(folder, 'good.wav'), tone(1, 8000));
    const late = encoder.encodeMp3(join(folder, 'good.wav'), join(folder, 'a.mp3'));
    await clock.advance(1_800_000);
    expect(await late).toMatchObject({
      error: { kind: 'failed', detail: 'took longer than 1800 s' },
    });
    expect((await encoder.encodeMp3(join(folder, 'good.wav'), join(folder, 'b.mp3'))).ok).toBe(
      true,
    );
  });

  it('refuses jobs after stop', async () => {
    const made = service();
    await made.stop();
    expect(await made.encoder.encodeMp3('/a', '/b')).toMatchObject({ error: { kind: 'failed' } });
  });
});
