/** Work that is done again and again until it is stopped, one round at a time; the first begins at once. */
import type { Clock } from './clock.ts';

export interface RepeatedTaskOptions {
  readonly clock: Clock;
  /** A long one looks at `stopping` between its parts. */
  readonly round: () => unknown;
  readonly everyMs: number;
  /** After a failure the next round waits twice as long as the one before, up to this; left away: as always. */
  readonly longestPauseMs?: number;
  /** Absent: the round tells of its failures itself. */
  readonly failed?: (error: unknown, againInMs: number) => void;
}

export class RepeatedTask {
  readonly #options: RepeatedTaskOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: RepeatedTaskOptions) {
    this.#options = options;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#running = this.#goOn();
  }

  /** Resolves when the round that runs is over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #goOn(): Promise<void> {
    const { clock, round, everyMs, longestPauseMs = everyMs, failed } = this.#options;
    let pauseMs = everyMs;
    while (!this.stopping.aborted) {
      try {
        await round();
        pauseMs = everyMs;
      } catch (error) {
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
        failed?.(error, pauseMs);
      }
      await clock.sleep(pauseMs, this.stopping).catch(() => undefined); // stopped
    }
  }
}
