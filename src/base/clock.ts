/** Where time comes from. `edge/clock` implements it over the system, `test/sim/clock.ts` by jumping. */
export interface Clock {
  /** Monotonic milliseconds, fractional; never goes back. */
  monotonicMs(): number;
  /** Milliseconds since the epoch, UTC. */
  wallMs(): number;
  /** Calls `wake` once at `monotonicMs() >= dueMs`. The returned function cancels it. */
  at(dueMs: number, wake: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
