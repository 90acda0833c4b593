/**
 * Loudness normalization. Engines and voices differ by more than 10 dB; all speech is adjusted to one level (RMS without
 * pauses).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Target level relative to full scale, as in sox and ITU-T P.56: a sine of full scale has −3 dB. */
const TARGET_DBFS = -16;
/** Highest peak: −1 dBFS, below the largest values of μ-law and A-law. */
const CEILING = 32_767 * 10 ** (-1 / 20);
/** Maximum gain. A higher gain would make the noise of nearly silent audio audible. */
const MOST_GAIN = 10 ** (30 / 20);
/** A window counts as speech down to 15.9 dB below the speech level (P.56), and during the hangover after that. */
const MARGIN = 10 ** (-15.9 / 20);
const WINDOW_MS = 20;
const HANGOVER_WINDOWS = 10;
const ROUNDS = 4;
/** Lookahead of the limiter, ms. */
const LOOKAHEAD_MS = 5;
/** Time constant of the limiter's gain recovery after a peak, ms. */
const RELEASE_MS = 60;
const NEAR_ENOUGH_DB = 0.1;

/** RMS of the windows that contain speech, in sample units; 0 without speech. */
function speechLevel(samples: Int16Array, rate: number): number {
  const width = Math.round((rate * WINDOW_MS) / 1000);
  const powers: number[] = [];
  for (let at = 0; at < samples.length; at += width) {
    const end = Math.min(at + width, samples.length);
    let sum = 0;
    for (let i = at; i < end; i += 1) sum += (samples[i] ?? 0) ** 2;
    powers.push(sum / (end - at));
  }
  // Threshold and level depend on each other. A few iterations converge.
  let level = Math.sqrt(mean(powers));
  for (let round = 0; round < ROUNDS; round += 1) level = Math.sqrt(mean(active(powers, level)));
  return level;
}

/** Normalizes 16-bit samples to the target level without clipping. Yields to the event loop between passes. */
export async function normalised(pcm: Uint8Array, rate: number): Promise<Uint8Array> {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
  const target = 32_768 * 10 ** (TARGET_DBFS / 20);
  const before = speechLevel(samples, rate);
  if (before < 1) return pcm;
  let gain = Math.min(target / before, MOST_GAIN);
  let out = limited(samples, gain, rate);
  for (let round = 0; round < ROUNDS; round += 1) {
    await nextTurn();
    // Raises the gain to compensate for the limiter's attenuation.
    const missing = target / Math.max(1, speechLevel(out, rate));
    if (Math.abs(20 * Math.log10(missing)) < NEAR_ENOUGH_DB || gain * missing > MOST_GAIN) break;
    gain *= missing;
    out = limited(samples, gain, rate);
  }
  return new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
}

/** Returns the gain that brings speech to the target level, measured at its beginning. */
export function gainOf(pcm: Uint8Array, rate: number): number {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
  const level = speechLevel(samples, rate);
  return level < 1 ? 1 : Math.min((32_768 * 10 ** (TARGET_DBFS / 20)) / level, MOST_GAIN);
}

/** Applies a gain in place and clips at the ceiling. */
export function amplified(pcm: Uint8Array, gain: number): Uint8Array {
  const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
  for (let i = 0; i < samples.length; i += 1) {
    samples[i] = Math.max(-CEILING, Math.min(CEILING, Math.round((samples[i] ?? 0) * gain)));
  }
  return pcm;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

function active(powers: readonly number[], level: number): readonly number[] {
  const threshold = (level * MARGIN) ** 2;
  const last = powers.findLastIndex((power) => power >= threshold);
  let since = HANGOVER_WINDOWS + 1;
  return powers.filter((power, index) => {
    since = power >= threshold ? 0 : since + 1;
    return since <= HANGOVER_WINDOWS && index <= last;
  });
}

/** Amplifies with a limiter: the gain decreases before a peak above the ceiling, and recovers after it. */
function limited(samples: Int16Array, gain: number, rate: number): Int16Array<ArrayBuffer> {
  const ahead = Math.round((rate * LOOKAHEAD_MS) / 1000);
  const release = 1 - Math.exp(-1 / ((rate * RELEASE_MS) / 1000));
  const allowed = lowestAhead(samples, gain, ahead);
  const out = new Int16Array(samples.length);
  let smooth = 1;
  let sum = ahead;
  const recent = new Float64Array(ahead).fill(1);
  for (let i = 0; i < samples.length; i += 1) {
    const due = allowed[i] ?? 1;
    smooth = due < smooth ? due : smooth + (due - smooth) * release;
    // The moving average smooths the gain. It reaches its minimum when the peak arrives.
    sum += smooth - (recent[i % ahead] ?? 1);
    recent[i % ahead] = smooth;
    const value = (samples[i] ?? 0) * gain * (sum / ahead);
    out[i] = Math.max(-CEILING, Math.min(CEILING, Math.round(value)));
  }
  return out;
}

/** Permitted factor for each sample and its lookahead window: a sliding minimum that visits each sample at most twice. */
function lowestAhead(samples: Int16Array, gain: number, ahead: number): Float64Array {
  const factor = (index: number): number => {
    const peak = Math.abs(samples[index] ?? 0) * gain;
    return peak > CEILING ? CEILING / peak : 1;
  };
  const allowed = new Float64Array(samples.length);
  const queue: number[] = [];
  let head = 0;
  for (let i = samples.length - 1; i >= 0; i -= 1) {
    const own = factor(i);
    while (queue.length > head && factor(queue[queue.length - 1] ?? 0) >= own) queue.pop();
    queue.push(i);
    while ((queue[head] ?? 0) > i + ahead) head += 1;
    allowed[i] = factor(queue[head] ?? i);
  }
  return allowed;
}
