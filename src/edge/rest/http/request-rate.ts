/** Maximum number of tracked accounts or addresses. Beyond it, the one seen first is evicted. */
const TRACKED_LIMIT = 50_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token bucket per account or address: `perSecond` requests per second, with bursts of the same size. */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();
  readonly #perSecond: number;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Consumes a token. Returns 0 if the request may proceed, otherwise the wait in milliseconds. `nowMs` is monotonic. */
  take(key: string, nowMs: number, perSecond = this.#perSecond): number {
    const bucket = this.#buckets.get(key) ?? this.#remember(key, nowMs, perSecond);
    const waitMs = this.#wait(bucket, nowMs, perSecond);
    if (waitMs === 0) bucket.tokens -= 1;
    return waitMs;
  }

  /** Like `take`, without consuming a token. */
  waitMs(key: string, nowMs: number): number {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? 0 : this.#wait(bucket, nowMs, this.#perSecond);
  }

  #wait(bucket: Bucket, nowMs: number, perSecond: number): number {
    const gained = ((nowMs - bucket.atMs) * perSecond) / 1000;
    bucket.tokens = Math.min(perSecond, bucket.tokens + gained);
    bucket.atMs = nowMs;
    return bucket.tokens < 1 ? ((1 - bucket.tokens) * 1000) / perSecond : 0;
  }

  #remember(key: string, nowMs: number, perSecond: number): Bucket {
    if (this.#buckets.size >= TRACKED_LIMIT) {
      const oldest = this.#buckets.keys().next();
      if (!oldest.done) this.#buckets.delete(oldest.value);
    }
    const bucket = { tokens: perSecond, atMs: nowMs };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
