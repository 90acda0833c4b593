import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { NodeRef } from '../../domain/cluster/types.ts';
import type { LedgerFault } from '../../domain/ledger/types.ts';
import { Checkpoints } from './checkpoints.ts';
import { DiskCheck } from './disk-check.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { Executor, InlineRunner } from './executor.ts';
import { toError, toFailure } from './failure.ts';
import { atOnce, GroupPace } from './pace.ts';
import { makePrivate } from './private-file.ts';
import { ACCESS, type Access, type Repositories } from './repositories.ts';
import type { Synchronous } from './sqlite.ts';
import { StoreThread, type ThreadOptions } from './thread.ts';
import type { Unit } from './unit.ts';
import { ephemeralKey, loadKey } from './vault.ts';

export type { Repositories, SettingStore } from './repositories.ts';

export interface StoreOptions {
  /** Folder of database and key file, or `:memory:` (one connection, on the caller's thread). */
  readonly dataDir: string;
  readonly synchronous: Synchronous;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** Every need of the domain that is kept on disk, and the care of it. */
export interface Store extends Repositories {
  /**
   * A consistent copy of the database at `path`, taken while the service runs. The key file is not in it. Refuses to
   * overwrite a file (CONFLICT).
   */
  /** Rejects with CONFLICT when there is such a file; one that could not be completed is removed. */
  backup(path: string): Promise<void>;
  /** The database's own file; `:memory:` without one. */
  readonly file: string;
  /** Balances that do not equal the sum of their entries and reservations. */
  verify(): Promise<readonly LedgerFault[]>;
  /** `listener` is called after the commit: `ledger.lowBalanceAlerts` says what there is to tell. */
  onLowBalance(listener: () => void): void;
  /** Writes a file and a row; rejects with STORE_FULL, STORE_GONE or STORE_BUSY when either cannot be. */
  check(): Promise<void>;
  /** After STORE_GONE: the open connection still has everything, and writes the file anew. */
  renew(): Promise<void>;
  /** The same store, used by a node: what is made through it is that node's, in the epoch of that moment. */
  as(node: NodeRef): Store;
  /** Units of work that wait. */
  waiting(): number;
  /** What was asked for is still done. */
  close(): Promise<void>;
}

/** Setting that a check writes. */
const PROBE = 'store.probe';

export async function openStore(options: StoreOptions): Promise<Store> {
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
  const falls = new Falls();
  const executor = new Executor(new InlineRunner(engine), atOnce, () => falls.tell());
  const executorOf: ExecutorOf = () => executor;
  const repositories = createRepositories(options.clock, executorOf);
  const store = {
    ...repositories,
    file: ':memory:',
    backup: async (path: string) => {
      makeNew(path);
      engine.backup(path);
    },
    verify: () => repositories.ledger.verify(),
    onLowBalance: (listener: () => void) => falls.listen(listener),
    check: () => repositories.settings.set(PROBE, String(options.clock.wallMs())),
    renew: () => Promise.resolve(),
    waiting: () => executor.waiting,
    close: () => executor.close(),
  };
  return withNodes(store, options.clock, executorOf);
}

async function openOnDisk(options: StoreOptions): Promise<Store> {
  // The thread that serves calls must not wait for the disk: with `full` the writer has a thread of its own, otherwise
  // another thread copies the log.
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
    options.logger.warn({ file: thread.file }, 'store was not closed, its file was checked');
  }
  const falls = new Falls();
  const writer = new Executor(writing, new GroupPace(), () => falls.tell());
  const startReading = () => StoreThread.start({ ...thread, role: 'reader' });
  let reading = await startReading();
  const reader = new Executor(reading, atOnce);
  const executorOf: ExecutorOf = (access) => (access === 'report' ? reader : writer);
  const repositories = createRepositories(options.clock, executorOf);
  const checkpoints = isSynced
    ? undefined
    : new Checkpoints({
        clock: options.clock,
        logger: options.logger,
        written: () => writer.batches,
        copy: () => reader.between(() => reading.checkpoint()),
        // Reader first, as `renew` does: with two different orders they could wait for each other for ever.
        finish: () => reader.between(() => writer.between(() => reading.checkpoint())),
      });
  const disk = new DiskCheck(thread.file);
  const store = {
    ...repositories,
    file: thread.file,
    backup: (path: string) => backUp(thread, path),
    verify: () => repositories.ledger.verify(),
    onLowBalance: (listener: () => void) => falls.listen(listener),
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
      options.logger.warn({ file: thread.file }, 'the database file was gone, it is written anew');
    },
    waiting: () => writer.waiting + reader.waiting,
    close: async () => {
      await checkpoints?.stop();
      await reader.close();
      await writer.close();
    },
  };
  return withNodes(store, options.clock, executorOf);
}

function openEngine(options: EngineOptions): Engine {
  try {
    return new Engine(options);
  } catch (error) {
    throw toError(toFailure(error));
  }
}

/** Whoever wants to know that a balance has fallen below its threshold. */
class Falls {
  readonly #listeners: Array<() => void> = [];

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** On a thread of its own: a large copy holds up neither calls nor reports. */
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

/** Makes the empty file that a copy is written to: for the owner alone, and never over another. */
function makeNew(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('CONFLICT', `the copy cannot be made: ${reason}`, { cause });
  }
}

/** The file is made before SQLite opens it, so that its journals inherit the mode: for the owner alone. */
function prepareFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'carillon.db');
  for (const path of [file, `${file}.lock`]) makePrivate(path);
  return file;
}

type ExecutorOf = (access: Access) => Executor;

/** The same store, where everything that is made is `node`'s. */
function withNodes(store: Omit<Store, 'as'>, clock: Clock, executorOf: ExecutorOf): Store {
  const as = (node: NodeRef): Store => ({
    ...store,
    ...createRepositories(clock, executorOf, node),
    as,
  });
  return { ...store, as };
}

/** Each operation becomes a unit of work on the executor of its access, stamped with the time of the request and its node. */
function createRepositories(clock: Clock, executorOf: ExecutorOf, node?: NodeRef): Repositories {
  const repositories: Record<
    string,
    Record<string, (...given: unknown[]) => Promise<unknown>>
  > = {};
  for (const [repository, operations] of Object.entries<Readonly<Record<string, Access>>>(ACCESS)) {
    repositories[repository] = Object.fromEntries(
      Object.entries(operations).map(([operation, access]) => {
        const executor = executorOf(access);
        const submit = (...given: unknown[]): Promise<unknown> => {
          const unit: Unit = {
            repository,
            operation,
            given,
            nowUs: Math.round(clock.wallMs() * 1000),
            ...(node && { node: { id: node.id, epoch: node.epoch } }),
          };
          return executor.submit(unit, access);
        };
        return [operation, submit];
      }),
    );
  }
  return repositories as unknown as Repositories;
}
