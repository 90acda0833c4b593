import { RecentMap } from '../../../base/recent-map.ts';

/** Bytes of answers per byte received: so low that a forged source gains an attacker little amplification. */
const BYTES_PER_BYTE = 1.5;
const MAX_SOURCES = 10_000;
/** Received bytes that are kept for a source at most. */
const MAX_SAVED_BYTES = 2000;

/**
 * Keeps answers to unknown peers over UDP in proportion to what they sent (RFC 3261 §26.3.2.4 warns of
 * amplification). A request that is too short for its answer counts for the next one, so that a client with short requests
 * gets its answer when it retransmits.
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
