/** Time source. `edge/clock` implements it with the system clock, `test/sim/clock.ts` with simulated time. */
export interface Clock {
  /** Monotonic time in milliseconds, fractional. Never decreases. */
  monotonicMs(): number;
  /** Wall-clock time in milliseconds since the epoch, UTC. */
  wallMs(): number;
  /** Calls `wake` once at `monotonicMs() >= dueMs`. The returned function cancels it. */
  at(dueMs: number, wake: () => void): () => void;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Returns the wall-clock time in whole microseconds since the epoch, UTC. */
export const wallUs = (clock: Pick<Clock, 'wallMs'>): number => Math.round(clock.wallMs() * 1000);
