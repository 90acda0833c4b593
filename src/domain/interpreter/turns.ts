/** Turns of a conversation between a caller and a bot: how fast the bot answers, and how often it is interrupted. */
import type { TurnSummary } from '../cdr/types.ts';

/** Maximum number of stored latencies. Later turns are counted, but do not change the percentiles. */
const MAX_LATENCIES = 2000;

export class Turns {
  readonly #latenciesMs: number[] = [];
  #count = 0;
  #interruptions = 0;

  /** Adds a turn. `latencyMs`: time from the caller's last speech to the bot's first audio. */
  took(latencyMs: number): void {
    this.#count += 1;
    if (this.#latenciesMs.length < MAX_LATENCIES) this.#latenciesMs.push(latencyMs);
  }

  interrupted(): void {
    this.#interruptions += 1;
  }

  /** Undefined without any turn or interruption. */
  summary(): TurnSummary | undefined {
    if (this.#count === 0 && this.#interruptions === 0) return undefined;
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return {
      count: this.#count,
      interruptions: this.#interruptions,
      p50Ms: percentile(sorted, 0.5),
      p95Ms: percentile(sorted, 0.95),
    };
  }
}

/** Nearest-rank percentile of ascending values; 0 without values. */
const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
