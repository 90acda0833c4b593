import type { Clock } from '../../../base/clock.ts';

/** Reports once that there was no activity for the limit. Recording activity needs no timer. */
export class IdleTimeout {
  readonly #clock: Clock;
  readonly #limitMs: () => number;
  readonly #idle: () => void;
  #movedMs: number;
  #cancel: () => void = () => undefined;

  /** `limitMs` is evaluated each time the timeout may have elapsed. */
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
