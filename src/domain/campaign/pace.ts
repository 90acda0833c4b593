/** Lowers the number of concurrent calls while too many answered calls are abandoned: connected to no bot or agent in time. */
import type { AbandonmentGuard } from './types.ts';

/** The ratio covers the last 100 answered calls, starting at 20. */
const LOOKED_AT = 100;
const ENOUGH = 20;
const WHOLE = 10_000;

export class Pace {
  /** Whether each of the last answered calls was abandoned. */
  readonly #abandoned: boolean[] = [];
  #limit = Number.POSITIVE_INFINITY;

  /** Returns the allowed number of concurrent calls. */
  limit(maxConcurrent: number): number {
    return Math.min(maxConcurrent, this.#limit);
  }

  /** Records an answered call. Halves the limit while the ratio exceeds the guard's; otherwise each good call adds one. */
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
