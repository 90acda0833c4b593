import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.ts';
import { quantity } from '../../base/text.ts';
import { Checkpoints } from './checkpoints.ts';
import { DiskCheck } from './disk-check.ts';
import { DiskReader } from './disk-reader.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { Executor, InlineRunner } from './executor.ts';
import { toError, toFailure } from './failure.ts';
import { FileExamination } from './file-examination.ts';
import type { LostCommits } from './log-examination.ts';
import { makeFolder } from './make-folder.ts';
import { ERASURE_MARK, PROBE } from './marks.ts';
import { atOnce, GroupPace } from './pace.ts';
import { makePrivate } from './private-file.ts';
import type { Submit } from './spooling.ts';
import { type Store, type StoreOptions, StoreReports, withNodes } from './store-parts.ts';
import { StoreThread, type ThreadOptions } from './thread.ts';
import type { Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';
import { ephemeralKey, loadKey } from './vault.ts';

export { makeFolder } from './make-folder.ts';
export { replacePrivate } from './private-file.ts';
export type { SettingStore } from './repositories.ts';
export type { PostgresSettings, Store, StoreOptions } from './store-parts.ts';

export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.postgres !== undefined) {
    const { openOnPostgres } = await import('./postgres/open.ts');
    return openOnPostgres(options, options.postgres);
  }
  return options.dataDir === ':memory:' ? openInMemory(options) : openOnDisk(options);
}

function openInMemory(options: StoreOptions): Store {
  const engine = new Engine({
    file: ':memory:',
    role: 'writer',
    synchronous: options.synchronous,
    checkpoints: 'here',
    key: ephemeralKey(),
    random: options.random,
  });
  const reports = new StoreReports(options);
  const executor = new Executor(new InlineRunner(engine), atOnce, reports.writing);
  const submit: Submit = (unit, access) => executor.submit(unit, access);
  const operations = reports.operations(submit);
  const store = {
    ...operations,
    file: ':memory:',
    backup: async (path: string) => {
      makeNew(path);
      engine.backup(path);
    },
    onChange: () => undefined,
    outdated: () => undefined,
    check: () => operations.settings.set(PROBE, String(options.clock.wallMs())),
    renew: () => Promise.resolve(),
    finishErasure: () => Promise.resolve(),
    waiting: () => executor.waiting,
    spooled: () => 0,
    close: () => executor.close(),
  };
  return withNodes(store, options.clock, submit);
}

async function openOnDisk(options: StoreOptions): Promise<Store> {
  const thread: ThreadOptions = {
    file: prepareFile(options.dataDir),
    role: 'writer',
    synchronous: options.synchronous,
    checkpoints: isSynced(options) ? 'here' : 'elsewhere',
    key: loadKey(join(options.dataDir, 'keys', 'store.key')),
  };
  const reports = new StoreReports(options);
  const writing = await startWriting(thread, options);
  const { file } = thread;
  const examination = new FileExamination({ file, clock: options.clock, logger: options.logger });
  const onFailed = examination.failed;
  const writer = new Executor(writing, new GroupPace(), { ...reports.writing, onFailed });
  const { onUnreadable } = reports;
  const reader = await DiskReader.start(thread, { onUnreadable, onFailed });
  const submit = reportsAfterWrites(writer, reader.executor);
  const operations = reports.operations(submit);
  if (writing.lostCommits !== undefined) onUnreadable([lossReport(writing.lostCommits, options)]);
  const checkpoints = isSynced(options) ? undefined : checkpointsOf(options, writer, reader);
  const disk = new DiskCheck(thread.file);
  const store = {
    ...operations,
    file: thread.file,
    backup: (path: string) => backUp(thread, path),
    onChange: () => undefined,
    outdated: () => undefined,
    check: async () => {
      examination.require();
      await disk.run();
      await operations.settings.set(PROBE, String(options.clock.wallMs()));
    },
    renew: async () => {
      await reader.replace(() =>
        writer.between(async () => {
          await writing.renew();
          disk.renewed();
        }),
      );
      options.logger.warn(
        { file: thread.file },
        'database file was deleted; rewritten from the open connection',
      );
    },
    finishErasure: async () => {
      await operations.settings.set(ERASURE_MARK, 'yes');
      await reader.executor.between(() => writer.between(() => reader.emptyLog()));
    },
    waiting: () => writer.waiting + reader.executor.waiting,
    spooled: () => 0,
    close: async () => {
      await examination.stop();
      await checkpoints?.stop();
      await reader.executor.close();
      await writer.close();
    },
  };
  return withNodes(store, options.clock, submit);
}

