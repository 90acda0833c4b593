import type { Clock } from '../../base/clock.ts';

/** Averaging window in seconds: long enough to smooth single calls, short enough to be current. */
const WINDOW_S = 10;

/** Measures events per second as the mean of the last 10 whole seconds. */
export class RecentRate {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Ring buffer of counts per second. It has one more slot than the window, for the current second. */
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

  /** Returns events per second. The current, incomplete second does not count. */
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
