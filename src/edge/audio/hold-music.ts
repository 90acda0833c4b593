/** Generates license-free music on hold: slow broken chords over a soft bass. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pcm } from '../../domain/call/needs.ts';

const RATE = 8000;
const BEAT_S = 0.6;
const BEATS_PER_CHORD = 4;
/** Peak level, −10 dBFS. The music is quieter than speech (−16 dBFS RMS). */
const PEAK = 32_768 * 10 ** (-10 / 20);
/** Levels of the fundamental and two overtones. All are below 3.2 kHz, within the telephone band. */
const PARTIALS = [1, 0.35, 0.12] as const;

/**
 * C, a minor, F, G, e minor, a minor, d minor, G: semitones relative to the A of 220 Hz, bass first.
 * Played an octave higher.
 */
const CHORDS: readonly (readonly number[])[] = [
  [-9, 3, 7, 10, 15],
  [-12, 0, 3, 7, 12],
  [-4, 3, 8, 12, 15],
  [-2, 2, 5, 10, 14],
  [-5, 2, 7, 10, 14],
  [-12, 0, 7, 12, 15],
  [-7, 0, 5, 8, 12],
  [-2, 2, 5, 10, 14],
];
/** Index of the chord's note at each half beat. */
const PATTERN = [1, 2, 3, 4, 3, 2, 3, 2] as const;

interface Note {
  readonly atS: number;
  readonly hz: number;
  readonly level: number;
  /** Time constant of the exponential decay, seconds. */
  readonly decayS: number;
}

/** Generates about twenty seconds that can loop: notes beyond the end continue at the beginning. */
export async function holdMusic(): Promise<Pcm> {
  const length = Math.round(CHORDS.length * BEATS_PER_CHORD * BEAT_S * RATE);
  const sum = new Float64Array(length);
  for (const note of notes()) {
    add(note, sum);
    await nextTurn();
  }
  const loudest = sum.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const samples = Int16Array.from(sum, (value) => Math.round((value / loudest) * PEAK));
  return { rate: RATE, samples: new Uint8Array(samples.buffer) };
}

function notes(): readonly Note[] {
  const hzOf = (semitones: number): number => 220 * 2 ** (semitones / 12);
  return CHORDS.flatMap((chord, index) => {
    const startS = index * BEATS_PER_CHORD * BEAT_S;
    const bass = { atS: startS, hz: hzOf((chord[0] ?? 0) + 12), level: 0.7, decayS: 1.4 };
    const broken = PATTERN.map((which, step) => ({
      atS: startS + (step * BEAT_S) / 2,
      hz: hzOf((chord[which] ?? 0) + 12),
      level: step % 2 === 0 ? 0.5 : 0.38,
      decayS: 0.7,
    }));
    return [bass, ...broken];
  });
}

function add({ atS, hz, level, decayS }: Note, sum: Float64Array): void {
  const from = Math.round(atS * RATE);
  const audible = Math.round(decayS * 5 * RATE);
  const partials = PARTIALS.map((part, index) => {
    const step = (2 * Math.PI * hz * (index + 1)) / RATE;
    return { twiceCos: 2 * Math.cos(step), last: -Math.sin(step) * part, now: 0 };
  });
  const decay = Math.exp(-1 / (decayS * RATE));
  let envelope = level;
  for (let i = 0; i < audible; i += 1) {
    let value = 0;
    // sin(x + w) = 2·cos(w)·sin(x) − sin(x − w): a tenth of the time of Math.sin at each start of the service.
    for (const partial of partials) {
      const { now } = partial;
      value += now;
      partial.now = partial.twiceCos * now - partial.last;
      partial.last = now;
    }
    // An attack of 20 ms avoids clicks.
    const attack = Math.min(1, i / (0.02 * RATE));
    const at = (from + i) % sum.length;
    sum[at] = (sum[at] ?? 0) + attack * envelope * value;
    envelope *= decay;
  }
}