const isSynced = ({ synchronous }: StoreOptions): boolean => synchronous === 'full';

/**
 * Opens the connection that writes. The main thread must not wait for the disk: with `full` the writer has a separate
 * thread; otherwise another thread copies the log.
 */
async function startWriting(
  thread: ThreadOptions,
  options: StoreOptions,
): Promise<StoreThread | InlineRunner> {
  const writing = isSynced(options)
    ? await StoreThread.start(thread)
    : new InlineRunner(openEngine({ ...thread, random: options.random }));
  if (writing.uncleanStart)
    options.logger.warn({ file: thread.file }, 'unclean stop detected; database file checked');
  return writing;
}

/** Reports the loss like an unreadable row: it has an alarm until an operator forgets it. */
const lossReport = ({ count }: LostCommits, { clock }: StoreOptions): UnreadableRow => ({
  table: 'log',
  key: new Date(clock.wallMs()).toISOString(),
  reason: `a power failure removed the last ${quantity(count, 'transaction')}`,
  original: '{}',
});

/** Writes pending units before a report, so that it includes the record of a call that has just ended. */
function reportsAfterWrites(writer: Executor, reader: Executor): Submit {
  const report = async (unit: Unit): Promise<unknown> => {
    await writer.written();
    return reader.submit(unit, 'report');
  };
  return (unit, access) => (access === 'report' ? report(unit) : writer.submit(unit, access));
}

const checkpointsOf = (
  { clock, logger }: StoreOptions,
  writer: Executor,
  reader: DiskReader,
): Checkpoints =>
  new Checkpoints({
    clock,
    logger,
    written: () => writer.batches,
    copy: () => reader.executor.between(() => reader.checkpoint()),
    // Locks the reader first, as `renew` does; different orders could deadlock.
    finish: () => reader.executor.between(() => writer.between(() => reader.checkpoint())),
  });

function openEngine(options: EngineOptions): Engine {
  try {
    return new Engine(options);
  } catch (error) {
    throw toError(toFailure(error));
  }
}

/** Runs the copy on a separate thread, so that it delays no calls or reports. */
async function backUp(options: ThreadOptions, path: string): Promise<void> {
  makeNew(path);
  const thread = await StoreThread.start({ ...options, role: 'reader' });
  try {
    await thread.backup(path);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    await thread.close();
  }
}

/** Creates the empty target file of a copy: readable by its owner only, and never over an existing file. */
function makeNew(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('CONFLICT', `the copy cannot be created: ${reason}`, { cause });
  }
}

/** Refuses to start with an empty database if a restore or repair was interrupted after it moved the old one. */
function refuseInterrupted(file: string): void {
  if (existsSync(file)) return;
  if (!['.restoring', '.accepting'].some((suffix) => existsSync(file + suffix))) return;
  throw new ServiceError(
    'STORE_CORRUPT',
    `${file} does not exist because a restore or repair was interrupted. Run the restore again, or rename the newest ${file}.before-… and its -wal file back`,
  );
}

/** Creates the file before SQLite opens it, so that its journals inherit the mode (owner only). */
function prepareFile(dataDir: string): string {
  makeFolder(dataDir);
  const file = join(dataDir, 'carillon.db');
  refuseInterrupted(file);
  for (const path of [file, `${file}.lock`]) makePrivate(path);
  return file;
}
