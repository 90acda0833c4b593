/** Finds sent speech in received audio: delay and similarity per segment, by normalised cross-correlation. */
export interface Echo {
  /** Median delay of the detected segments, in ms. */
  readonly delayMs: number;
  /** Median correlation of all segments with speech, 0 to 1. */
  readonly likeness: number;
  /** Share of the segments with speech that was detected, 0 to 1. */
  readonly foundPart: number;
}

const RATE_HZ = 8000;
/** Default duration of a segment, in ms. */
const SEGMENT_MS = 1000;
/** Decimation of the coarse search (2 kHz). The refinement around the best match runs at 8 kHz. */
const COARSE = 4;
/** Correlation from which a segment counts as detected. Unrelated speech stays below 0.3 in segments of a second. */
const FOUND_LIKENESS = 0.5;
/** Root mean square below which a segment counts as a pause. */
const SPEECH_RMS = 300;

/**
 * Compares two 8 kHz signals with a common start time. Returns undefined if `said` has no speech. Shorter segments
 * tolerate a changing delay, and `likeness` then measures the quality of the audio only.
 */
export function findEcho(
  said: Int16Array,
  received: Int16Array,
  maxDelayMs: number,
  segmentMs = SEGMENT_MS,
): Echo | undefined {
  const maxLag = Math.floor((maxDelayMs * RATE_HZ) / 1000);
  const found: Match[] = [];
  const length = Math.round((segmentMs * RATE_HZ) / 1000);
  for (let at = 0; at + length / 2 <= said.length; at += length) {
    const segment = said.subarray(at, at + length);
    if (rootMeanSquare(segment) >= SPEECH_RMS) found.push(bestLag(segment, received, at, maxLag));
  }
  if (found.length === 0) return undefined;
  const matched = found.filter(({ likeness }) => likeness >= FOUND_LIKENESS);
  return {
    delayMs: median(matched.map(({ lag }) => lag)) / (RATE_HZ / 1000),
    likeness: median(found.map(({ likeness }) => likeness)),
    foundPart: matched.length / found.length,
  };
}

interface Match {
  readonly lag: number;
  readonly likeness: number;
}

function bestLag(segment: Int16Array, received: Int16Array, at: number, maxLag: number): Match {
  const window = received.subarray(at, at + segment.length + maxLag);
  const coarse = search(decimate(segment), decimate(window), 0, Math.floor(maxLag / COARSE));
  const around = coarse.lag * COARSE;
  return search(segment, window, Math.max(0, around - 2 * COARSE), around + 2 * COARSE);
}

function search(a: Int16Array, b: Int16Array, fromLag: number, toLag: number): Match {
  let best: Match = { lag: fromLag, likeness: 0 };
  for (let lag = fromLag; lag <= toLag; lag += 1) {
    const likeness = correlation(a, b, lag);
    if (likeness > best.likeness) best = { lag, likeness };
  }
  return best;
}

function correlation(a: Int16Array, b: Int16Array, lag: number): number {
  let product = 0;
  let energyA = 0;
  let energyB = 0;
  for (let i = 0; i < a.length; i += 1) {
    const x = a[i] ?? 0;
    const y = b[i + lag] ?? 0;
    product += x * y;
    energyA += x * x;
    energyB += y * y;
  }
  return energyA === 0 || energyB === 0 ? 0 : product / Math.sqrt(energyA * energyB);
}

/** Averages each group of four samples. This simple low-pass is sufficient for the coarse search. */
const decimate = (samples: Int16Array): Int16Array =>
  Int16Array.from({ length: Math.floor(samples.length / COARSE) }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < COARSE; k += 1) sum += samples[i * COARSE + k] ?? 0;
    return sum / COARSE;
  });

function rootMeanSquare(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Returns the median; 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
