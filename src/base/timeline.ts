import type { Clock } from './clock.ts';

/**
 * Time of one object, such as a call: the wall clock at its start, advanced by the monotonic clock. Times are
 * microseconds UTC as shown and stored. Differences are exact durations even if the wall clock is changed.
 */
export class Timeline {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #wallOffsetMs: number;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>) {
    this.#clock = clock;
    this.#wallOffsetMs = clock.wallMs() - clock.monotonicMs();
  }

  nowUs(): number {
    return this.usAt(this.#clock.monotonicMs());
  }

  /** Converts a monotonic time to microseconds UTC. */
  usAt(monotonicMs: number): number {
    return Math.round((monotonicMs + this.#wallOffsetMs) * 1000);
  }

  /** Converts microseconds UTC to a monotonic time. */
  msAt(us: number): number {
    return us / 1000 - this.#wallOffsetMs;
  }
}
