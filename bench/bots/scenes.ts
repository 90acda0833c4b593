/** Scenes of the speech detection benchmark: what the caller's line carries, and when the caller speaks. */
import {
  add,
  atLevel,
  babble,
  cough,
  echoOf,
  melody,
  NOISES,
  networkTones,
  noise,
  numbers,
  office,
  phrase,
  RATE,
  traffic,
} from './audio.ts';

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Scene {
  readonly name: string;
  readonly heard: Float32Array;
  /** Audio of the bot. */
  readonly sent?: Float32Array;
  readonly spans: readonly Span[];
}

const LINE_DBOV = -65;
const SPEECH_DBOV = [-16, -20, -24, -28, -22] as const;

interface Said {
  readonly audio: Float32Array;
  readonly spans: readonly Span[];
}

/** Phrases with pauses of 1.5 to 3 s, all at one level if `dbov` is given. */
function conversation(phrases: number, seed: number, dbov?: number): Said {
  const next = numbers(seed);
  const pieces: { at: number; audio: Float32Array }[] = [];
  const spans: Span[] = [];
  let at = 3 * RATE;
  for (let i = 0; i < phrases; i += 1) {
    const audio = atLevel(phrase(i), dbov ?? SPEECH_DBOV[i % SPEECH_DBOV.length] ?? -20);
    pieces.push({ at, audio });
    spans.push({ startMs: (at * 1000) / RATE, endMs: ((at + audio.length) * 1000) / RATE });
    at += audio.length + Math.floor(RATE * (1.5 + 1.5 * next()));
  }
  const audio = new Float32Array(at);
  for (const piece of pieces) add(audio, piece.audio, piece.at);
  return { audio, spans };
}

const line = (samples: number, seed: number) => atLevel(noise('white', samples, seed), LINE_DBOV);

function botSpeech(samples: number): Float32Array {
  const audio = new Float32Array(samples);
  for (let at = 0, index = 3; at < samples; index += 1) {
    const said = atLevel(phrase(index), -18);
    add(audio, said, at);
    at += said.length + RATE * 0.15;
  }
  return audio;
}

function coughs(samples: number): Float32Array {
  const out = new Float32Array(samples);
  for (let at = RATE, index = 1; at < samples; index += 1, at += 2 * RATE)
    add(out, atLevel(cough(index), -18 - (index % 4) * 4), at);
  return out;
}

/** `phrases` per scene with speech; scenes without speech last about three seconds per phrase. */
export function scenes(phrases: number): Scene[] {
  const seconds = phrases * 3;
  const samples = seconds * RATE;
  const all: Scene[] = [];
  const plain = conversation(phrases, 1);
  all.push({
    name: 'quiet line',
    heard: add(line(plain.audio.length, 2), plain.audio),
    spans: plain.spans,
  });
  NOISES.forEach((kind, index) => {
    const { audio, spans } = conversation(phrases, 10 + index, -20);
    const heard = add(atLevel(noise(kind, audio.length, 20 + index), -30), audio);
    all.push({ name: `${kind} noise, 10 dB SNR`, heard, spans });
  });
  for (const [name, background] of [
    ['traffic noise', traffic],
    ['office noise', office],
  ] as const) {
    const { audio, spans } = conversation(phrases, 20, -20);
    const heard = add(atLevel(background(audio.length, 31), -30), audio);
    all.push({ name: `${name}, 10 dB SNR`, heard, spans });
  }
  const party = conversation(phrases, 30, -20);
  all.push({
    name: 'babble of 8 voices, 10 dB SNR',
    heard: add(atLevel(babble(party.audio.length), -30), party.audio),
    spans: party.spans,
  });
  all.push({ name: 'coughs', heard: add(line(samples, 3), coughs(samples)), spans: [] });
  all.push({
    name: 'network tones',
    heard: add(line(samples, 4), atLevel(networkTones(samples), -20)),
    spans: [],
  });
  all.push({
    name: 'melody',
    heard: add(line(samples, 5), atLevel(melody(samples, 6), -22)),
    spans: [],
  });
  for (const [lossDb, delayMs] of [
    [35, 60],
    [25, 180],
    [15, 120],
  ] as const) {
    const sent = botSpeech(samples);
    all.push({
      name: `bot's echo, −${lossDb} dB after ${delayMs} ms`,
      sent,
      heard: add(line(samples, 7), echoOf(sent, delayMs, lossDb)),
      spans: [],
    });
  }
  const over = conversation(phrases, 40);
  const sent = botSpeech(over.audio.length);
  all.push({
    name: "caller over the bot's echo, −25 dB",
    sent,
    heard: add(add(line(over.audio.length, 8), echoOf(sent, 180, 25)), over.audio),
    spans: over.spans,
  });
  return all;
}
