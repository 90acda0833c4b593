/** How many new calls a second an overloaded node takes: fewer while it falls behind, more while it keeps up (RFC 6357 §4, RFC 7339). */

/** What was seen between two looks. */
export interface Look {
  /** The worst sign, as a share of its limit: above 1 the node falls behind. */
  readonly pressure: number;
  /** Share of the time in which the event loop was busy. */
  readonly utilisation: number;
  /** New calls in this time: begun and refused because of the limit, a second. */
  readonly begun: number;
  readonly refused: number;
}

/** Looks in a row with too much pressure before it counts: one pause (garbage collection, a large answer) is no overload. */
const START_LOOKS = 3;
/** Looks in a row without a refusal, with all signs well below their limits, before the overload is over. */
const END_LOOKS = 8;
const END_PRESSURE = 0.5;
const END_UTILISATION = 0.9;
/** Far behind: each look counts twice. */
const FAR_BEHIND = 2;
/** Calls that begin cost most in the second after: the effect of a change is waited for. */
const LOOKS_BETWEEN_DECREASES = 2;
const DECREASE = 0.85;
/** What has begun too much is worked off first: so long a fall goes no deeper than to this share of where it began. */
const FIRST_LOOKS = 8;
const FIRST_LEAST = 0.45;
/** A node that falls behind a little takes neither more nor fewer; one that is busy all the time and does not, slowly more. */
const FULL_PRESSURE = 0.3;
const FULL_UTILISATION = 0.97;
const INCREASE = 1.04;
const INCREASE_LEAST = 0.25;
/** Calls a second: so few are not what keeps a node from its work. */
const LEAST = 20;
/** A limit far above what is asked for would be none when more is. */
const MOST_OF_ASKED = 1.5;
/** Looks of which the mean is what begins a second. */
const MEANT_LOOKS = 4;
/** A node with time to spare takes more sooner: below so much utilisation, by so much. */
const SPARE: readonly (readonly [utilisation: number, factor: number])[] = [
  [0.75, 1.15],
  [0.85, 1.08],
];
/** Near the limit at which the node fell behind before, it grows slowly: calls cost when they end too, long after. */
const NEAR = 0.9;
const INCREASE_NEAR = 1.01;

export class OverloadControl {
  #limit: number | undefined;
  #streak = 0;
  #sinceDecrease = 0;
  #begun: readonly number[] = [];
  /** The limit before the first of the latest decreases in a row. */
  #tooMuch = 0;
  #isFalling = false;
  #fallLooks = 0;

  /** New calls a second; undefined: all, the node is not overloaded. */
  get limit(): number | undefined {
    return this.#limit;
  }

  /** Takes one look; four a second. True when an overload began or ended. */
  look(seen: Look): boolean {
    this.#begun = [...this.#begun, seen.begun].slice(-MEANT_LOOKS);
    return this.#limit === undefined ? this.#begins(seen) : this.#goesOn(seen, this.#limit);
  }

  #begins({ pressure }: Look): boolean {
    this.#streak = pressure > 1 ? this.#streak + weightOf(pressure) : 0;
    if (this.#streak < START_LOOKS) return false;
    this.#streak = 0;
    this.#isFalling = false;
    this.#decrease(this.#begun.reduce((sum, rate) => sum + rate, 0) / this.#begun.length);
    return true;
  }

  #goesOn(seen: Look, limit: number): boolean {
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

  #increase(limit: number, asked: number, utilisation: number): void {
    const isFar = limit < NEAR * this.#tooMuch && utilisation < FULL_UTILISATION;
    const careful = isFar ? INCREASE : INCREASE_NEAR;
    const factor = SPARE.find(([below]) => utilisation < below)?.[1] ?? careful;
    const most = Math.max(limit, MOST_OF_ASKED * asked);
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
