/** Starts the components of the service in a fixed order and stops them in the reverse order. */
import type { Logger } from '../base/logger.ts';

export interface Component {
  /** Name for the log. */
  readonly name: string;
  /** Starts the component. All components before it have started. A rejection ends the start of the service. */
  readonly start?: () => unknown;
  /** Stops the component and resolves when it has ended. All components after it have stopped. */
  readonly stop?: () => unknown;
}

/** An ordered list of components. */
export class Components {
  readonly #list: readonly Component[];
  readonly #logger: Logger;
  /** Number of components that have started, from the beginning of the list. */
  #started = 0;

  constructor(list: readonly Component[], logger: Logger) {
    this.#list = list;
    this.#logger = logger;
  }

  /** Starts all components. If one fails, stops those before it and rejects with the failure. */
  async start(): Promise<void> {
    try {
      for (const { start } of this.#list) {
        await start?.();
        this.#started += 1;
      }
    } catch (error) {
      await this.stop().catch(() => undefined); // logged; the first failure is the cause
      throw error;
    }
  }

  /**
   * Stops the started components. A failure is logged and does not keep the others from stopping; this then rejects
   * with the first failure. Further calls do nothing.
   */
  async stop(): Promise<void> {
    const failures: unknown[] = [];
    const started = this.#list.slice(0, this.#started).reverse();
    this.#started = 0;
    for (const { name, stop } of started) {
      try {
        await stop?.();
      } catch (error) {
        this.#logger.error({ error, component: name }, 'component failed to stop');
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
