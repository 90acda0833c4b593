import type { Clock } from '../../base/clock.ts';

/** Long enough that one call more is no jump, short enough to be called now. */
const WINDOW_S = 10;

/** How often something happens a second, as a person asks for it: the mean of the last ten whole seconds. */
export class RecentRate {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** What happened within a second, at the place of that second modulo their number; one more for the second that runs. */
  readonly #seconds = Array.from({ length: WINDOW_S + 1 }, () => ({ second: -1, count: 0 }));

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  add(): void {
    const second = this.#now();
    const place = this.#seconds[second % this.#seconds.length];
    if (place === undefined) return;
    if (place.second !== second) {
      place.second = second;
      place.count = 0;
    }
    place.count += 1;
  }

  /** A second; the one that runs does not count yet. */
  perSecond(): number {
    const now = this.#now();
    const counted = this.#seconds.filter(
      ({ second }) => second >= now - WINDOW_S && second < now && second >= 0,
    );
    return counted.reduce((sum, { count }) => sum + count, 0) / WINDOW_S;
  }

  #now(): number {
    return Math.floor(this.#clock.monotonicMs() / 1000);
  }
}
