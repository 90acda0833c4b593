/** Audio for the bot benchmark: synthetic speech, noises, tones, coughs and echoes at 8 kHz. The seed is fixed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const RATE = 8000;
/** Samples of a frame of 20 ms. */
export const FRAME = RATE / 50;

const FULL_SCALE = 32_768;

/** Numbers from 0 to 1, excluding 1 (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const bell = (next: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

export const rms = (audio: Float32Array): number =>
  Math.sqrt(audio.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, audio.length));

/** Scales audio to a level in dB below full scale (negative). */
export function atLevel(audio: Float32Array, dbov: number): Float32Array {
  const factor = (FULL_SCALE * 10 ** (dbov / 20)) / Math.max(1e-9, rms(audio));
  return audio.map((sample) => sample * factor);
}

const PHRASES = [
  'Yes please.',
  'No, that is not what I asked for.',
  'Stop.',
  'Wait a moment.',
  'I would like to change my appointment.',
  'Can you repeat that?',
  'My number is four one five five five five.',
  'Hello?',
  'What time do you open on Saturday?',
  'Okay, thanks.',
  'Actually, I need to talk to a person.',
  'Tomorrow at three in the afternoon.',
  'Sorry, I did not understand.',
  'How much does it cost?',
  'Seven.',
  'She said five thousand.',
];
const VOICES = [
  ['espeak-ng', 'en-us'],
  ['espeak-ng', 'en-gb+f3'],
  ['flite', 'slt'],
  ['espeak-ng', 'en-us+m4'],
  ['flite', 'rms'],
  ['espeak-ng', 'en-gb-scotland'],
  ['flite', 'awb'],
  ['espeak-ng', 'en-us+f2'],
  ['flite', 'kal'],
  ['espeak-ng', 'en-us+croak'],
] as const;

const spoken = new Map<number, Float32Array>();
/** Number of different pairs of phrase and voice. */
const DIFFERENT = 80;

/** Returns one spoken phrase without leading and trailing silence. */
export function phrase(number: number): Float32Array {
  const index = number % DIFFERENT;
  const text = PHRASES[index % PHRASES.length] ?? '';
  const [engine, voice] = VOICES[index % VOICES.length] ?? VOICES[0];
  const audio = spoken.get(index) ?? speak(engine, voice, text);
  spoken.set(index, audio);
  return audio;
}

/** Speed in words per minute, and pitch from 0 to 99, of espeak-ng. */
export interface Manner {
  readonly speed: number;
  readonly pitch: number;
}

