/** Counts that must go on without a gap, and what is told when one does not. */

/** Described faults of one count; all of them are counted. */
const MAX_DESCRIBED = 3;

export class Continuity {
  readonly #what: string;
  readonly #step: number;
  readonly #modulus: number;
  readonly #described: string[] = [];
  #breaks = 0;
  #last: number | undefined;

  /** `modulus`: where the count begins anew (2¹⁶ for RTP sequence numbers). */
  constructor(what: string, step: number, modulus = Number.POSITIVE_INFINITY) {
    this.#what = what;
    this.#step = step;
    this.#modulus = modulus;
  }

  /** `atMs`: since the beginning, for the words of a fault. */
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
