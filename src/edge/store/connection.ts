import type { Random } from '../../base/ids.ts';
import type { NodeRef } from '../../domain/cluster/types.ts';
import { BalanceRows } from './balance-rows.ts';
import { EntryTotals } from './entry-totals.ts';
import { LedgerHeads } from './ledger-heads.ts';
import type { Row, SqlValue } from './row.ts';
import { type UnreadableRow, UnreadableRowError } from './unreadable.ts';
import type { Vault } from './vault.ts';

export type { Row, SqlValue };
/** Values for the `?` placeholders in order, or for `@name` placeholders. */
export type Parameters = Readonly<Record<string, SqlValue>> | readonly SqlValue[];

/** Amount reserved on a balance. */
export interface Reservation {
  readonly balanceId: string;
  readonly amount: number;
}

/** Maximum number of unreadable rows kept until `takeUnreadable` is called. */
const UNREADABLE_LIMIT = 100;

/** Node reference of rows that belong to no node. */
export const NO_NODE: NodeRef = { id: '', epoch: 0 };

/**
 * A connection to a database, with the state that units of work need. Callers use only SQL that every supported database
 * accepts; subclasses implement the differences.
 */
export abstract class Connection {
  /** Whether the connection rejects changes of data. */
  readonly readonly: boolean;
  readonly vault: Vault;
  readonly random: Random;
  readonly balances = new BalanceRows();
  readonly ledgerHeads = new LedgerHeads();
  readonly entryTotals = new EntryTotals();
  /** Reservations that the current transaction has read in advance and locked for changes. */
  readonly reservations = new Map<string, Reservation>();
  /** Time of the current unit of work, microseconds UTC. */
  nowUs = 0;
  /** Node that requested the current unit of work. Rows that the unit creates carry its ID and epoch. */
  node: NodeRef = NO_NODE;
  /** SQL suffix of a SELECT that locks its rows until the transaction ends. */
  abstract readonly forUpdate: string;

  constructor(given: {
    readonly readonly: boolean;
    readonly vault: Vault;
    readonly random: Random;
  }) {
    this.readonly = given.readonly;
    this.vault = given.vault;
    this.random = given.random;
  }

  #unreadable: UnreadableRow[] = [];

  /** Returns the values of the rows that `read` can read, and records the others as unreadable. */
  readable<T>(rows: readonly Row[], read: (row: Row) => T): T[] {
    return rows.flatMap((row) => {
      try {
        return [read(row)];
      } catch (error) {
        if (!this.noteUnreadable(error)) throw error;
        return [];
      }
    });
  }

  /** Records the row that caused `error`. Returns false if no row caused it. */
  noteUnreadable(error: unknown): boolean {
    if (!(error instanceof UnreadableRowError)) return false;
    if (this.#unreadable.length < UNREADABLE_LIMIT) this.#unreadable.push(error.row);
    return true;
  }

  /** Returns the rows found unreadable since the last call, and clears the list. */
  takeUnreadable(): readonly UnreadableRow[] {
    if (this.#unreadable.length === 0) return NONE;
    const rows = this.#unreadable;
    this.#unreadable = [];
    return rows;
  }

  abstract get(sql: string, parameters?: Parameters): Row | undefined;
  abstract all(sql: string, parameters?: Parameters): readonly Row[];
  /** Runs a statement and returns the number of changed rows. */
  abstract run(sql: string, parameters?: Parameters): number;

  /**
   * Runs a statement whose number of changed rows is not needed. A failure may surface at a later statement or at the commit.
   */
  send(sql: string, parameters?: Parameters): void {
    this.run(sql, parameters);
  }

  /**
   * Like `send`, for a statement about one `row` that nothing else in the transaction reads. The statement may be batched with
   * similar ones and run after statements that were sent later. Statements about the same row keep their order. An UPDATE may
   * set integers only.
   */
  sendLater(_row: string, sql: string, parameters: readonly SqlValue[]): void {
    this.send(sql, parameters);
  }

  /** Like `changesOne`, for statements that meet the conditions of `sendLater`. */
  changesOneLater(_row: string, sql: string, parameters: readonly SqlValue[]): boolean {
    return this.changesOne(sql, parameters);
  }

  /**
   * Returns whether the statement changed exactly one row. A remote database may assume true and restart the transaction if
   * that was wrong.
   */
  changesOne(sql: string, parameters?: Parameters): boolean {
    return this.run(sql, parameters) === 1;
  }

  /** Begins a transaction. With `predicts`, `changesOne` may answer before the result is known. */
  abstract begin(predicts: boolean): void;
  abstract commit(): void;
  abstract rollback(): void;
  abstract readonly inTransaction: boolean;

  /**
   * Classifies a failure. `failed`: the unit failed. `again`: nothing of the transaction was written and it must run again.
   * `unknown`: the transaction may or may not have been committed.
   */
  meaningOf(error: unknown): 'failed' | 'again' | 'unknown' {
    return error instanceof Mispredicted ? 'again' : 'failed';
  }

  /** Clears the cached state after a rollback, so that it is read again. */
  undone(): void {
    this.balances.forget();
    this.ledgerHeads.forget();
    this.entryTotals.forget();
    this.reservations.clear();
  }
}

const NONE: readonly UnreadableRow[] = [];

/** Thrown when a prediction of `changesOne` was wrong. */
export class Mispredicted extends Error {
  constructor() {
    super('a statement changed an unexpected number of rows');
    this.name = 'Mispredicted';
  }
}

/** Reads an integer column. Null counts as zero (an empty SUM). */
export const integer = (row: Row | undefined, column: string): number => Number(row?.[column] ?? 0);

export const string = (row: Row, column: string): string => String(row[column] ?? '');
