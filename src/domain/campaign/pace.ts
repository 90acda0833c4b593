/** Lowers the calls at once while too many answered calls are abandoned: connected to neither bot nor agent in time. */
import type { AbandonmentGuard } from './types.ts';

/** The share is taken of the last 100 answered calls, once there are 20. */
const LOOKED_AT = 100;
const ENOUGH = 20;
const WHOLE = 10_000;

export class Pace {
  /** Of the last answered calls: whether each was abandoned. */
  readonly #abandoned: boolean[] = [];
  #limit = Number.POSITIVE_INFINITY;

  /** Calls allowed at once. */
  limit(maxConcurrent: number): number {
    return Math.min(maxConcurrent, this.#limit);
  }

  /** A call was answered. Halves the calls at once while the share is above the guard's, and adds one with each good call below. */
  answered(abandoned: boolean, guard: AbandonmentGuard | undefined, maxConcurrent: number): void {
    if (guard === undefined) {
      this.#limit = Number.POSITIVE_INFINITY;
      return;
    }
    this.#abandoned.push(abandoned);
    if (this.#abandoned.length > LOOKED_AT) this.#abandoned.shift();
    const lost = this.#abandoned.filter(Boolean).length;
    const isTooMany =
      this.#abandoned.length >= ENOUGH &&
      lost * WHOLE > guard.maxBasisPoints * this.#abandoned.length;
    const now = this.limit(maxConcurrent);
    if (isTooMany && abandoned) this.#limit = Math.max(1, Math.floor(now / 2));
    else if (!isTooMany) this.#limit = Math.min(maxConcurrent, now + 1);
  }
}
