/** Looks at the quality of every running call once in five seconds. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { MediaQuality } from '../base/media-quality.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { Call } from '../domain/call/call.ts';

const EVERY_MS = 5000;
/** Calls looked at in one turn of the event loop: under a millisecond. */
const CALLS_A_TURN = 100;

export interface QualitySamplingParts {
  readonly calls: () => readonly Call[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Is told what was found. */
  readonly sampled?: ((call: Call, quality: MediaQuality) => void) | undefined;
}

export class QualitySampling {
  readonly #rounds: RepeatedTask;

  constructor({ calls, clock, logger, sampled }: QualitySamplingParts) {
    this.#rounds = new RepeatedTask({
      clock,
      everyMs: EVERY_MS,
      failed: (error) => logger.error({ error }, 'quality of calls not sampled'),
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
