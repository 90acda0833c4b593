import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { CheckpointProgress } from './engine.ts';

/** Between two copies: busy pages, written by every call, are copied once for all the calls meanwhile. */
const EVERY_MS = 2000;
/** Pages of the log (4 KiB) from which the writer waits for the last of them: only then does the log begin anew. */
const LONG_LOG_PAGES = 16_000;

export interface CheckpointNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Transactions so far. */
  readonly written: () => number;
  /** Copies on another thread, while the writer goes on. */
  readonly copy: () => Promise<CheckpointProgress>;
  /** The same while the writer waits. */
  readonly finish: () => Promise<CheckpointProgress>;
}

/**
 * Brings the write-ahead log into the database behind the writer's back, so that no call waits for the disk
 * (https://www.sqlite.org/wal.html#ckpt). A writer that never pauses would keep the log growing: a long one is finished
 * between two of its transactions, which wait for the few pages that are left.
 */
export class Checkpoints {
  readonly #needs: CheckpointNeeds;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #written = 0;

  constructor(needs: CheckpointNeeds) {
    this.#needs = needs;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#needs;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await clock.sleep(EVERY_MS, signal);
        await this.#round();
      } catch (error) {
        if (!signal.aborted) logger.warn({ error }, 'the log of the database was not copied');
      }
    }
  }

  async #round(): Promise<void> {
    const { written, copy, finish } = this.#needs;
    if (written() === this.#written) return;
    this.#written = written();
    const { logPages } = await copy();
    if (logPages >= LONG_LOG_PAGES) await finish();
  }
}
