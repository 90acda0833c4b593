/** Audio with numbered frames, from which a listener computes its position and drift. */

export const FRAME_MS = 20;
/** Number of frame codes. Codes repeat after 1.26 s, which exceeds every measured delay. */
export const CODES = 63;
/** Frames in the first and last window, over which a position is measured (5 s). */
const WINDOW = 250;
/** Maximum number of frames by which an echo may precede its nominal time. */
const EARLY = 10;

/** Code of a frame: 1 … 63. */
export const codeOf = (frame: number): number => 1 + (frame % CODES);

export interface Position {
  readonly received: number;
  /** Frames without a readable code: silence or concealment. */
  readonly unreadable: number;
  /** Decoded frame number minus the listener's own count: medians of the first and last window, frames. */
  readonly firstOffset: number;
  readonly lastOffset: number;
  /**
   * Delay from a frame's nominal time to its reception, ms: the 10th percentile of the first and last window. A busy machine
   * can only increase a delay.
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
  #received = 0;
  #unreadable = 0;
  #offset: number | undefined;
  /** A new offset seen once. It is unconfirmed, because concealed audio may resemble a code. */
  #doubtful: number | undefined;

  /** Creates a listener. The nominal time of frame n is `startMs` + n · 20 ms. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Starts the measurement, after connections have stabilized. */
  begin(): void {
    this.#begun = true;
    this.#offset = undefined;
  }

  /**
   * @param code code in the frame; undefined if it has none
   * @param place frame number in the listener's own count: chunk number, or RTP timestamp divided by 160
   */
  hear(code: number | undefined, place: number, atMs: number): void {
    const frame = code === undefined ? undefined : this.#nearest(code, place, atMs);
    if (frame === undefined || !this.#believes(frame - place)) {
      if (this.#begun) this.#unreadable += 1;
      return;
    }
    if (!this.#begun) return;
    this.#received += 1;
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
      received: this.#received,
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

  /** Accepts a new offset only after two consecutive frames with it. */
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

  /** Returns the frame with this code nearest to the current position; at first, the newest frame that can have arrived. */
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
 * Describes the faults of a position `runMs` after the start of the measurement; empty if there are none. `lateFrames` counts
 * frames that the speaker sent too late, which the service conceals.
 */
export function faultsOfPosition(position: Position, runMs: number, lateFrames = 0): string[] {
  const { received, unreadable, firstOffset, lastOffset, firstDelayMs, lastDelayMs } = position;
  const expected = runMs / FRAME_MS;
  const faults: string[] = [];
  if (received + unreadable < expected - FEWER) {
    faults.push(`only ${received + unreadable} of ${Math.round(expected)} frames were heard`);
  }
  if (unreadable > expected * MOST_UNREADABLE + lateFrames * LATE_COSTS) {
    faults.push(`${unreadable} of ${received + unreadable} frames held no number`);
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

/** Tolerance for missing frames: one second, for frames in transit and the delay of the report. */
const FEWER = 50;
const MOST_UNREADABLE = 0.01;
/** Unreadable frames per late frame. Concealment starts with a late frame and ends after it. */
const LATE_COSTS = 1.5;

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}
