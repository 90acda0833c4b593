/** Samples the quality of every running call every 5 s. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { MediaQuality } from '../base/media-quality.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { Call } from '../domain/call/call.ts';

const EVERY_MS = 5000;
/** Number of calls sampled per event loop turn. Takes less than 1 ms. */
const CALLS_A_TURN = 100;

export interface QualitySamplingParts {
  readonly calls: () => readonly Call[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives each sample. */
  readonly sampled?: ((call: Call, quality: MediaQuality) => void) | undefined;
}

export class QualitySampling {
  readonly #rounds: RepeatedTask;

  constructor({ calls, clock, logger, sampled }: QualitySamplingParts) {
    this.#rounds = new RepeatedTask({
      clock,
      everyMs: EVERY_MS,
      failed: (error) => logger.error({ error }, 'failed to sample call quality'),
      round: async () => {
        for (const [index, call] of calls().entries()) {
          const quality = call.sampleQuality();
          if (quality !== undefined) sampled?.(call, quality);
          if (index % CALLS_A_TURN === CALLS_A_TURN - 1) await nextTurn();
        }
      },
    });
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }
}
