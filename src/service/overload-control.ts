/**
 * Controls the rate of new calls of an overloaded node: lower while it falls behind, higher while it keeps up (RFC
 * 6357 §4, RFC 7339).
 */

/** Measurements between two checks. */
export interface Look {
  /** Worst sign as a ratio of its limit. Above 1 the node falls behind. */
  readonly pressure: number;
  /** Event loop utilization, 0 to 1. */
  readonly utilisation: number;
  /** New calls per second since the last check: started, and refused because of the limit. */
  readonly begun: number;
  readonly refused: number;
}

/**
 * Number of consecutive checks with high pressure that starts an overload. A single pause (garbage collection, a
 * large response) is none.
 */
const START_LOOKS = 3;
/** Number of consecutive checks without a refusal, and with all signs well below their limits, that ends an overload. */
const END_LOOKS = 8;
const END_PRESSURE = 0.5;
const END_UTILISATION = 0.9;
/** Pressure above which each check counts twice. */
const FAR_BEHIND = 2;
/** Number of checks between decreases. Calls cost most in the second after their start, so the effect must be awaited. */
const LOOKS_BETWEEN_DECREASES = 2;
const DECREASE = 0.85;
/**
 * During the first checks of a decrease, the limit does not fall below this ratio of its start, while the backlog is
 * processed.
 */
const FIRST_LOOKS = 8;
const FIRST_LEAST = 0.45;
/** The limit grows only below this pressure. Above this utilization it grows slowly. */
const FULL_PRESSURE = 0.3;
const FULL_UTILISATION = 0.97;
const INCREASE = 1.04;
const INCREASE_LEAST = 0.25;
/** Minimum limit, calls per second. So few calls do not cause an overload. */
const LEAST = 20;
/** Maximum limit as a multiple of the offered rate. A higher limit would have no effect when the rate rises. */
const MOST_OF_ASKED = 1.5;
/** Number of checks over which the rate of started calls is averaged. */
const MEANT_LOOKS = 4;
/** Growth factors of a node with spare time, by maximum utilization. */
const SPARE: readonly (readonly [utilisation: number, factor: number])[] = [
  [0.75, 1.15],
  [0.85, 1.08],
];
/** Near the limit at which the node fell behind, growth is slow, because calls also cause work when they end. */
const NEAR = 0.9;
const INCREASE_NEAR = 1.01;

export class OverloadControl {
  #limit: number | undefined;
  #streak = 0;
  #sinceDecrease = 0;
  #begun: readonly number[] = [];
  /** Limit before the first of the latest consecutive decreases. */
  #tooMuch = 0;
  #isFalling = false;
  #fallLooks = 0;

  /** New calls per second. Undefined: unlimited, the node is not overloaded. */
  get limit(): number | undefined {
    return this.#limit;
  }

  /** Evaluates one check; four per second. Returns true when an overload began or ended. */
  look(seen: Look): boolean {
    this.#begun = [...this.#begun, seen.begun].slice(-MEANT_LOOKS);
    return this.#limit === undefined ? this.#begins(seen) : this.#continues(seen, this.#limit);
  }

  #begins({ pressure }: Look): boolean {
    this.#streak = pressure > 1 ? this.#streak + weightOf(pressure) : 0;
    if (this.#streak < START_LOOKS) return false;
    this.#streak = 0;
    this.#isFalling = false;
    this.#decrease(this.#begun.reduce((sum, rate) => sum + rate, 0) / this.#begun.length);
    return true;
  }

  #continues(seen: Look, limit: number): boolean {
    const { pressure, utilisation, begun, refused } = seen;
    this.#sinceDecrease += weightOf(pressure);
    this.#fallLooks += 1;
    if (pressure > 1) {
      if (this.#sinceDecrease >= LOOKS_BETWEEN_DECREASES) this.#decrease(limit);
    } else if (pressure < FULL_PRESSURE) {
      this.#increase(limit, begun + refused, utilisation);
    }
    const isCalm = refused === 0 && pressure < END_PRESSURE && utilisation < END_UTILISATION;
    this.#streak = isCalm ? this.#streak + 1 : 0;
    if (this.#streak < END_LOOKS) return false;
    this.#limit = undefined;
    this.#streak = 0;
    return true;
  }

  #increase(limit: number, requested: number, utilisation: number): void {
    const isFar = limit < NEAR * this.#tooMuch && utilisation < FULL_UTILISATION;
    const careful = isFar ? INCREASE : INCREASE_NEAR;
    const factor = SPARE.find(([below]) => utilisation < below)?.[1] ?? careful;
    const most = Math.max(limit, MOST_OF_ASKED * requested);
    this.#limit = Math.min(most, limit * factor + INCREASE_LEAST);
    this.#isFalling = false;
  }

  #decrease(limit: number): void {
    if (!this.#isFalling) {
      this.#tooMuch = limit;
      this.#fallLooks = 0;
    }
    this.#isFalling = true;
    const least = this.#fallLooks < FIRST_LOOKS ? FIRST_LEAST * this.#tooMuch : 0;
    this.#limit = Math.max(LEAST, least, limit * DECREASE);
    this.#sinceDecrease = 0;
  }
}

const weightOf = (pressure: number): number => (pressure > FAR_BEHIND ? 2 : 1);
