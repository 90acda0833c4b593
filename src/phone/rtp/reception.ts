/** Reception statistics of one RTP stream: loss and jitter (RFC 3550), MOS by the E-model (ITU-T G.107). */
export interface ReceptionReport {
  readonly received: number;
  /** Expected minus received packets. Duplicates can make it negative (RFC 3550 §6.4.1). */
  readonly lost: number;
  /** Interarrival jitter (RFC 3550 §6.4.1), in ms. */
  readonly jitterMs: number;
}

const RATE_PER_MS = 8;
/** A larger jump in sequence numbers is a restart of the stream, not loss (RFC 3550 A.1 MAX_DROPOUT). */
const MAX_DROPOUT = 3000;

export class Reception {
  /** Extended sequence numbers since the last restart of the stream; undefined before the first packet. */
  #run: { readonly first: number; highest: number } | undefined;
  #expectedBefore = 0;
  #received = 0;
  #transit: number | undefined;
  #jitter = 0;

  /** Counts a packet without audio. Its timestamp does not reflect its send time (RFC 4733 §2.5.1.2). */
  count(sequence: number): void {
    this.#received += 1;
    this.#follow(sequence);
  }

  /** Adds an audio packet. `arrivalMs` is the time of a monotonic clock. */
  add(sequence: number, timestamp: number, arrivalMs: number): void {
    this.#received += 1;
    const restarted = this.#follow(sequence);
    const transit = arrivalMs * RATE_PER_MS - timestamp;
    if (this.#transit !== undefined && !restarted) {
      const difference = Math.abs(transit - this.#transit);
      // A timestamp wrap is not jitter.
      if (difference < 2 ** 31) this.#jitter += (difference - this.#jitter) / 16;
    }
    this.#transit = transit;
  }

  report(): ReceptionReport {
    return {
      received: this.#received,
      lost: this.#expectedBefore + this.#expectedInRun() - this.#received,
      jitterMs: this.#jitter / RATE_PER_MS,
    };
  }

  /** Updates the sequence numbers. Returns true if the stream has restarted. */
  #follow(sequence: number): boolean {
    const ahead = this.#run === undefined ? 0 : ((sequence - this.#run.highest) << 16) >> 16;
    if (this.#run === undefined || Math.abs(ahead) > MAX_DROPOUT) {
      this.#expectedBefore += this.#expectedInRun();
      this.#run = { first: sequence, highest: sequence };
      return true;
    }
    this.#run.highest += Math.max(0, ahead);
    return false;
  }

  #expectedInRun(): number {
    return this.#run === undefined ? 0 : this.#run.highest - this.#run.first + 1;
  }
}

/** Packet-loss robustness of G.711 with concealment (G.113 table I.1, Appendix I). */
const LOSS_ROBUSTNESS = 25.1;
/** Default rating of G.107 without impairments. */
const BEST_RATING = 93.2;

/** Returns the MOS, 1 to 4.5. `oneWayMs` is the mouth-to-ear delay. */
export function meanOpinionScore(oneWayMs: number, lossPart: number): number {
  const delay = 0.024 * oneWayMs + 0.11 * Math.max(0, oneWayMs - 177.3);
  const lossPercent = Math.max(0, lossPart) * 100;
  const loss = (95 * lossPercent) / (lossPercent + LOSS_ROBUSTNESS);
  const r = Math.min(100, Math.max(0, BEST_RATING - delay - loss));
  return 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
}
