/** Verifies that a counter increases without a gap, and describes the gaps. */

/** Maximum number of described gaps per counter. All gaps are counted. */
const MAX_DESCRIBED = 3;

export class Continuity {
  readonly #what: string;
  readonly #step: number;
  readonly #modulus: number;
  readonly #described: string[] = [];
  #breaks = 0;
  #last: number | undefined;

  /** Creates a check. `modulus` is the wrap-around value, such as 2¹⁶ for RTP sequence numbers. */
  constructor(what: string, step: number, modulus = Number.POSITIVE_INFINITY) {
    this.#what = what;
    this.#step = step;
    this.#modulus = modulus;
  }

  /** Checks the next value. `atMs` is the time since the start, for the description of a gap. */
  next(value: number, atMs: number): void {
    const last = this.#last;
    this.#last = value;
    if (last === undefined) return;
    const due = last + this.#step;
    if (value === (due >= this.#modulus ? due - this.#modulus : due)) return;
    this.#breaks += 1;
    if (this.#described.length < MAX_DESCRIBED) {
      this.#described.push(`${this.#what} ${value} after ${last} at ${(atMs / 1000).toFixed(1)} s`);
    }
  }

  faults(): string[] {
    const more = this.#breaks - this.#described.length;
    return more > 0
      ? [...this.#described, `${this.#what}: ${more} more breaks`]
      : [...this.#described];
  }
}
