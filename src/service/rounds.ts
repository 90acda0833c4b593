/** Work that is done again and again until the service stops, one round at a time. */
import type { Clock } from '../base/clock.ts';

export interface RoundsOptions {
  readonly clock: Clock;
  /** Looks at `stopping` between its parts. */
  readonly round: () => Promise<unknown>;
  readonly everyMs: number;
  /** After a failure the next round waits twice as long as the one before, up to this; left away: as always. */
  readonly longestPauseMs?: number;
  readonly failed: (error: unknown, againInMs: number) => void;
}

export class Rounds {
  readonly #options: RoundsOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: RoundsOptions) {
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
        failed(error, pauseMs);
      }
      await clock.sleep(pauseMs, this.stopping).catch(() => undefined); // stopped
    }
  }
}
