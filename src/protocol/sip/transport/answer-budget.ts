import { RecentMap } from '../../../base/recent-map.ts';

/** Answer bytes per byte that came: less than it takes to make us a worthwhile weapon against a forged source. */
const BYTES_PER_BYTE = 1.5;
const MAX_SOURCES = 10_000;
/** What a source may save up. */
const MAX_SAVED_BYTES = 2000;

/**
 * Keeps answers to unknown peers over UDP in proportion to what they sent (RFC 3261 §26.3.2.4 warns of amplification). What was too
 * short for its answer counts towards the next try, so that a terse client gets one when it retransmits.
 */
export class AnswerBudget {
  readonly #saved = new RecentMap<number>(MAX_SOURCES);

  /** Bytes that an answer to `received` bytes from there may have. */
  allowance(source: string, received: number): number {
    return Math.floor((received + (this.#saved.get(source) ?? 0)) * BYTES_PER_BYTE);
  }

  answered(source: string): void {
    this.#saved.delete(source);
  }

  unanswered(source: string, received: number): void {
    const saved = (this.#saved.get(source) ?? 0) + received;
    this.#saved.set(source, Math.min(saved, MAX_SAVED_BYTES));
  }
}
