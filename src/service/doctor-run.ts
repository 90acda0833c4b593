/** Runs `carillon doctor` in a separate process, because some of its checks block, and keeps the latest result. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type Clock, wallUs } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { DoctorReport } from '../edge/rest/server.ts';

/** Time limit of a run, ms. */
const LIMIT_MS = 120_000;
const OUTPUT_MAX_BYTES = 1_000_000;

export interface DoctorParts {
  /** Project folder. */
  readonly root: string;
  readonly dataDir: string;
  readonly adminToken: string;
  /** Environment of the program. It contains settings. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs a program and returns its output. Replaced in tests. */
  readonly execute?: typeof execute;
}

type Outcome = Result<DoctorReport, string>;

export class DoctorRun {
  readonly #parts: DoctorParts;
  #running: Promise<Outcome> | undefined;
  #last: DoctorReport | undefined;

  constructor(parts: DoctorParts) {
    this.#parts = parts;
  }

  /** Result of the last run since the start of the service. */
  get last(): DoctorReport | undefined {
    return this.#last;
  }

  /** Runs all checks. A call during a run returns the result of that run. The error is a sentence. */
  run(): Promise<Outcome> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<Outcome> {
    const { root, dataDir, adminToken, environment, clock, logger } = this.#parts;
    const program = join(root, 'bin', 'carillon.mjs');
    const args = [program, '--json', '--data-dir', dataDir, 'doctor'];
    const output = await (this.#parts.execute ?? execute)(args, {
      ...environment,
      CARILLON_ADMIN_TOKEN: adminToken,
    });
    try {
      const { findings } = JSON.parse(output) as Pick<DoctorReport, 'findings'>;
      this.#last = { finishedUs: wallUs(clock), findings };
      return ok(this.#last);
    } catch (error) {
      logger.error({ error, output: output.slice(0, 2000) }, 'carillon doctor failed');
      return err('carillon doctor did not finish; see the log of the service');
    }
  }
}

/** The exit status is 1 if there is a problem, so only the output counts. */
const execute = (args: readonly string[], env: DoctorParts['environment']): Promise<string> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [...args],
      {
        env: env as NodeJS.ProcessEnv,
        timeout: LIMIT_MS,
        maxBuffer: OUTPUT_MAX_BYTES,
        encoding: 'utf8',
      },
      (_error, stdout, stderr) => resolve(stdout === '' ? stderr : stdout),
    );
  });
