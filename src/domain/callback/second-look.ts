/** Looks into the store again some time after the answer to a commit was lost. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';

/** Time for a commit without an answer to end, milliseconds. */
const PAUSE_MS = 5000;

export class SecondLook {
  readonly #needs: { readonly clock: Clock; readonly logger: Logger };
  readonly #look: () => Promise<void>;
  readonly #stopped = new AbortController();
  #isWaiting = false;

  constructor(
    needs: { readonly clock: Clock; readonly logger: Logger },
    look: () => Promise<void>,
  ) {
    this.#needs = needs;
    this.#look = look;
  }

  /** Looks soon, and again after failures. Never throws. */
  soon(): void {
    if (this.#isWaiting || this.#stopped.signal.aborted) return;
    this.#isWaiting = true;
    void this.#act();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #act(): Promise<void> {
    const { clock, logger } = this.#needs;
    const { signal } = this.#stopped;
    await clock.sleep(PAUSE_MS, signal).catch(() => undefined); // stopped
    this.#isWaiting = false;
    if (signal.aborted) return;
    try {
      await this.#look();
    } catch (error) {
      logger.warn({ error }, 'failed to list stored notifications');
      this.soon();
    }
  }
}
