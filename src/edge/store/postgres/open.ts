import { join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { ServiceError } from '../../../base/errors.ts';
import { RepeatedTask } from '../../../base/repeated-task.ts';
import { changesAnswers } from '../answer-cache.ts';
import { Executor } from '../executor.ts';
import { FolderLock } from '../folder-lock.ts';
import { makeFolder } from '../make-folder.ts';
import { PROBE } from '../marks.ts';
import { atOnce, GroupPace } from '../pace.ts';
import { makePrivate } from '../private-file.ts';
import { Spool } from '../spool.ts';
import { Spooling, type Submit } from '../spooling.ts';
import {
  ChangeListeners,
  type PostgresSettings,
  type Store,
  type StoreOptions,
  StoreReports,
  withNodes,
} from '../store-parts.ts';
import { StoreThread } from '../thread.ts';
import { loadKey, Vault } from '../vault.ts';
import type { PostgresEngineOptions } from './engine.ts';
import { Points } from './point-reads.ts';
import { Writers } from './writers.ts';

/** Interval between two checks for changes by other nodes, milliseconds. */
const LISTEN_EVERY_MS = 1000;
const WORKER = new URL('./worker.ts', import.meta.url);
/** Value of `Store.file` for a store on PostgreSQL. */
const POSTGRES = 'postgres';

/**
 * Opens a store on PostgreSQL, with one blocking thread per connection. Rejects with STORE_BUSY when the database is
 * unavailable. An open store survives later outages.
 */
export async function openOnPostgres(
  options: StoreOptions,
  settings: PostgresSettings,
): Promise<Store> {
  const { dataDir, logger } = options;
  makeFolder(dataDir);
  const lockFile = join(dataDir, 'carillon.db.lock');
  makePrivate(lockFile);
  const lock = new FolderLock(lockFile);
  const key = loadKey(join(dataDir, 'keys', 'store.key'));
  const threads: StoreThread[] = [];
  const end = async (): Promise<void> => {
    await Promise.allSettled(threads.map((thread) => thread.close()));
    lock.release();
  };
  try {
    const start = startOf({ url: settings.url, key }, threads);
    const first = await start('writer', true);
    const others = Array.from({ length: settings.writers - 1 }, () => start('writer'));
    const [point, report, ...more] = await Promise.all([
      start('point'),
      start('report'),
      ...others,
    ]);
    const spool = new Spool(join(dataDir, 'spool'), new Vault(key), settings.spoolBytes);
    const writers = [first, ...more];
    const store = await compose(options, { point, report, writers }, spool, () => lock.release());
    logger.info({ writers: settings.writers }, 'the store is on PostgreSQL');
    return store;
  } catch (error) {
    await end();
    throw error;
  }
}

type Start = (role: PostgresEngineOptions['role'], prepares?: boolean) => Promise<StoreThread>;

const startOf =
  (given: { readonly url: string; readonly key: Uint8Array }, threads: StoreThread[]): Start =>
  async (role, prepares = false) => {
    const options: Omit<PostgresEngineOptions, 'random'> = { ...given, role, prepares };
    const thread = await StoreThread.startAt(WORKER, options);
    threads.push(thread);
    return thread;
  };

interface Threads {
  readonly point: StoreThread;
  readonly report: StoreThread;
  readonly writers: readonly StoreThread[];
}

async function compose(
  options: StoreOptions,
  threads: Threads,
  spool: Spool,
  end: () => void,
): Promise<Store> {
  const { clock, logger } = options;
  const reports = new StoreReports(options);
  const { onUnreadable } = reports;
  const writers = new Writers(
    threads.writers.map((thread) => new Executor(thread, new GroupPace(), reports.writing)),
  );
  const point = new Executor(threads.point, atOnce, { onUnreadable });
  const points = new Points(point);
  threads.point.onReported(({ hears }) => points.reported(hears));
  const report = new Executor(threads.report, atOnce, { onUnreadable });
  const writes = new TimedWrites(writers, points, clock);
  const changes = new ChangeListeners();
  const received = () => point.between(() => threads.point.received());
  const listening = listenForChanges(clock, received, changes);
  const inOrder: Submit = (unit, access) => writers.first.submit(unit, access);
  const spooling = new Spooling({ spool, clock, logger, inOrder, onUnreadable });
  const submit = reports.watched((unit, access) => {
    if (access === 'point') return points.submit(unit);
    if (access === 'report') return report.submit(unit, access);
    return spooling.submit(unit, access, writes.submit);
  });
  const operations = reports.operations(submit);
  await spooling.drainNow();
  const all = [...writers.all, point, report];
  const store: Omit<Store, 'as'> = {
    ...operations,
    file: POSTGRES,
    backup: refuseBackup,
    onChange: (listener) => changes.listen(listener),
    outdated: () => points.outdated(),
    async check() {
      await operations.settings.set(PROBE, String(clock.wallMs()));
      await readOn([...writers.all, point]);
    },
    writtenMs: () => writes.lastMs,
    renew: () => Promise.resolve(),
    finishErasure: () => Promise.resolve(),
    spooled: () => spool.size,
    inDatabase: (callUuid) => spooling.inDatabase(callUuid),
    waiting: () => all.reduce((sum, executor) => sum + executor.waiting, 0),
    close: async () => {
      await listening.stop();
      await spooling.stop();
      await Promise.all(all.map((executor) => executor.close()));
      end();
    },
  };
  return withNodes(store, clock, submit);
}

/** Writes on the connection of each unit. Remembers the time of the last success, and clears cached reads after changes. */
class TimedWrites {
  readonly #writers: Writers;
  readonly #points: Points;
  readonly #clock: Clock;
  /** Time of the last successful write (monotonic, ms); at first the time of the start. */
  lastMs: number;

  constructor(writers: Writers, points: Points, clock: Clock) {
    this.#writers = writers;
    this.#points = points;
    this.#clock = clock;
    this.lastMs = clock.monotonicMs();
  }

  readonly submit: Submit = async (unit, access) => {
    try {
      const result = await this.#writers.of(unit).submit(unit, access);
      this.lastMs = this.#clock.monotonicMs();
      return result;
    } finally {
      if (changesAnswers([unit])) this.#points.outdated();
    }
  };
}

const refuseBackup = (): Promise<never> =>
  Promise.reject(
    new ServiceError(
      'BACKUP_EXTERNAL',
      'the store is on PostgreSQL: back it up with pg_dump, together with keys/store.key',
    ),
  );

/** Reads on every connection, because each must notice separately that the database is available again. */
async function readOn(executors: readonly Executor[]): Promise<void> {
  const look = { repository: 'settings', operation: 'get', given: [PROBE], nowUs: 0 };
  await Promise.all(executors.map((one) => one.submit(look, 'point')));
}

/** Starts to ask the database for changes by other nodes. An unavailable one is asked again at the next interval. */
function listenForChanges(
  clock: Clock,
  received: () => Promise<boolean>,
  changes: ChangeListeners,
): RepeatedTask {
  const listening = new RepeatedTask({
    clock,
    everyMs: LISTEN_EVERY_MS,
    round: async () => {
      if (await received().catch(() => false)) changes.notify();
    },
  });
  listening.start();
  return listening;
}
