/** Tells speech from silence by energy over a noise floor that follows the line. One 20 ms frame at a time. */

/** Speech has to be this much louder than the floor (an energy ratio of 10 dB). */
const OVER_FLOOR = 10;
/** Quieter than this (about -50 dBov) is never speech. */
const LEAST_ENERGY = 100 ** 2;
/** 60 ms of speech begin it, 600 ms of silence end it. */
const FRAMES_TO_SPEAK = 3;
const FRAMES_TO_FALL_SILENT = 30;

export class VoiceActivity {
  #floor = LEAST_ENERGY;
  #speaking = false;
  /** Frames in a row that speak against the present state. */
  #against = 0;

  /** Signed 16-bit little-endian samples; says when the state changes. */
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
