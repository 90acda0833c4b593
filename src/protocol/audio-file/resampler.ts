/** Sample rate conversion for files and synthesized speech. Live audio uses the native resampler. */

export interface Resampler {
  /** Accepts any number of samples and returns the output samples that are ready. */
  push(samples: Float32Array): Float32Array;
  /** Returns the remaining output. The total is input length x output rate / input rate samples. */
  finish(): Float32Array;
}

/** Filter length in periods of the lower rate. */
const SPAN_PERIODS = 48;
/** Centre of the transition band relative to the lower rate: -6 dB there, -80 dB from 0.53. */
const CUTOFF = 0.478;
/** Kaiser window with about 80 dB of attenuation. */
const KAISER_BETA = 7.86;

/** Polyphase FIR filter with a Kaiser window and zero delay: output sample 0 aligns with input sample 0. */
export function resampler(inputRate: number, outputRate: number): Resampler {
  return inputRate === outputRate ? passThrough() : new PolyphaseResampler(inputRate, outputRate);
}

const passThrough = (): Resampler => ({
  push: (samples) => samples,
  finish: () => new Float32Array(0),
});

class PolyphaseResampler implements Resampler {
  /** Output sample n is at input position n * down / up. */
  readonly #up: number;
  readonly #down: number;
  readonly #taps: number;
  /** Filter taps by phase, oldest sample first. */
  readonly #phases: readonly Float32Array[];
  /** Input samples still needed; the first is at input position `#start`. */
  #window: Float32Array;
  #start: number;
  #taken = 0;
  #given = 0;

  constructor(inputRate: number, outputRate: number) {
    const common = greatestCommonDivisor(inputRate, outputRate);
    this.#up = outputRate / common;
    this.#down = inputRate / common;
    const lower = Math.min(inputRate, outputRate);
    this.#taps = 2 * Math.ceil((SPAN_PERIODS * inputRate) / lower / 2);
    this.#phases = design(this.#up, this.#taps, (CUTOFF * lower) / inputRate);
    // Half of the filter reads samples before the first one; these are silence.
    this.#window = new Float32Array(this.#taps / 2 - 1);
    this.#start = -this.#window.length;
  }

  push(samples: Float32Array): Float32Array {
    this.#taken += samples.length;
    return this.#convert(samples, Number.POSITIVE_INFINITY);
  }

  finish(): Float32Array {
    const total = Math.floor((this.#taken * this.#up) / this.#down);
    return this.#convert(new Float32Array(this.#taps), total);
  }

  #convert(samples: Float32Array, limit: number): Float32Array {
    const window = new Float32Array(this.#window.length + samples.length);
    window.set(this.#window);
    window.set(samples, this.#window.length);
    const end = this.#start + window.length;
    const half = this.#taps / 2;
    const out = new Float32Array(Math.ceil((window.length * this.#up) / this.#down) + 1);
    let count = 0;
    let oldest = 0;
    for (; this.#given < limit; this.#given += 1) {
      const position = Math.floor((this.#given * this.#down) / this.#up);
      oldest = position - half + 1;
      if (oldest + this.#taps > end) break;
      out[count] = this.#filter(
        window,
        oldest - this.#start,
        (this.#given * this.#down) % this.#up,
      );
      count += 1;
    }
    const used = Math.max(0, Math.min(window.length, oldest - this.#start));
    this.#window = window.slice(used);
    this.#start += used;
    return out.subarray(0, count);
  }

  #filter(window: Float32Array, at: number, phase: number): number {
    const taps = this.#phases[phase];
    if (taps === undefined) return 0;
    let sum = 0;
    for (let k = 0; k < taps.length; k += 1) sum += (window[at + k] ?? 0) * (taps[k] ?? 0);
    return sum;
  }
}

/**
 * Computes the taps. `cutoff` is relative to the input rate. Tap k of phase p is half - 1 - k + p/up samples before the
 * output.
 */
function design(up: number, taps: number, cutoff: number): Float32Array[] {
  const half = taps / 2;
  const scale = besselI0(KAISER_BETA);
  return Array.from({ length: up }, (_, phase) => {
    const weights = Float64Array.from({ length: taps }, (_unused, k) => {
      const distance = half - 1 - k + phase / up;
      const edge = distance / half;
      const window =
        Math.abs(edge) < 1 ? besselI0(KAISER_BETA * Math.sqrt(1 - edge * edge)) / scale : 0;
      return sinc(2 * cutoff * distance) * window;
    });
    const sum = weights.reduce((total, weight) => total + weight, 0);
    // Unity gain at 0 Hz in each phase.
    return Float32Array.from(weights, (weight) => weight / sum);
  });
}

const sinc = (x: number): number =>
  Math.abs(x) < 1e-9 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);

/** Modified Bessel function of the first kind, order zero, by its power series. */
function besselI0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x * x) / 4 / (k * k);
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
