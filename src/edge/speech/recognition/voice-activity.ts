/** Tells speech from silence by energy over a floor that follows the line. Pure; one frame of 20 ms at a time. */

/** Speech is so much more energy than the floor (9 dB). */
const OVER_FLOOR = 8;
/** Below about -47 dBov nothing is speech; a caller in a loud place has a floor above it. */
const LEAST_ENERGY = 150 ** 2;
/** The floor follows what is quieter at once, and what is louder slowly: speech itself does not lift it. */
const RISE = 1.01;
/** So many loud frames of the last WINDOW begin speech: a click is none. */
const WINDOW = 8;
const LOUD_TO_BEGIN = 5;
/** Within speech so many loud frames of the window keep it going: a crackle does not. */
const LOUD_TO_GO_ON = 2;

export const FRAME_MS = 20;

export class VoiceActivity {
  #floor = LEAST_ENERGY;
  /** The last frames, a bit each; 1: loud. */
  #recent = 0;
  #speaking = false;
  #silentMs = 0;

  /** Signed 16-bit samples of 20 ms. */
  hear(frame: Int16Array): void {
    const energy = meanSquare(frame);
    const isLoud = energy > Math.max(LEAST_ENERGY, this.#floor * OVER_FLOOR);
    this.#floor = Math.min(Math.max(energy, 1), this.#floor * RISE);
    this.#recent = ((this.#recent << 1) | (isLoud ? 1 : 0)) & ((1 << WINDOW) - 1);
    const loud = bits(this.#recent);
    if (loud >= LOUD_TO_BEGIN) this.#speaking = true;
    this.#silentMs = loud >= LOUD_TO_GO_ON ? 0 : this.#silentMs + FRAME_MS;
  }

  /** Somebody has begun to speak. */
  get hasSpoken(): boolean {
    return this.#speaking;
  }

  /** Silence since. */
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
