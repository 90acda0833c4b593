import type { Clock } from '../../../base/clock.ts';

/** Tells once that nothing moved for so long. To note a movement costs no timer. */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #limitMs: () => number;
  readonly #idle: () => void;
  #movedMs: number;
  #cancel: () => void = () => undefined;

  /** `limitMs` is asked anew each time that it may be over. */
  constructor(clock: Clock, limitMs: () => number, idle: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#idle = idle;
    this.#movedMs = clock.monotonicMs();
    this.#watch();
  }

  moved(): void {
    this.#movedMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #watch(): void {
    const dueMs = this.#movedMs + this.#limitMs();
    if (dueMs <= this.#clock.monotonicMs()) this.#idle();
    else this.#cancel = this.#clock.at(dueMs, () => this.#watch());
  }
}
