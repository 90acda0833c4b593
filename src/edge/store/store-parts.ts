import { type Clock, wallUs } from '../../base/clock.ts';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { CallUuid, Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { noteWrite } from '../../base/noted-writes.ts';
import type { NodeRef } from '../../domain/cluster/types.ts';
import type { LedgerFault } from '../../domain/ledger/types.ts';
import type { ExecutorListeners } from './executor.ts';
import type { Access } from './repositories.ts';
import { ACCESS, type Repositories } from './repository-set.ts';
import type { Submit } from './spooling.ts';
import type { Synchronous } from './sqlite.ts';
import type { Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';
import { UnreadableLog } from './unreadable-log.ts';

/** Settings of a PostgreSQL database, which several nodes may share. */
export interface PostgresSettings {
  /** Connection string as libpq reads it, such as `postgres://user:password@host/database?sslmode=verify-full`. */
  readonly url: string;
  /** Number of connections that write. */
  readonly writers: number;
  /** Maximum size, in bytes, of the local queue for outages of the database. */
  readonly spoolBytes: number;
}

export interface StoreOptions {
  /** Folder of the database and key file, or `:memory:` (one connection, on the caller's thread). */
  readonly dataDir: string;
  readonly synchronous: Synchronous;
  /**
   * PostgreSQL settings. Default: SQLite in the data folder. The key file and the local queue are always in the data folder.
   */
  readonly postgres?: PostgresSettings | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** All repositories, with operations to maintain the database. */
export interface Store extends Repositories {
  /**
   * Writes a consistent copy of the database to `path` while the service runs. The copy does not include the key file. Rejects
   * with CONFLICT if the file exists. Removes an incomplete copy.
   */
  backup(path: string): Promise<void>;
  /** Path of the database file, `:memory:`, or `postgres`. */
  readonly file: string;
  /** Returns balances that differ from the sum of their entries and reservations. */
  verify(): Promise<readonly LedgerFault[]>;
  /**
   * Calls `listener` after a commit that let a balance fall below its threshold. `ledger.lowBalanceAlerts` returns the pending
   * alerts.
   */
  onLowBalance(listener: () => void): void;
  /** Calls `listener` after a commit whose outcome is unknown. What it stored has no answer. */
  onUnknownOutcome(listener: () => void): void;
  /** Calls `listener` shortly after any node, including this one, changed provisioning, rates or settings in a shared store. */
  onChange(listener: () => void): void;
  /** Clears cached reads, because another node reported a change. */
  outdated(): void;
  /** Writes a file and a row. Rejects with STORE_FULL, STORE_GONE or STORE_BUSY if either fails. */
  check(): Promise<void>;
  /** Time of the last successful write of a database server (monotonic, ms). Undefined for SQLite. */
  readonly writtenMs?: () => number;
  /** Rewrites the database file after STORE_GONE; the open connection still has all data. */
  renew(): Promise<void>;
  /**
   * Removes erased data from the files of the database: empties the log, and lets the next start rewrite the file. PostgreSQL
   * removes them with its vacuum.
   */
  finishErasure(): Promise<void>;
  /** Returns the same store for use by a node. Rows created through it carry the node's ID and its epoch at that moment. */
  as(node: NodeRef): Store;
  /** Number of units of work that wait. */
  waiting(): number;
  /** Number of waiting units on the local disk, for a database that is unavailable. */
  spooled(): number;
  /**
   * Resolves with whether the database server has the settlement of this node for the call, once that is known. Undefined for
   * SQLite.
   */
  readonly inDatabase?: (callUuid: CallUuid) => Promise<boolean>;
  /** Finishes all submitted units, then closes the store. */
  close(): Promise<void>;
}

/** Listeners that are notified of changes without waiting for them. */
export class ChangeListeners {
  readonly #listeners: Array<() => void> = [];

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Receives what executors report: balances that fell below their threshold, and unreadable rows. */
export class StoreReports {
  readonly #options: StoreOptions;
  readonly #falls = new ChangeListeners();
  readonly #unknown = new ChangeListeners();
  readonly #unreadable: UnreadableLog;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#unreadable = new UnreadableLog(options);
  }

  readonly onUnreadable = (rows: readonly UnreadableRow[]): void => this.#unreadable.note(rows);

  /** Listeners of an executor that writes. */
  get writing(): ExecutorListeners {
    return { onLowBalance: () => this.#falls.notify(), onUnreadable: this.onUnreadable };
  }

  /** Creates the operations that all stores have in common. Unreadable rows are recorded from now on. */
  operations(
    submit: Submit,
  ): Repositories & Pick<Store, 'verify' | 'onLowBalance' | 'onUnknownOutcome'> {
    const repositories = createRepositories(this.#options.clock, submit);
    this.#unreadable.recordIn(repositories.unreadableRows);
    return {
      ...repositories,
      verify: () => repositories.ledger.verify(),
      onLowBalance: (listener) => this.#falls.listen(listener),
      onUnknownOutcome: (listener) => this.#unknown.listen(listener),
    };
  }

  /** Reports units whose outcome is unknown. */
  watched(submit: Submit): Submit {
    return (unit, access) => {
      const answer = submit(unit, access);
      answer.catch((error: unknown) => {
        if (error instanceof UnknownOutcomeError) this.#unknown.notify();
      });
      return answer;
    };
  }
}

/** Adds `as` to a store: everything created through the result carries the node's ID and epoch. */
export function withNodes(store: Omit<Store, 'as'>, clock: Clock, submit: Submit): Store {
  const as = (node: NodeRef): Store => ({
    ...store,
    ...createRepositories(clock, submit, node),
    as,
  });
  return { ...store, as };
}

/** Creates the repositories. Each operation becomes a unit of work, stamped with the request time and the node. */
export function createRepositories(clock: Clock, submit: Submit, node?: NodeRef): Repositories {
  const repositories: Record<
    string,
    Record<string, (...given: unknown[]) => Promise<unknown>>
  > = {};
  for (const [repository, operations] of Object.entries<Readonly<Record<string, Access>>>(ACCESS)) {
    repositories[repository] = Object.fromEntries(
      Object.entries(operations).map(([operation, access]) => {
        const ask = (...given: unknown[]): Promise<unknown> => {
          const unit: Unit = {
            repository,
            operation,
            given,
            nowUs: wallUs(clock),
            ...(node && { node: { id: node.id, epoch: node.epoch } }),
          };
          const answer = submit(unit, access);
          return access === 'write' || access === 'ahead' ? noteWrite(answer) : answer;
        };
        return [operation, ask];
      }),
    );
  }
  return repositories as unknown as Repositories;
}
