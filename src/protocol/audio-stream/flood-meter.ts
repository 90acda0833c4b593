import type { Rate } from './session-limits.ts';
import { TokenBucket } from './token-bucket.ts';

/** Measures what a bot sends, in messages and bytes, and says for how long reading has to rest. */
export class FloodMeter {
  readonly #messages: TokenBucket;
  readonly #bytes: TokenBucket;
  #restedMs = 0;

  constructor(limits: { readonly messages: Rate; readonly bytes: Rate }) {
    this.#messages = new TokenBucket(limits.messages);
    this.#bytes = new TokenBucket(limits.bytes);
  }

  /** Milliseconds of rest that were asked for, summed over the stream. */
  get restedMs(): number {
    return this.#restedMs;
  }

  /** One message came; 0 when it was within the limits. */
  count(bytes: number, nowMs: number): number {
    const fewMessages = this.#messages.take(1, nowMs);
    const fewBytes = this.#bytes.take(bytes, nowMs);
    if (fewMessages && fewBytes) return 0;
    return Math.max(this.#messages.debtMs(nowMs), this.#bytes.debtMs(nowMs));
  }

  rest(ms: number): void {
    this.#restedMs += ms;
  }
}