export function speak(
  engine: 'espeak-ng' | 'flite',
  voice: string,
  text: string,
  { speed, pitch }: Manner = { speed: 175, pitch: 50 },
): Float32Array {
  // flite cannot write to a pipe.
  const folder = mkdtempSync(join(tmpdir(), 'speech-'));
  const file = join(folder, 'said.wav');
  try {
    const args =
      engine === 'flite'
        ? ['-voice', voice, '-t', text, '-o', file]
        : ['-v', voice, '-s', String(speed), '-p', String(pitch), '-w', file, text];
    execFileSync(engine, args, { stdio: 'ignore' });
    return samplesOf(readFileSync(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function samplesOf(wav: Buffer): Float32Array {
  const rate = wav.readUInt32LE(24);
  const data = wav.subarray(44);
  const samples = Float32Array.from({ length: data.length >> 1 }, (_, i) =>
    data.readInt16LE(2 * i),
  );
  return trimmed(resampled(telephone(samples, rate), rate));
}

/** Low-pass filter at 3.4 kHz (windowed sinc), so that the lower rate has no aliases. */
function telephone(audio: Float32Array, rate: number): Float32Array {
  const half = 24;
  const taps = Float32Array.from({ length: 2 * half + 1 }, (_, i) => {
    const x = i - half;
    const cutoff = (2 * 3400) / rate;
    const sinc = x === 0 ? cutoff : Math.sin(Math.PI * cutoff * x) / (Math.PI * x);
    return sinc * (0.54 + 0.46 * Math.cos((Math.PI * x) / half));
  });
  return audio.map((_, at) => {
    let sum = 0;
    for (let i = 0; i < taps.length; i += 1) sum += (taps[i] ?? 0) * (audio[at + i - half] ?? 0);
    return sum;
  });
}

function resampled(audio: Float32Array, rate: number): Float32Array {
  return Float32Array.from({ length: Math.floor((audio.length * RATE) / rate) }, (_, i) => {
    const at = (i * rate) / RATE;
    const left = audio[Math.floor(at)] ?? 0;
    return left + (at % 1) * ((audio[Math.floor(at) + 1] ?? left) - left);
  });
}

/** Removes everything before the first and after the last 10 ms that are at most 25 dB below the whole. */
function trimmed(audio: Float32Array): Float32Array {
  const step = RATE / 100;
  const limit = rms(audio) * 10 ** (-25 / 20);
  const loud: number[] = [];
  for (let at = 0; at + step <= audio.length; at += step) {
    if (rms(audio.subarray(at, at + step)) >= limit) loud.push(at);
  }
  return audio.slice(loud[0] ?? 0, (loud.at(-1) ?? 0) + step);
}

/**
 * Traffic: low noise that rises and falls as cars pass, with horns and bursts. Its level varies by 15 dB within
 * seconds, unlike that of the steady noises.
 */
export function traffic(samples: number, seed: number): Float32Array {
  const next = numbers(seed);
  const out = noise('car', samples, seed);
  const ground = rms(out);
  const gain = new Float32Array(samples).fill(0.5);
  for (let at = 0; at < samples; at += Math.floor(RATE * (1 + 3 * next()))) {
    const width = RATE * (0.5 + next());
    const loud = 0.7 + 1.8 * next();
    for (let i = 0; i < 4 * width && at + i < samples; i += 1)
      gain[at + i] = Math.max(
        gain[at + i] ?? 0,
        loud * Math.exp(-(((i - 2 * width) / width) ** 2)),
      );
  }
  for (let i = 0; i < samples; i += 1) out[i] = (out[i] ?? 0) * (gain[i] ?? 0);
  for (let at = RATE; at < samples; at += Math.floor(RATE * (5 + 5 * next()))) {
    const hit = cough(Math.floor(1000 * next()));
    add(out, atLevel(hit, 20 * Math.log10(Math.max(1, 1.5 * ground) / FULL_SCALE)), at);
  }
  return out;
}

/** An office or café: three distant voices, keyboard clicks and the noise of a fan. */
export function office(samples: number, seed: number): Float32Array {
  const next = numbers(seed);
  const out = atLevel(noise('fan', samples, seed), -34);
  add(out, atLevel(babble(samples, 3), -36));
  for (let at = 0; at < samples; at += Math.floor(RATE * (0.08 + 0.4 * next()))) {
    const click = Float32Array.from({ length: 60 }, (_, i) => bell(next) * Math.exp(-i / 12));
    add(out, atLevel(click, -26), at);
  }
  return out;
}

export type Noise = 'white' | 'pink' | 'car' | 'street' | 'fan';
export const NOISES: readonly Noise[] = ['white', 'pink', 'car', 'street', 'fan'];

/** Noise of one kind; its level is set by the caller. */
export function noise(kind: Noise, samples: number, seed: number): Float32Array {
  const next = numbers(seed);
  const out = new Float32Array(samples);
  let slow = 0;
  let slower = 0;
  let sway = 0;
  for (let i = 0; i < samples; i += 1) {
    const white = bell(next);
    slow = 0.95 * slow + white;
    slower = 0.995 * slower + white;
    if (i % 800 === 0) sway = 0.9 * sway + 0.3 * bell(next);
    const pink = 0.4 * white + 0.3 * slow + 0.05 * slower;
    const hum =
      Math.sin((2 * Math.PI * 100 * i) / RATE) + 0.5 * Math.sin((2 * Math.PI * 200 * i) / RATE);
    out[i] = {
      white,
      pink,
      car: 0.1 * slower + 0.2 * slow + 0.2 * hum,
      street: pink * 10 ** Math.max(-0.3, Math.min(0.3, sway / 2)),
      fan: 0.3 * white + 0.6 * Math.sin((2 * Math.PI * 118 * i) / RATE) + 0.2 * hum,
    }[kind];
  }
  return out;
}

/** Many voices immediately. */
export function babble(samples: number, voices = 8): Float32Array {
  const out = new Float32Array(samples);
  for (let voice = 0; voice < voices; voice += 1) {
    for (let at = 0, index = voice; at < samples; index += 7) {
      const said = phrase(index);
      for (let i = 0; i < said.length && at + i < samples; i += 1)
        out[at + i] = (out[at + i] ?? 0) + (said[i] ?? 0);
      at += said.length + 400;
    }
  }
  return out;
}

/** A melody of decaying notes with four harmonics and a chord below, as of a music box. */
export function melody(samples: number, seed: number): Float32Array {
  const next = numbers(seed);
  const out = new Float32Array(samples);
  const note = RATE * 0.4;
  for (let at = 0; at < samples; at += note) {
    const hz = 220 * 2 ** (Math.floor(next() * 24) / 12);
    for (let i = 0; i < 2 * note && at + i < samples; i += 1) {
      const t = i / RATE;
      let sum = 0;
      for (let harmonic = 1; harmonic <= 4; harmonic += 1)
        sum += Math.sin(2 * Math.PI * hz * harmonic * t) / harmonic ** 1.5;
      out[at + i] = (out[at + i] ?? 0) + sum * Math.exp(-3 * t) * Math.min(1, t * 100);
    }
  }
  return out;
}

/** Tones of the network: dial tone, ringback, busy and beeps. */
export function networkTones(samples: number): Float32Array {
  const kinds = [
    [350, 440, 3, 0.5],
    [440, 480, 2, 2],
    [480, 620, 0.5, 0.5],
    [425, 0, 1, 1],
    [1000, 0, 0.4, 1],
    [697, 1209, 0.2, 0.3],
  ] as const;
  const out = new Float32Array(samples);
  for (let at = 0, index = 0; at < samples; index += 1) {
    const [low, high, on, off] = kinds[index % kinds.length] ?? kinds[0];
    for (let i = 0; i < on * RATE && at + i < samples; i += 1) {
      out[at + i] =
        Math.sin((2 * Math.PI * low * i) / RATE) +
        (high > 0 ? Math.sin((2 * Math.PI * high * i) / RATE) : 0);
    }
    at += (on + off) * RATE;
  }
  return out;
}

/** One cough: a burst of noise with a sharp begin, a decay and a weaker second part. */
export function cough(seed: number): Float32Array {
  const next = numbers(seed);
  const length = Math.floor(RATE * (0.25 + 0.2 * next()));
  let past = 0;
  return Float32Array.from({ length }, (_, i) => {
    const t = i / RATE;
    const envelope =
      Math.min(1, t * 200) * (Math.exp(-12 * t) + 0.4 * Math.exp(-200 * (t - 0.2) ** 2));
    past = 0.5 * past + bell(next);
    return past * envelope;
  });
}

/** The echo of audio: two reflections after `delayMs`, `lossDb` below the original. */
export function echoOf(audio: Float32Array, delayMs: number, lossDb: number): Float32Array {
  const factor = 10 ** (-lossDb / 20);
  const delay = Math.round((delayMs * RATE) / 1000);
  return audio.map(
    (_, i) => factor * ((audio[i - delay] ?? 0) + 0.4 * (audio[i - delay - 37] ?? 0)),
  );
}

export function add(into: Float32Array, audio: Float32Array, at = 0): Float32Array {
  for (let i = 0; i < audio.length && at + i < into.length; i += 1)
    into[at + i] = (into[at + i] ?? 0) + (audio[i] ?? 0);
  return into;
}

export const bytesOf = (audio: Float32Array): Buffer =>
  Buffer.from(
    Int16Array.from(audio, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))))
      .buffer,
  );
