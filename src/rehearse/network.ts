/** Simulated network between the caller and the service: loss, concealment and jitter, and noise of the line. */

/** Sequence of numbers from 0 to 1 that depends only on the seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface NetworkOptions {
  readonly lossPercent: number;
  readonly jitterMs: number;
  readonly seed: number;
  /** Level of white noise in dBFS; undefined for none. */
  readonly noiseLevel: number | undefined;
}

const FULL_SCALE = 32_767;
/** Attenuation of repeated frames while packets are missing. */
const FADE = 0.6;

export class Network {
  readonly #options: NetworkOptions;
  readonly #random: () => number;
  readonly #amplitude: number;
  #last: Int16Array = new Int16Array(0);
  #dueMs = 0;
  lostFrames = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.#random = seeded(options.seed);
    const { noiseLevel } = options;
    // Uniform noise of amplitude a has an effective value of a / √3.
    this.#amplitude =
      noiseLevel === undefined ? 0 : FULL_SCALE * 10 ** (noiseLevel / 20) * Math.sqrt(3);
  }

  /** Returns the frame as the service would play it: with noise, or concealed if it was lost. */
  carry(frame: Int16Array): Int16Array {
    if (this.#random() * 100 < this.#options.lossPercent) {
      this.lostFrames += 1;
      this.#last = this.#last.map((sample) => sample * FADE);
      return this.#last.length === frame.length ? this.#last : new Int16Array(frame.length);
    }
    const noisy = this.#amplitude === 0 ? frame : frame.map((sample) => this.#noisy(sample));
    this.#last = noisy;
    return noisy;
  }

  /** Arrival time of a frame sent at `nowMs`. Frames never overtake each other. */
  arrivesMs(nowMs: number): number {
    this.#dueMs = Math.max(this.#dueMs, nowMs + this.#random() * this.#options.jitterMs);
    return this.#dueMs;
  }

  #noisy(sample: number): number {
    const noise = (this.#random() * 2 - 1) * this.#amplitude;
    return Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round(sample + noise)));
  }
}
