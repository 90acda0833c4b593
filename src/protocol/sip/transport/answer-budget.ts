import { RecentMap } from '../../../base/recent-map.ts';

/** Response bytes allowed per received byte. The low ratio limits amplification from forged sources. */
const BYTES_PER_BYTE = 1.5;
const MAX_SOURCES = 10_000;
/** Maximum number of received bytes credited to a source. */
const MAX_SAVED_BYTES = 2000;

/**
 * Limits responses to unknown peers over UDP relative to the bytes they sent, against amplification (RFC 3261
 * §26.3.2.4). A request too short for its response adds to the credit. Thus a client with short requests gets its
 * response after a retransmission.
 */
export class AnswerBudget {
  readonly #saved = new RecentMap<number>(MAX_SOURCES);

  /** Bytes allowed for a response to `received` bytes from that source. */
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
