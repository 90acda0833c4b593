/** Detects one-way audio: no RTP ever arrives from a peer that should send. */

/**
 * Time without RTP until one-way audio is reported, in ms. Phones send within a second of the answer; muted phones send
 * at least comfort noise (RFC 3389) or silence.
 */
const ONE_WAY_AFTER_MS = 10_000;

export class OneWayAudioDetector {
  #dueSinceMs: number | undefined;
  #dueMs = 0;
  #isUnreceived = false;

  /** Sets whether the peer must send RTP: true after the answer, false while it holds the call. `nowMs` is monotonic. */
  expect(isDue: boolean, nowMs: number): void {
    if (this.#dueSinceMs !== undefined) this.#dueMs += nowMs - this.#dueSinceMs;
    this.#dueSinceMs = isDue ? nowMs : undefined;
  }

  /** Returns the change since the previous call. `packetsReceived` counts from the start of the call. */
  look(packetsReceived: number, nowMs: number): 'unheard' | 'heard' | undefined {
    const was = this.#isUnreceived;
    this.#isUnreceived = this.unheardMs(packetsReceived, nowMs) !== undefined;
    if (was === this.#isUnreceived) return undefined;
    return this.#isUnreceived ? 'unheard' : 'heard';
  }

  /** Returns how long RTP has been missing, in ms. Undefined if any has arrived or the time is below ONE_WAY_AFTER_MS. */
  unheardMs(packetsReceived: number, nowMs: number): number | undefined {
    if (packetsReceived > 0) return undefined;
    const current = this.#dueSinceMs === undefined ? 0 : nowMs - this.#dueSinceMs;
    const dueMs = this.#dueMs + current;
    return dueMs < ONE_WAY_AFTER_MS ? undefined : Math.round(dueMs);
  }
}
