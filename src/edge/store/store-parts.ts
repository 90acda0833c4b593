import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { NodeRef } from '../../domain/cluster/types.ts';
import type { LedgerFault } from '../../domain/ledger/types.ts';
import { ACCESS, type Access, type Repositories } from './repositories.ts';
import type { Submit } from './spooling.ts';
import type { Synchronous } from './sqlite.ts';
import type { Unit } from './unit.ts';

/** A database that several nodes may share. */
export interface PostgresSettings {
  /** `postgres://user:password@host/database?sslmode=verify-full`, as libpq reads it. */
  readonly url: string;
  /** Connections that write. */
  readonly writers: number;
  /** What may wait on the local disk while it is away. */
  readonly spoolBytes: number;
}

export interface StoreOptions {
  /** Folder of database and key file, or `:memory:` (one connection, on the caller's thread). */
  readonly dataDir: string;
  readonly synchronous: Synchronous;
  /** Absent: SQLite in the data folder, which keeps keys and what waits for the database all the same. */
  readonly postgres?: PostgresSettings | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** Every need of the domain that is kept on disk, and the care of it. */
export interface Store extends Repositories {
  /**
   * A consistent copy of the database at `path`, taken while the service runs. The key file is not in it. Refuses to
   * overwrite a file (CONFLICT); one that could not be completed is removed.
   */
  backup(path: string): Promise<void>;
  /** The database's own file; `:memory:` without one, `postgres` where it is a server's. */
  readonly file: string;
  /** Balances that do not equal the sum of their entries and reservations. */
  verify(): Promise<readonly LedgerFault[]>;
  /** `listener` is called after the commit: `ledger.lowBalanceAlerts` says what there is to tell. */
  onLowBalance(listener: () => void): void;
  /** `listener` is called a moment after a node changed provisioning, rates or settings in a store that others share; it may have been this one. */
  onChange(listener: () => void): void;
  /** Another node says that it has changed something: what is known from earlier reads does not count. */
  outdated(): void;
  /** Writes a file and a row; rejects with STORE_FULL, STORE_GONE or STORE_BUSY when either cannot be. */
  check(): Promise<void>;
  /** After STORE_GONE: the open connection still has everything, and writes the file anew. */
  renew(): Promise<void>;
  /** The same store, used by a node: what is made through it is that node's, in the epoch of that moment. */
  as(node: NodeRef): Store;
  /** Units of work that wait. */
  waiting(): number;
  /** Of these, on the local disk for a database that is away. */
  spooled(): number;
  /** What was asked for is still done. */
  close(): Promise<void>;
}

/** Who wants to know of a change; nobody waits for them. */
export class ChangeListeners {
  readonly #listeners: Array<() => void> = [];

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The same store, where everything that is made is `node`'s. */
export function withNodes(store: Omit<Store, 'as'>, clock: Clock, submit: Submit): Store {
  const as = (node: NodeRef): Store => ({
    ...store,
    ...createRepositories(clock, submit, node),
    as,
  });
  return { ...store, as };
}

/** Each operation becomes a unit of work, stamped with the time of the request and its node. */
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
            nowUs: Math.round(clock.wallMs() * 1000),
            ...(node && { node: { id: node.id, epoch: node.epoch } }),
          };
          return submit(unit, access);
        };
        return [operation, ask];
      }),
    );
  }
  return repositories as unknown as Repositories;
}
