/** Finds damage of the database file: failed reads, and regular examinations of the whole file. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Failure } from './failure.ts';

/** Delay of the first examination after the start, milliseconds. */
const FIRST_MS = 10_000;
const EVERY_MS = 24 * 3_600_000;

export interface FileExaminationNeeds {
  readonly file: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a description of the damage, or undefined. Default: reads the whole file on another thread. */
  readonly examine?: (file: string, signal: AbortSignal) => Promise<string | undefined>;
}

/**
 * Remembers damage until the end of the process. A damaged file may still accept writes, but its balances cannot be
 * trusted.
 */
export class FileExamination {
  readonly #needs: FileExaminationNeeds;
  readonly #rounds: RepeatedTask;
  #damage: string | undefined;

  constructor(needs: FileExaminationNeeds) {
    this.#needs = needs;
    const { clock, logger, file, examine = examineOnThread } = needs;
    this.#rounds = new RepeatedTask({
      clock,
      everyMs: EVERY_MS,
      firstMs: FIRST_MS,
      round: async () => {
        const damage = await examine(file, this.#rounds.stopping);
        if (damage !== undefined) this.#found(damage);
      },
      failed: (error) => logger.warn({ error, file }, 'the database file was not examined'),
    });
    this.#rounds.start();
  }

  /** Evaluates the failure of a unit. */
  readonly failed = (failure: Failure): void => {
    if (failure.isDamage === true) this.#found(failure.message);
  };

  /** Throws STORE_CORRUPT once damage was found. */
  require(): void {
    if (this.#damage === undefined) return;
    throw new ServiceError('STORE_CORRUPT', this.#damage);
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  #found(damage: string): void {
    if (this.#damage !== undefined) return;
    this.#damage = `${damage}: stop the service and restore a backup`;
    this.#needs.logger.error({ file: this.#needs.file, damage }, 'the database is damaged');
  }
}

/** Reads the whole file on another thread. Rejects if the thread fails. */
function examineOnThread(file: string, signal: AbortSignal): Promise<string | undefined> {
  const worker = new Worker(new URL('./examine-worker.ts', import.meta.url), { workerData: file });
  const end = (): void => void worker.terminate();
  signal.addEventListener('abort', end);
  const examined = Promise.withResolvers<string | undefined>();
  worker.on('message', (damage: string) => examined.resolve(damage === '' ? undefined : damage));
  worker.on('error', (error) => examined.reject(error));
  worker.on('exit', () => examined.resolve(undefined));
  return examined.promise.finally(() => {
    signal.removeEventListener('abort', end);
    return worker.terminate();
  });
}
