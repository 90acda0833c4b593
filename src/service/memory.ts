/**
 * Gives free memory back to the system. Without it glibc keeps most of what a flood has left in its allocator, and V8 what
 * a busy time, such as the start, has added to its heap.
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

/** What V8 has taken from the system for JavaScript. */
export interface Heap {
  /** Taken and empty. */
  slackBytes(): number;
  /** Gives back what is empty; takes a tenth of a second. */
  compact(): void;
}

const EVERY_MS = 20_000;
/** Empty heap from which on it is compacted: the pause costs more than less would gain. */
const HEAP_SLACK_BYTES = 16 * 1024 * 1024;

export interface MemoryOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the main thread may pause without delaying anything. */
  readonly isIdle: () => boolean;
  /**
   * Whether this thread has time to spare: while the allocator walks over its memory, which takes up to half a second after a
   * flood, it allocates for nobody. A busy process uses what is free anyhow.
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
            .catch((error: unknown) => logger.error({ error }, 'memory is not given back'));
        again();
      });
    };
    again();
  }

  stop(): void {
    this.#cancel();
  }

  /** Only where two looks in a row found nothing to do; once the slack is gone, it is not asked for again. */
  #compact(): void {
    const { heap, isIdle } = this.#options;
    const [wasIdle, isIdleNow] = [this.#wasIdle, isIdle()];
    this.#wasIdle = isIdleNow;
    if (wasIdle && isIdleNow && heap.slackBytes() >= HEAP_SLACK_BYTES) heap.compact();
  }
}

/** Share of time for which the event loop of an idle service, and of one with time to spare, is busy at most. */
const IDLE_SHARE = 0.05;
const SPARE_SHARE = 0.25;

/** Tells, once for each look, how little this thread had to do since the look before. */
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

/** The heap of this thread, by V8's `gc` extension. */
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
