/** Finds damage of the database file: failed reads, and regular examinations of the whole file. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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
  /** Returns a description of the damage, or undefined. Default: reads the whole file in another process. */
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
    const { clock, logger, file, examine = examineInProcess } = needs;
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

const run = promisify(execFile);

/**
 * Reads the whole file in another process, because a thread inside SQLite cannot be stopped. Returns undefined if it was
 * stopped. Rejects if the process fails.
 */
async function examineInProcess(file: string, signal: AbortSignal): Promise<string | undefined> {
  const program = fileURLToPath(new URL('./examine-process.ts', import.meta.url));
  try {
    const { stdout } = await run(process.execPath, [program, file], {
      signal,
      killSignal: 'SIGKILL',
      // Hides the environment of the service, which may contain secrets.
      env: {},
    });
    return stdout === '' ? undefined : stdout;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
