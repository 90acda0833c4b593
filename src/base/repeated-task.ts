/** Work that repeats until stopped, one round at a time. */
import type { Clock } from './clock.ts';

export interface RepeatedTaskOptions {
  readonly clock: Clock;
  /** One round. A long round should check `stopping`. */
  readonly round: () => unknown;
  readonly everyMs: number;
  /** Delay of the first round, in milliseconds. Absent: it starts immediately. */
  readonly firstMs?: number;
  /** Maximum pause after failures, in milliseconds. Each failure doubles the pause. Absent: the pause stays `everyMs`. */
  readonly longestPauseMs?: number;
  /** Called after a failed round. Absent if the round reports its failures. */
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

  /** Stops the task. Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #goOn(): Promise<void> {
    const { clock, round, everyMs, firstMs = 0, longestPauseMs = everyMs, failed } = this.#options;
    const pause = (ms: number): Promise<unknown> =>
      clock.sleep(ms, this.stopping).catch(() => undefined); // stopped
    let pauseMs = everyMs;
    if (firstMs > 0) await pause(firstMs);
    while (!this.stopping.aborted) {
      try {
        await round();
        pauseMs = everyMs;
      } catch (error) {
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
        failed?.(error, pauseMs);
      }
      await pause(pauseMs);
    }
  }
}
