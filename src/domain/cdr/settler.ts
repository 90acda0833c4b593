import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { CallUuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallStore, Settlement } from './needs.ts';

/** Pause between attempts while the store takes no writes, milliseconds. */
const RETRY_MS = 1000;
/** Settlements kept in memory meanwhile. A call beyond it is still in the store as open, and billed at the next start. */
const WAITING_LIMIT = 100_000;

/**
 * Settles calls, and keeps the settlements that cannot be written (disk full) until they can. Nothing is lost when the
 * process dies meanwhile: the call is still open in the store, and recovery bills it up to its last heartbeat.
 */
export class Settler {
  readonly #store: CallStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  #waiting = 0;

  constructor(store: CallStore, clock: Clock, log: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Settlements that wait for the store to take writes again. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves with true once the settlement is durable; false when it was given up (`signal` aborted, too many wait):
   * the call then stays open in the store. `settlement` makes it anew for each attempt.
   */
  async settle(
    callUuid: CallUuid,
    settlement: () => Promise<Settlement>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    if (await this.#attempt(callUuid, settlement)) return true;
    if (this.#waiting >= WAITING_LIMIT) return false;
    this.#waiting += 1;
    try {
      for (;;) {
        await this.#clock.sleep(RETRY_MS, signal);
        if (await this.#attempt(callUuid, settlement, true)) return true;
      }
    } catch (error) {
      if (signal?.aborted) return false;
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** False: the environment did not let it be written. A bug is thrown on. */
  async #attempt(
    callUuid: CallUuid,
    settlement: () => Promise<Settlement>,
    isRepeated = false,
  ): Promise<boolean> {
    try {
      await this.#store.settle(await settlement());
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // Logged once for each call: the disk may be full for hours.
      if (!isRepeated) {
        this.#log.error(
          { callUuid, code: error.code, waiting: this.#waiting },
          'settlement not written, will be tried again',
        );
      }
      return false;
    }
  }
}
