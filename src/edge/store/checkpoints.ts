import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';

/** Time between two copies. A page that every call writes is then copied once for many calls. */
const EVERY_MS = 2000;
/** Pages (4 KiB) from which on the writer waits until the whole log is copied: only then can the log begin anew. */
const LONG_LOG_PAGES = 16_000;

export interface CheckpointNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Transactions so far. */
  readonly written: () => number;
  /** Copies on another thread, while the writer goes on. Returns the pages of the log. */
  readonly copy: () => Promise<number>;
  /** The same while the writer waits. */
  readonly finish: () => Promise<number>;
}

/**
 * Copies the write-ahead log into the database while the writer goes on, so that no call waits for the disk
 * (https://www.sqlite.org/wal.html#ckpt). With a writer that never pauses the log would grow without end: the copy of a
 * long log is finished between two transactions, and the writer waits only for the pages that are left.
 */
export class Checkpoints {
  readonly #needs: CheckpointNeeds;
  readonly #rounds: RepeatedTask;
  #written = 0;

  constructor(needs: CheckpointNeeds) {
    this.#needs = needs;
    this.#rounds = new RepeatedTask({
      clock: needs.clock,
      everyMs: EVERY_MS,
      round: () => this.#round(),
      failed: (error) => needs.logger.warn({ error }, 'the log of the database was not copied'),
    });
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #round(): Promise<void> {
    const { written, copy, finish } = this.#needs;
    if (written() === this.#written) return;
    this.#written = written();
    if ((await copy()) >= LONG_LOG_PAGES) await finish();
  }
}
