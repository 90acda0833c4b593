import type { Clock } from './clock.ts';

/**
 * The time of one thing that lives: the wall clock where it begins, the monotonic clock from there. Its moments are
 * microseconds UTC, as they are shown and stored; the difference of any two is a true duration, whatever is done to the
 * wall clock meanwhile.
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

  /** What is shown of a moment of the monotonic clock. */
  usAt(monotonicMs: number): number {
    return Math.round((monotonicMs + this.#wallOffsetMs) * 1000);
  }

  /** The moment of the monotonic clock that is shown as `us`. */
  msAt(us: number): number {
    return us / 1000 - this.#wallOffsetMs;
  }
}
