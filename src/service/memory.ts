/**
 * Returns free memory to the system. Without it, glibc keeps most of the memory of a traffic peak in its allocator.
 * V8 likewise keeps the heap of a busy period such as the start.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { loadNativeAddon } from '../base/native-addon.ts';
import { loopUtilisation } from './overload.ts';

interface Allocator {
  trimMemory(): Promise<number>;
}

/** The JavaScript heap of V8. */
export interface Heap {
  /** Returns the allocated but unused bytes. */
  slackBytes(): number;
  /** Releases unused memory. Blocks for about 100 ms. */
  compact(): void;
}

const EVERY_MS = 20_000;
/** Minimum slack for a compaction. Below it, the pause costs more than it gains. */
const HEAP_SLACK_BYTES = 16 * 1024 * 1024;

export interface MemoryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns whether the main thread may pause without delaying work. */
  readonly isIdle: () => boolean;
  /**
   * Returns whether this thread has spare time. After a traffic peak the allocator blocks for up to half a second
   * while it trims. A busy process reuses the free memory anyway.
   */
  readonly mayTrim: () => boolean;
  readonly heap: Heap;
}

export class Memory {
  readonly #options: MemoryOptions;
  #wasIdle = false;
  #cancel: () => void = () => undefined;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, logger } = this.#options;
    const allocator = loadNativeAddon() as Allocator;
    const again = (): void => {
      this.#cancel = clock.at(clock.monotonicMs() + EVERY_MS, () => {
        this.#compact();
        if (this.#options.mayTrim())
          allocator
            .trimMemory()
            .catch((error: unknown) =>
              logger.error({ error }, 'failed to return memory to the system'),
            );
        again();
      });
    };
    again();
  }

  stop(): void {
    this.#cancel();
  }

  /** Compacts the heap after two idle checks in a row, until the slack is gone. */
  #compact(): void {
    const { heap, isIdle } = this.#options;
    const [wasIdle, isIdleNow] = [this.#wasIdle, isIdle()];
    this.#wasIdle = isIdleNow;
    if (wasIdle && isIdleNow && heap.slackBytes() >= HEAP_SLACK_BYTES) heap.compact();
  }
}

/** Maximum event loop utilization of an idle service, and of one with spare time. */
const IDLE_SHARE = 0.05;
const SPARE_SHARE = 0.25;

/** Returns checks of the event loop utilization since the previous check. */
export function quietLoop(): Pick<MemoryOptions, 'isIdle' | 'mayTrim'> {
  const utilisation = loopUtilisation();
  let share = 1;
  return {
    isIdle: () => {
      share = utilisation();
      return share < IDLE_SHARE;
    },
    mayTrim: () => share < SPARE_SHARE,
  };
}

type Collect = (options: Readonly<Record<'type' | 'execution' | 'flavor', string>>) => void;

/** Returns the heap of this thread, using V8's `gc` extension. */
export function v8Heap(): Heap {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return {
    slackBytes: () => {
      const { heapTotal, heapUsed } = process.memoryUsage();
      return heapTotal - heapUsed;
    },
    compact: () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  };
}
