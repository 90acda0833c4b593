/** What a flood has left free in the allocator goes back to the system; by itself glibc keeps most of it. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { loadNativeAddon } from '../base/native-addon.ts';

interface Allocator {
  trimMemory(): Promise<number>;
}

const EVERY_MS = 20_000;

export class Memory {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #cancel: () => void = () => undefined;

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  start(): void {
    const allocator = loadNativeAddon() as Allocator;
    const again = (): void => {
      this.#cancel = this.#clock.at(this.#clock.monotonicMs() + EVERY_MS, () => {
        allocator
          .trimMemory()
          .catch((error: unknown) => this.#logger.error({ error }, 'memory is not given back'));
        again();
      });
    };
    again();
  }

  stop(): void {
    this.#cancel();
  }
}
