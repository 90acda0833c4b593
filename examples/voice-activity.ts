/** Detects speech by its energy over an adaptive noise floor. Processes one 20 ms frame at a time. */

/** Energy ratio over the noise floor that counts as speech (10 dB). */
const OVER_FLOOR = 10;
/** Minimum energy of speech, about -50 dBov. */
const LEAST_ENERGY = 100 ** 2;
/** Frames in a row that start speech (60 ms). Silence of 600 ms ends it. */
const FRAMES_TO_SPEAK = 3;
const FRAMES_TO_FALL_SILENT = 30;

export class VoiceActivity {
  #floor = LEAST_ENERGY;
  #speaking = false;
  /** Consecutive frames that contradict the current state. */
  #against = 0;

  /** Processes signed 16-bit little-endian samples. Returns the new state if it changes. */
  hear(frame: Buffer): 'speaks' | 'silent' | undefined {
    const energy = meanSquare(frame);
    const loud = energy > Math.max(LEAST_ENERGY, this.#floor * OVER_FLOOR);
    if (!loud) this.#floor += (energy - this.#floor) * 0.05;
    this.#against = loud === this.#speaking ? 0 : this.#against + 1;
    const needed = this.#speaking ? FRAMES_TO_FALL_SILENT : FRAMES_TO_SPEAK;
    if (this.#against < needed) return undefined;
    this.#speaking = loud;
    this.#against = 0;
    return loud ? 'speaks' : 'silent';
  }
}

function meanSquare(frame: Buffer): number {
  const count = frame.length >> 1;
  let sum = 0;
  for (let i = 0; i < count; i += 1) sum += frame.readInt16LE(i * 2) ** 2;
  return count === 0 ? 0 : sum / count;
}
