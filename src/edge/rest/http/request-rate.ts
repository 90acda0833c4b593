/** Accounts whose rate is remembered; beyond it the one that was idle longest is forgotten. */
const TRACKED_ACCOUNTS_LIMIT = 50_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token bucket per account: `perSecond` requests a second, bursts of as many. */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();
  readonly #perSecond: number;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Milliseconds to wait, or 0 when the request may go on. `nowMs` is monotonic. */
  take(key: string, nowMs: number): number {
    const known = this.#buckets.get(key);
    const bucket = known ?? { tokens: this.#perSecond, atMs: nowMs };
    const gained = ((nowMs - bucket.atMs) * this.#perSecond) / 1000;
    bucket.tokens = Math.min(this.#perSecond, bucket.tokens + gained);
    bucket.atMs = nowMs;
    if (known === undefined) this.#remember(key, bucket);
    if (bucket.tokens < 1) return ((1 - bucket.tokens) * 1000) / this.#perSecond;
    bucket.tokens -= 1;
    return 0;
  }

  #remember(key: string, bucket: Bucket): void {
    if (this.#buckets.size >= TRACKED_ACCOUNTS_LIMIT) {
      const oldest = this.#buckets.keys().next();
      if (!oldest.done) this.#buckets.delete(oldest.value);
    }
    this.#buckets.set(key, bucket);
  }
}
