/** Detects speech by its energy above an adaptive noise floor. Pure; processes frames of 20 ms. */

/** Minimum ratio of speech energy to the floor (9 dB). */
const OVER_FLOOR = 8;
/** Minimum energy of speech, about -47 dBov. In a noisy place the floor is higher. */
const LEAST_ENERGY = 150 ** 2;
/** Growth of the floor per frame. It follows quieter frames immediately and louder ones slowly, so speech does not raise it. */
const RISE = 1.01;
/** Speech starts when enough of the last WINDOW frames are loud. A click has too few. */
const WINDOW = 8;
const LOUD_TO_BEGIN = 5;
/** Loud frames of the window that continue speech. A crackle has fewer. */
const LOUD_TO_GO_ON = 2;

export const FRAME_MS = 20;

export class VoiceActivity {
  #floor = LEAST_ENERGY;
  /** The last frames as a bit field; 1 is loud. */
  #recent = 0;
  #speaking = false;
  #silentMs = 0;

  /** Processes 20 ms of signed 16-bit samples. */
  hear(frame: Int16Array): void {
    const energy = meanSquare(frame);
    const isLoud = energy > Math.max(LEAST_ENERGY, this.#floor * OVER_FLOOR);
    this.#floor = Math.min(Math.max(energy, 1), this.#floor * RISE);
    this.#recent = ((this.#recent << 1) | (isLoud ? 1 : 0)) & ((1 << WINDOW) - 1);
    const loud = bits(this.#recent);
    if (loud >= LOUD_TO_BEGIN) this.#speaking = true;
    this.#silentMs = loud >= LOUD_TO_GO_ON ? 0 : this.#silentMs + FRAME_MS;
  }

  /** Whether speech has started. */
  get hasSpoken(): boolean {
    return this.#speaking;
  }

  /** Silence since the last speech, ms. */
  get silentMs(): number {
    return this.#silentMs;
  }
}

function meanSquare(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return frame.length === 0 ? 0 : sum / frame.length;
}

function bits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
