/** Truncated, mislabeled and random audio files: each one plays up to its fault or is refused, and the next file plays. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../src/base/result.ts';
import { type AudioService, createAudio } from '../../../src/edge/audio/audio-library.ts';
import { int16Bytes, sine, wavFile } from '../../protocol/audio-file/signals.ts';
import { SimClock } from '../../sim/clock.ts';

const RATE = 8000;
const SECONDS = 1;
const MAX_MS = 5000;
const WAV = wavFile({
  format: 1,
  bits: 16,
  channels: 1,
  rate: RATE,
  data: int16Bytes(sine(1000, 12_000, RATE, SECONDS * RATE)),
});
/** Offsets of size and format fields in a WAV header of this test. */
const FIELDS = { riffSize: 4, formatSize: 16, channels: 22, rate: 24, bits: 34, dataSize: 40 };

let folder: string;
let audio: AudioService;
let mp3: Uint8Array;
/** Files of the customer's server, by path. */
const files = new Map<string, Uint8Array>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'corrupt-'));
  audio = createAudio({
    clock: new SimClock(),
    limits: { maxMs: MAX_MS },
    fetch: async (url) => ok({ status: 200, etag: undefined, bytes: files.get(url) ?? WAV }),
  });
  const wav = join(folder, 'a.wav');
  writeFileSync(wav, WAV);
  expect(await audio.encoder.encodeMp3(wav, join(folder, 'a.mp3'))).toMatchObject({ ok: true });
  mp3 = readFileSync(join(folder, 'a.mp3'));
});

afterAll(async () => {
  await audio.stop();
  rmSync(folder, { recursive: true });
});

/** Deterministic random numbers. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const cut = (bytes: Uint8Array, parts: number): Uint8Array[] =>
  Array.from({ length: parts }, (_, i) =>
    bytes.slice(0, Math.floor((bytes.length * i) / parts) + (i % 3)),
  );

function changed(bytes: Uint8Array, seed: number, count: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const next = random(seed);
  for (let i = 0; i < count; i += 1) copy[next(copy.length)] = next(256);
  return copy;
}

function stated(field: keyof typeof FIELDS, value: number): Uint8Array {
  const copy = Uint8Array.from(WAV);
  const view = new DataView(copy.buffer);
  if (field === 'channels' || field === 'bits') view.setUint16(FIELDS[field], value, true);
  else view.setUint32(FIELDS[field], value, true);
  return copy;
}

const noise = (seed: number, begin: readonly number[]): Uint8Array => {
  const next = random(seed);
  return Uint8Array.from({ length: 20_000 }, (_, i) => begin[i] ?? next(256));
};

const WRONG = [0, 1, 3, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff];
const seeds = Array.from({ length: 12 }, (_, i) => i + 1);

const KINDS: Readonly<Record<string, () => readonly Uint8Array[]>> = {
  'a WAV truncated at any offset': () => cut(WAV, 24),
  'a WAV with wrong header fields': () =>
    (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).flatMap((field) =>
      WRONG.map((value) => stated(field, value)),
    ),
  'a WAV with changed bytes': () => seeds.map((seed) => changed(WAV, seed, 4 ** (seed % 6))),
  'a WAV with a changed header': () =>
    seeds.map((seed) => {
      const header = changed(WAV.slice(0, 44), seed, 3);
      return Uint8Array.from([...header, ...WAV.slice(44)]);
    }),
  'an MP3 truncated at any offset': () => cut(mp3, 24),
  'an MP3 with changed bytes': () => seeds.map((seed) => changed(mp3, seed, 4 ** (seed % 6))),
  'noise with the beginning of an MP3': () => seeds.map((seed) => noise(seed, [0xff, 0xfb, 0x90])),
  'noise after a tag with a huge length': () =>
    seeds.map((seed) => noise(seed, [0x49, 0x44, 0x33, 4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f])),
  'noise after a WAV header': () =>
    seeds.map((seed) => noise(seed, [...WAV.slice(0, 12 + (seed % 3) * 16)])),
};

describe('corrupt audio files', () => {
  it.each(Object.keys(KINDS))('%s', async (kind) => {
    const broken = KINDS[kind]?.() ?? [];
    expect(broken.length).toBeGreaterThan(10);
    for (const [index, bytes] of broken.entries()) {
      const url = `https://customer.test/${kind}/${index}`;
      files.set(url, bytes);
      const loaded = await audio.library.load(url, { rate: RATE });
      if (loaded.ok) expect(loaded.value.samples.byteLength).toBeLessThanOrEqual(MAX_MS * 16);
      else expect(['notAudio', 'tooLarge']).toContain(loaded.error.kind);
    }
    const whole = await audio.library.load(`https://customer.test/${kind}/whole`, { rate: RATE });
    expect(whole).toMatchObject({ ok: true, value: { rate: RATE } });
    expect(whole.ok && whole.value.samples.byteLength).toBe(SECONDS * RATE * 2);
  });
});
