import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.ts';
import { Checkpoints } from './checkpoints.ts';
import { DiskCheck } from './disk-check.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { Executor, InlineRunner } from './executor.ts';
import { toError, toFailure } from './failure.ts';
import { makeFolder } from './make-folder.ts';
import { PROBE } from './marks.ts';
import { atOnce, GroupPace } from './pace.ts';
import { makePrivate } from './private-file.ts';
import type { Submit } from './spooling.ts';
import {
  ChangeListeners,
  createRepositories,
  type Store,
  type StoreOptions,
  withNodes,
} from './store-parts.ts';
import { StoreThread, type ThreadOptions } from './thread.ts';
import type { Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';
import { UnreadableLog } from './unreadable-log.ts';
import { ephemeralKey, loadKey } from './vault.ts';

export { makeFolder } from './make-folder.ts';
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
  const falls = new ChangeListeners();
  const unreadable = new UnreadableLog(options);
  const executor = new Executor(new InlineRunner(engine), atOnce, {
    onLowBalance: () => falls.notify(),
    onUnreadable: (rows) => unreadable.note(rows),
  });
  const submit: Submit = (unit, access) => executor.submit(unit, access);
  const repositories = createRepositories(options.clock, submit);
  unreadable.recordIn(repositories.unreadableRows);
  const store = {
    ...repositories,
    file: ':memory:',
    backup: async (path: string) => {
      makeNew(path);
      engine.backup(path);
    },
    verify: () => repositories.ledger.verify(),
    onLowBalance: (listener: () => void) => falls.listen(listener),
    onChange: () => undefined,
    outdated: () => undefined,
    check: () => repositories.settings.set(PROBE, String(options.clock.wallMs())),
    renew: () => Promise.resolve(),
    waiting: () => executor.waiting,
    spooled: () => 0,
    close: () => executor.close(),
  };
  return withNodes(store, options.clock, submit);
}

async function openOnDisk(options: StoreOptions): Promise<Store> {
  // The main thread must not wait for the disk. With `full` the writer therefore has a separate thread; otherwise another
  // thread copies the log.
  const isSynced = options.synchronous === 'full';
  const thread: ThreadOptions = {
    file: prepareFile(options.dataDir),
    role: 'writer',
    synchronous: options.synchronous,
    checkpoints: isSynced ? 'here' : 'elsewhere',
    key: loadKey(join(options.dataDir, 'keys', 'store.key')),
  };
  const writing = isSynced
    ? await StoreThread.start(thread)
    : new InlineRunner(openEngine({ ...thread, random: options.random }));
  if (writing.uncleanStart) {
    options.logger.warn({ file: thread.file }, 'unclean stop detected; database file checked');
  }
  const falls = new ChangeListeners();
  const unreadable = new UnreadableLog(options);
  const onUnreadable = (rows: readonly UnreadableRow[]): void => unreadable.note(rows);
  const writer = new Executor(writing, new GroupPace(), {
    onLowBalance: () => falls.notify(),
    onUnreadable,
  });
  const startReading = () => StoreThread.start({ ...thread, role: 'reader' });
  let reading = await startReading();
  const reader = new Executor(reading, atOnce, { onUnreadable });
  // Writes pending units first, so that a report includes the record of a call that has just ended.
  const report = async (unit: Unit): Promise<unknown> => {
    await writer.written();
    return reader.submit(unit, 'report');
  };
  const submit: Submit = (unit, access) =>
    access === 'report' ? report(unit) : writer.submit(unit, access);
  const repositories = createRepositories(options.clock, submit);
  unreadable.recordIn(repositories.unreadableRows);
  const checkpoints = isSynced
    ? undefined
    : new Checkpoints({
        clock: options.clock,
        logger: options.logger,
        written: () => writer.batches,
        copy: () => reader.between(() => reading.checkpoint()),
        // Locks the reader first, as `renew` does; different orders could deadlock.
        finish: () => reader.between(() => writer.between(() => reading.checkpoint())),
      });
  const disk = new DiskCheck(thread.file);
  const store = {
    ...repositories,
    file: thread.file,
    backup: (path: string) => backUp(thread, path),
    verify: () => repositories.ledger.verify(),
    onLowBalance: (listener: () => void) => falls.listen(listener),
    onChange: () => undefined,
    outdated: () => undefined,
    check: async () => {
      await disk.run();
      await repositories.settings.set(PROBE, String(options.clock.wallMs()));
    },
    renew: async () => {
      await reader.pause(async () => {
        await reading.close().catch(() => undefined); // it may have ended in an earlier attempt
        await writer.between(async () => {
          await writing.renew();
          disk.renewed();
        });
        reading = await startReading();
        return reading;
      });
      options.logger.warn(
        { file: thread.file },
        'database file was deleted; rewritten from the open connection',
      );
    },
    waiting: () => writer.waiting + reader.waiting,
    spooled: () => 0,
    close: async () => {
      await checkpoints?.stop();
      await reader.close();
      await writer.close();
    },
  };
  return withNodes(store, options.clock, submit);
}

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

/** Creates the file before SQLite opens it, so that its journals inherit the mode (owner only). */
function prepareFile(dataDir: string): string {
  makeFolder(dataDir);
  const file = join(dataDir, 'carillon.db');
  for (const path of [file, `${file}.lock`]) makePrivate(path);
  return file;
}
