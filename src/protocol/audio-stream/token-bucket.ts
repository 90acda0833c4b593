import type { Rate } from './session-limits.ts';

/** Allows `burst` events without delay and `perSecond` on average. */
export class TokenBucket {
  readonly #limit: Rate;
  #tokens: number;
  #updatedMs: number | undefined;

  constructor(limit: Rate) {
    this.#limit = limit;
    this.#tokens = limit.burst;
  }

  /** Takes `cost` tokens if available; otherwise takes none and returns false. */
  takeIfThere(cost: number, nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < cost) return false;
    this.#tokens -= cost;
    return true;
  }

  #refill(nowMs: number): void {
    const passedMs = nowMs - (this.#updatedMs ?? nowMs);
    this.#updatedMs = nowMs;
    const gained = (passedMs / 1000) * this.#limit.perSecond;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + gained);
  }
}
