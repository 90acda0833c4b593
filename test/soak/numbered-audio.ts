/** Audio whose frames carry their numbers, so that a listener can tell where it stands and whether that place wanders. */

export const FRAME_MS = 20;
/** Frame numbers come again after so many frames (1.26 s): nothing that is measured is delayed by more. */
export const CODES = 63;
/** Frames at the beginning and at the end over which a position is taken: five seconds. */
const WINDOW = 250;
/** An echo may come back so many frames before the time that it stands for. */
const EARLY = 10;

/** What frame `frame` carries: 1 … 63. */
export const codeOf = (frame: number): number => 1 + (frame % CODES);

export interface Position {
  readonly heard: number;
  /** Frames without a number that could be read: silence, or concealed. */
  readonly unreadable: number;
  /** Number carried minus place in the listener's own count, median of the first and last window. Frames. */
  readonly firstOffset: number;
  readonly lastOffset: number;
  /**
   * From the time that the number stands for until it was heard, the lowest tenth of the first and last window: a machine that
   * is busy for a moment adds to a delay, it never takes away. Milliseconds.
   */
  readonly firstDelayMs: number;
  readonly lastDelayMs: number;
}

interface OneWayAudioDetector {
  readonly offset: number;
  readonly delayMs: number;
}

export class NumberedAudio {
  readonly #startMs: number;
  readonly #first: OneWayAudioDetector[] = [];
  readonly #last: OneWayAudioDetector[] = [];
  #begun = false;
  #heard = 0;
  #unreadable = 0;
  #offset: number | undefined;
  /** A new offset that was seen once: what fills a gap may look like a number. */
  #doubtful: number | undefined;

  /** Frame n stands for the time `startMs` + n · 20 ms. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** From here on it is judged; before, connections find their pace. */
  begin(): void {
    this.#begun = true;
    this.#offset = undefined;
  }

  /**
   * @param code what the frame carried; undefined when it carried none
   * @param place number of the frame in the listener's own count: a chunk, or an RTP timestamp over 160
   */
  hear(code: number | undefined, place: number, atMs: number): void {
    const frame = code === undefined ? undefined : this.#nearest(code, place, atMs);
    if (frame === undefined || !this.#believes(frame - place)) {
      if (this.#begun) this.#unreadable += 1;
      return;
    }
    if (!this.#begun) return;
    this.#heard += 1;
    const hearing = {
      offset: frame - place,
      delayMs: atMs - (this.#startMs + frame * FRAME_MS),
    };
    if (this.#first.length < WINDOW) this.#first.push(hearing);
    this.#last.push(hearing);
    if (this.#last.length > WINDOW) this.#last.shift();
  }

  position(): Position {
    return {
      heard: this.#heard,
      unreadable: this.#unreadable,
      firstOffset: quantile(
        this.#first.map(({ offset }) => offset),
        0.5,
      ),
      lastOffset: quantile(
        this.#last.map(({ offset }) => offset),
        0.5,
      ),
      firstDelayMs: quantile(
        this.#first.map(({ delayMs }) => delayMs),
        0.1,
      ),
      lastDelayMs: quantile(
        this.#last.map(({ delayMs }) => delayMs),
        0.1,
      ),
    };
  }

  /** Audio has moved only when two frames in a row say so. */
  #believes(offset: number): boolean {
    const known = this.#offset === undefined || this.#offset === offset;
    if (known || this.#doubtful === offset) {
      this.#offset = offset;
      this.#doubtful = undefined;
      return true;
    }
    this.#doubtful = offset;
    return false;
  }

  /** The frame with this code that is nearest to where the audio stood; at first, the newest that can be heard by now. */
  #nearest(code: number, place: number, atMs: number): number {
    if (this.#offset === undefined) {
      const newest = Math.floor((atMs - this.#startMs) / FRAME_MS) + EARLY;
      return newest - modulo(newest - (code - 1), CODES);
    }
    const expected = place + this.#offset;
    const ahead = modulo(code - 1 - expected, CODES);
    return expected + (ahead > CODES / 2 ? ahead - CODES : ahead);
  }
}

/**
 * What is wrong with a position `runMs` after it began to be judged, in plain words; nothing when all is well. `lateFrames`:
 * those that the speaker itself sent too late to be heard; the service conceals them.
 */
export function faultsOfPosition(position: Position, runMs: number, lateFrames = 0): string[] {
  const { heard, unreadable, firstOffset, lastOffset, firstDelayMs, lastDelayMs } = position;
  const expected = runMs / FRAME_MS;
  const faults: string[] = [];
  if (heard + unreadable < expected - FEWER) {
    faults.push(`only ${heard + unreadable} of ${Math.round(expected)} frames were heard`);
  }
  if (unreadable > expected * MOST_UNREADABLE + lateFrames * LATE_COSTS) {
    faults.push(`${unreadable} of ${heard + unreadable} frames held no number`);
  }
  if (!(Math.abs(lastOffset - firstOffset) <= 1)) {
    faults.push(`the audio moved by ${lastOffset - firstOffset} frames`);
  }
  if (!(Math.abs(lastDelayMs - firstDelayMs) <= FRAME_MS)) {
    faults.push(
      `the delay went from ${firstDelayMs.toFixed(1)} to ${lastDelayMs.toFixed(1)} ms, more than one frame`,
    );
  }
  return faults;
}

/** A second of frames: what is on its way, and the time it takes to ask for a report. */
const FEWER = 50;
const MOST_UNREADABLE = 0.01;
/** Concealment begins with a late frame and ends after it. */
const LATE_COSTS = 1.5;

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}
