import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { CallUuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallStore, Settlement } from './needs.ts';

/** Pause between attempts while the store refuses writes, in milliseconds. */
const RETRY_MS = 1000;
/** Maximum number of settlements waiting in memory. Further calls stay open in the store and are billed at the next start. */
const WAITING_LIMIT = 100_000;

export type Settled = 'written' | 'before' | 'givenUp';

/**
 * Settles calls, and keeps settlements in memory while they cannot be written (disk full). If the process crashes,
 * nothing is lost: the call is still open in the store, and recovery bills it up to its last heartbeat.
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

  /** Number of settlements that wait for the store to accept writes. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Resolves with `written` once the settlement is durable. Resolves with `before` if another node declared this one
   * dead and settled the call. Resolves with `givenUp` if `signal` aborts or too many settlements wait; the call then
   * stays open in the store. `settlement` builds the settlement again for each attempt.
   */
  async settle(
    callUuid: CallUuid,
    settlement: () => Promise<Settlement>,
    signal?: AbortSignal,
  ): Promise<Settled> {
    const settled = await this.#attempt(callUuid, settlement);
    if (settled !== undefined) return settled;
    if (this.#waiting >= WAITING_LIMIT) return 'givenUp';
    this.#waiting += 1;
    try {
      for (;;) {
        await this.#clock.sleep(RETRY_MS, signal);
        const later = await this.#attempt(callUuid, settlement, true);
        if (later !== undefined) return later;
      }
    } catch (error) {
      if (signal?.aborted) return 'givenUp';
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Returns undefined if the store could not write. Rethrows programming errors. */
  async #attempt(
    callUuid: CallUuid,
    settlement: () => Promise<Settlement>,
    isRepeated = false,
  ): Promise<Settled | undefined> {
    try {
      return (await this.#store.settle(await settlement())) ? 'written' : 'before';
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // Logged once per call, because the disk may be full for hours.
      if (!isRepeated) {
        this.#log.error(
          { callUuid, code: error.code, waiting: this.#waiting },
          'settlement not written; retrying',
        );
      }
      return undefined;
    }
  }
}
