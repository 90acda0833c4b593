/** Whether anything has ever come from a peer that should have sent: RTP that never comes is one-way audio. */

/** Phones send within a second of the answer, muted ones at least comfort noise (RFC 3389) or silence. */
export const ONE_WAY_AFTER_MS = 10_000;

export class OneWayAudioDetector {
  #dueSinceMs: number | undefined;
  #dueMs = 0;
  #isUnheard = false;

  /** Whether the peer has to send from now on: not before the answer, and not while it holds us. `nowMs`: monotonic. */
  expect(isDue: boolean, nowMs: number): void {
    if (this.#dueSinceMs !== undefined) this.#dueMs += nowMs - this.#dueSinceMs;
    this.#dueSinceMs = isDue ? nowMs : undefined;
  }

  /** What is new since the last look. `packetsReceived`: since the call's beginning. */
  look(packetsReceived: number, nowMs: number): 'unheard' | 'heard' | undefined {
    const was = this.#isUnheard;
    this.#isUnheard = this.unheardMs(packetsReceived, nowMs) !== undefined;
    if (was === this.#isUnheard) return undefined;
    return this.#isUnheard ? 'unheard' : 'heard';
  }

  /** How long its audio was due, when none ever came; undefined: some came, or it was not due for long enough to say. */
  unheardMs(packetsReceived: number, nowMs: number): number | undefined {
    if (packetsReceived > 0) return undefined;
    const current = this.#dueSinceMs === undefined ? 0 : nowMs - this.#dueSinceMs;
    const dueMs = this.#dueMs + current;
    return dueMs < ONE_WAY_AFTER_MS ? undefined : Math.round(dueMs);
  }
}
