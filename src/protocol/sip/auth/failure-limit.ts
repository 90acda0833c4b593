/** Thresholds for blocking a source (an address, or a user at an address) and the number of tracked sources. */
export interface FailureLimits {
  readonly maxFailures: number;
  readonly windowMs: number;
  readonly maxSources: number;
}

export const DEFAULT_FAILURE_LIMITS: FailureLimits = {
  maxFailures: 10,
  windowMs: 60_000,
  maxSources: 10_000,
};

interface Failures {
  count: number;
  sinceMs: number;
}

/** Counts failed authentications per source in fixed windows, to slow down password guessing. */
export class FailureLimit {
  readonly #limits: FailureLimits;
  readonly #sources = new Map<string, Failures>();

  constructor(limits: FailureLimits = DEFAULT_FAILURE_LIMITS) {
    this.#limits = limits;
  }

  note(source: string, nowMs: number): void {
    const known = this.#current(source, nowMs);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    if (this.#sources.size >= this.#limits.maxSources) {
      for (const oldest of this.#sources.keys()) {
        this.#sources.delete(oldest);
        break;
      }
    }
    this.#sources.set(source, { count: 1, sinceMs: nowMs });
  }

  /** Milliseconds until the source is unblocked, or undefined if it is not blocked. */
  blockedForMs(source: string, nowMs: number): number | undefined {
    const known = this.#current(source, nowMs);
    if (known === undefined || known.count < this.#limits.maxFailures) return undefined;
    return known.sinceMs + this.#limits.windowMs - nowMs;
  }

  #current(source: string, nowMs: number): Failures | undefined {
    const known = this.#sources.get(source);
    if (known === undefined) return undefined;
    if (nowMs - known.sinceMs < this.#limits.windowMs) return known;
    this.#sources.delete(source);
    return undefined;
  }
}
