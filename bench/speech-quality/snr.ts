/** Segmental signal-to-noise ratio of what was heard, where the delay may change from segment to segment. */
import { HEARING_RATE } from './networks.ts';

const SEGMENT = (HEARING_RATE * 32) / 1000;
/** A segment whose reference is quieter than this (RMS) says nothing. */
const SILENCE = 100;
const LOWEST_DB = -10;
const HIGHEST_DB = 35;
/** Maximum change of the delay since the previous segment, and in total. */
const STEP_MS = 25;
const MOST_MS = 300;

const samplesOf = (ms: number): number => Math.round((ms * HEARING_RATE) / 1000);

interface Segment {
  readonly db: number;
  /** Samples later than in the reference. */
  readonly lag: number;
}

function segments(reference: Int16Array, received: Int16Array): readonly Segment[] {
  const found: Segment[] = [];
  let lag = 0;
  for (let at = 0; at + SEGMENT <= reference.length; at += SEGMENT) {
    const part = reference.subarray(at, at + SEGMENT);
    const power = energy(part);
    if (power < SILENCE ** 2 * SEGMENT) continue;
    const step = samplesOf(STEP_MS);
    let best = { noise: Number.POSITIVE_INFINITY, lag };
    for (let shift = lag - step; shift <= lag + step; shift += 1) {
      if (Math.abs(shift) > samplesOf(MOST_MS)) continue;
      const noise = difference(part, received, at + shift, best.noise);
      if (noise < best.noise) best = { noise, lag: shift };
    }
    const db = 10 * Math.log10(power / Math.max(1, best.noise));
    // Audio that does not correlate with the reference gives no delay estimate.
    if (db > 3) lag = best.lag;
    found.push({ db: Math.min(HIGHEST_DB, Math.max(LOWEST_DB, db)), lag });
  }
  return found;
}

function energy(part: Int16Array): number {
  let sum = 0;
  for (const value of part) sum += value * value;
  return sum;
}

/** Stops when it is more than `least`. */
function difference(part: Int16Array, received: Int16Array, at: number, least: number): number {
  let sum = 0;
  for (let i = 0; i < part.length && sum < least; i += 1) {
    const d = (part[i] ?? 0) - (received[at + i] ?? 0);
    sum += d * d;
  }
  return sum;
}

/** dB over all segments, and over those that are not the reference itself (NaN: there are none). */
export function segmentalSnr(
  reference: Int16Array,
  received: Int16Array,
): { readonly all: number; readonly changed: number } {
  const found = segments(reference, received).map(({ db }) => db);
  return { all: mean(found), changed: mean(found.filter((db) => db < HIGHEST_DB)) };
}

const mean = (values: readonly number[]): number =>
  Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10) / 10;

/** Delay of the last segments relative to the reference. */
export function delayMs(reference: Int16Array, received: Int16Array): number {
  const last = segments(reference, received).at(-1);
  return Math.round(((last?.lag ?? 0) * 1000) / HEARING_RATE);
}
