import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';

/** Interval between two checkpoints, milliseconds. A page that every call writes is then copied once for many calls. */
const EVERY_MS = 2000;
/**
 * Log length in pages (4 KiB) from which the writer waits until the whole log is copied. The log can restart only after a
 * complete copy.
 */
const LONG_LOG_PAGES = 16_000;

export interface CheckpointNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Number of transactions so far. */
  readonly written: () => number;
  /** Copies the log on another thread while the writer continues. Returns the length of the log in pages. */
  readonly copy: () => Promise<number>;
  /** Copies the log while the writer waits. Returns the length of the log in pages. */
  readonly finish: () => Promise<number>;
}

/**
 * Copies the write-ahead log into the database while the writer continues, so that no call waits for the disk
 * (https://www.sqlite.org/wal.html#ckpt). If the writer never pauses, the log would grow without limit. The copy of a long log
 * is therefore finished between two transactions; the writer waits only for the remaining pages.
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
      failed: (error) => needs.logger.warn({ error }, 'database log checkpoint failed'),
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
