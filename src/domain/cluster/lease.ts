/** Determines for how long no other node can have taken over the calls of this node. */
import type { Clock } from '../../base/clock.ts';

/** Lease after a beat in the store, in milliseconds. Other nodes declare this one dead after 6 s. */
const STORE_LEASE_MS = 5000;
/** Lease after a beat in Redis, in milliseconds. The Redis entry expires after 3 s. */
const REDIS_LEASE_MS = 2500;

/**
 * A lease that beats renew, measured only by this node's monotonic clock. It expires while the process is stopped or
 * cut off. After expiry, only a beat that the store confirms renews it, because only the store knows whether the node
 * was declared dead.
 */
export class NodeLease {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #untilMs: number;
  #waiting = new Set<() => void>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#untilMs = clock.monotonicMs() + STORE_LEASE_MS;
  }

  get isHeld(): boolean {
    return this.#clock.monotonicMs() < this.#untilMs;
  }

  /** Time until the lease expires in ms; 0 once it has expired. */
  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.monotonicMs());
  }

  /** Renews the lease after the store confirmed a beat that was sent at `sentMs` (monotonic). */
  confirmedByStore(sentMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, sentMs + STORE_LEASE_MS);
    if (this.isHeld) this.#wake();
  }

  /**
   * Renews the lease after Redis confirmed a beat that was sent at `sentMs` (monotonic). Has no effect once the lease
   * expired.
   */
  confirmedByRedis(sentMs: number): void {
    if (this.isHeld) this.#untilMs = Math.max(this.#untilMs, sentMs + REDIS_LEASE_MS);
  }

  /** Resolves while the lease is held. Rejects with the signal's reason if it aborts first. */
  async held(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.isHeld) await this.#renewed(signal);
  }

  #renewed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', abort);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
