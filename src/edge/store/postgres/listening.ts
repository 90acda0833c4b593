import type { Clock } from '../../../base/clock.ts';

/** Time between two looks. */
const EVERY_MS = 1000;

/** Looks again and again whether a node has changed what others keep in memory; one that is away is asked again. */
export class Listening {
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(clock: Clock, heard: () => Promise<boolean>, tell: () => void) {
    this.#running = this.#run(clock, heard, tell);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(clock: Clock, heard: () => Promise<boolean>, tell: () => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await clock.sleep(EVERY_MS, signal).catch(() => undefined); // stopped
      if (!signal.aborted && (await heard().catch(() => false))) tell();
    }
  }
}
