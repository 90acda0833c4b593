import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Mailer } from '../../base/mailer.ts';
import { EXPORT_ARCHIVE_DAYS, type Recordings } from '../../domain/recording/recording.ts';
import type { ExportJob } from '../../domain/recording/types.ts';
import { writeArchive } from './archive.ts';

export interface ExporterDeps {
  readonly recordings: Recordings;
  readonly mailer: Mailer;
  readonly recordingsFolder: string;
  readonly elsewhere?: Parameters<typeof writeArchive>[0]['elsewhere'];
  readonly exportsFolder: string;
  /** Returns a link to the archive that needs no credentials. */
  readonly linkTo: (job: ExportJob) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Processes queued exports in order. The store keeps each job and its node until it is done, so jobs survive restarts. */
export interface Exporter {
  /** Checks for work, including jobs interrupted by a restart. */
  wake(): void;
  /** Resolves when no work is left. */
  idle(): Promise<void>;
  /** Cancels a running archive and the wait for a retry. The next start repeats the archive. */
  stop(): Promise<void>;
}

/** Number of attempts per job. */
const ATTEMPTS_MAX = 3;
const RETRY_AFTER_MS = 30_000;
/** Failed mails after which an attempt ends, because the mail server probably does not answer. */
const FAILED_MAILS_MAX = 3;
/** Age at which archives are deleted, ms. The mailed links have expired by then. */
const ARCHIVE_LIFE_MS = EXPORT_ARCHIVE_DAYS * 86_400_000;

export function createExporter(deps: ExporterDeps): Exporter {
  const stopping = new AbortController();
  let working: Promise<void> | undefined;
  let again = false;

  const work = async (): Promise<void> => {
    do {
      again = false;
      await removeOld(deps);
      for (;;) {
        const job = stopping.signal.aborted ? undefined : await deps.recordings.takeExport();
        if (job === undefined) break;
        await runJob(deps, job, stopping.signal);
      }
    } while (again && !stopping.signal.aborted);
  };

  /** Works again after a failure, for example of the database: an unfinished job refuses further exports of its account. */
  const workUntilDone = async (): Promise<void> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        deps.logger.error({ error }, 'could not process exports');
      }
      if (!(await hasWaited(deps, stopping.signal))) return;
    }
  };

  const wake = (): void => {
    if (stopping.signal.aborted) return;
    again = true;
    working ??= workUntilDone().finally(() => {
      working = undefined;
    });
  };

  return {
    wake,
    async idle() {
      await working;
    },
    async stop() {
      stopping.abort(new Error('stopping'));
      await working;
    },
  };
}

async function runJob(deps: ExporterDeps, job: ExportJob, signal: AbortSignal): Promise<void> {
  const { recordings, logger } = deps;
  const progress: Progress = { archived: undefined, mailed: new Set(), failed: new Set() };
  for (let attempt = job.attempts + 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    await recordings.patchExport(job.exportId, { status: 'running', attempts: attempt });
    try {
      await exportOnce(deps, job, progress, signal);
      logger.info({ exportId: job.exportId, accountId: job.accountId }, 'export done');
      return;
    } catch (error) {
      if (signal.aborted) {
        // A canceled attempt does not count.
        await recordings.patchExport(job.exportId, { attempts: attempt - 1 });
        return;
      }
      logger.warn({ exportId: job.exportId, attempt, error }, 'export failed');
    }
    if (attempt < ATTEMPTS_MAX && !(await hasWaited(deps, signal))) return;
  }
  await recordings.patchExport(job.exportId, {
    status: 'failed',
    error: `failed after ${ATTEMPTS_MAX} attempts`,
  });
}

/** Waits before a retry. Returns false if the exporter stops. */
const hasWaited = ({ clock }: ExporterDeps, signal: AbortSignal): Promise<boolean> =>
  clock.sleep(RETRY_AFTER_MS, signal).then(
    () => true,
    () => false,
  );

/** Results of the attempts so far, which the next attempt does not repeat. */
interface Progress {
  /** Number of recordings in the complete archive. */
  archived: number | undefined;
  readonly mailed: Set<string>;
  /** Recipients whose mail failed. The next attempt mails them last. */
  readonly failed: Set<string>;
}

async function exportOnce(
  deps: ExporterDeps,
  job: ExportJob,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  progress.archived ??= await archive(deps, job, signal);
  const failures: unknown[] = [];
  const { mailed, failed } = progress;
  const left = job.recipients.filter((one) => !mailed.has(one));
  for (const to of left.sort((a, b) => Number(failed.has(a)) - Number(failed.has(b)))) {
    if (failures.length > 0 && (signal.aborted || failures.length >= FAILED_MAILS_MAX)) break;
    try {
      // Sends separate mails, so that recipients do not see each other.
      await deps.mailer.send({
        to,
        subject: 'Your recording export is ready',
        text: text(deps, job, progress.archived),
      });
      mailed.add(to);
    } catch (error) {
      failed.add(to);
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  await deps.recordings.patchExport(job.exportId, { status: 'done' });
}

/** Writes the archive. Returns the number of its recordings. */
async function archive(deps: ExporterDeps, job: ExportJob, signal: AbortSignal): Promise<number> {
  const { recordings, exportsFolder, recordingsFolder, elsewhere, logger } = deps;
  const file = `${job.exportId}.zip`;
  const count = await writeArchive({
    walk: () => recordings.walk(job.filter),
    recordingsFolder,
    elsewhere,
    target: join(exportsFolder, file),
    signal,
    onProgress: (soFar) => {
      recordings.patchExport(job.exportId, { recordings: soFar }).catch((error: unknown) => {
        logger.warn({ exportId: job.exportId, error }, 'could not store the progress of an export');
      });
    },
  });
  await recordings.patchExport(job.exportId, { file, recordings: count });
  return count;
}

const text = (deps: ExporterDeps, job: ExportJob, count: number): string =>
  [
    `The recording export of account ${job.accountId} is ready: ${count} recording${count === 1 ? '' : 's'}, listed in index.csv.`,
    '',
    'Download it here. The link needs no password and expires after seven days:',
    deps.linkTo(job),
    '',
  ].join('\r\n');

async function removeOld({ exportsFolder, clock, logger }: ExporterDeps): Promise<void> {
  const before = clock.wallMs() - ARCHIVE_LIFE_MS;
  const names = await readdir(exportsFolder).catch(() => []);
  for (const name of names) {
    const path = join(exportsFolder, name);
    const age = await stat(path).catch(() => undefined);
    if (age === undefined || age.mtimeMs >= before) continue;
    await rm(path, { force: true });
    logger.info({ path }, 'deleted an old export');
  }
}
