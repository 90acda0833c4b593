import type { Random } from '../../base/ids.ts';
import type { NodeRef } from '../../domain/cluster/types.ts';
import { BalanceRows } from './balance-rows.ts';
import { EntryTotals } from './entry-totals.ts';
import { LedgerHeads } from './ledger-heads.ts';
import type { Row, SqlValue } from './row.ts';
import { type UnreadableRow, UnreadableRowError } from './unreadable.ts';
import type { Vault } from './vault.ts';

export type { Row, SqlValue };
/** For `?` in their order, or for `@name`. */
export type Parameters = Readonly<Record<string, SqlValue>> | readonly SqlValue[];

/** What is held of a balance. */
export interface Reservation {
  readonly balanceId: string;
  readonly amount: number;
}

/** Unreadable rows that are kept until they are taken. */
const UNREADABLE_LIMIT = 100;

/** Its rows are nobody's. */
export const NO_NODE: NodeRef = { id: '', epoch: 0 };

/**
 * One connection to a database, with what units of work need beside SQL. What is asked of it is SQL that every database
 * takes: the differences are in the classes that extend it.
 */
export abstract class Connection {
  /** Takes no change of the data. */
  readonly readonly: boolean;
  readonly vault: Vault;
  readonly random: Random;
  readonly balances = new BalanceRows();
  readonly ledgerHeads = new LedgerHeads();
  readonly entryTotals = new EntryTotals();
  /** Read ahead for the transaction that runs now, which has the right to change them. */
  readonly reservations = new Map<string, Reservation>();
  /** Time of the unit of work that runs now, microseconds UTC. */
  nowUs = 0;
  /** Who asks for the unit of work that runs now: what it makes bears it. */
  node: NodeRef = NO_NODE;
  /** Ends a SELECT of rows that nobody else may change until this transaction is over. */
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

  /** The values of the rows that `read` can read. The others are noted. */
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

  /** Notes the row that `error` is about; false if it is about none. */
  noteUnreadable(error: unknown): boolean {
    if (!(error instanceof UnreadableRowError)) return false;
    if (this.#unreadable.length < UNREADABLE_LIMIT) this.#unreadable.push(error.row);
    return true;
  }

  /** Rows that could not be read since this was last asked. */
  takeUnreadable(): readonly UnreadableRow[] {
    if (this.#unreadable.length === 0) return NONE;
    const rows = this.#unreadable;
    this.#unreadable = [];
    return rows;
  }

  abstract get(sql: string, parameters?: Parameters): Row | undefined;
  abstract all(sql: string, parameters?: Parameters): readonly Row[];
  /** Number of rows changed. */
  abstract run(sql: string, parameters?: Parameters): number;

  /** As `run`, where nobody asks how many rows it changed. A failure may show with a later statement, or with the commit. */
  send(sql: string, parameters?: Parameters): void {
    this.run(sql, parameters);
  }

  /**
   * As `send`, of a statement about one `row` that nothing else of the transaction reads: it may go out with others of its kind, after
   * statements that were sent later; those about one row keep their order. An UPDATE sets integers.
   */
  sendLater(_row: string, sql: string, parameters: readonly SqlValue[]): void {
    this.send(sql, parameters);
  }

  /** As `changesOne`, of a statement as `sendLater` takes it. */
  changesOneLater(_row: string, sql: string, parameters: readonly SqlValue[]): boolean {
    return this.changesOne(sql, parameters);
  }

  /** Whether it changed one row. It mostly does: a database that is far away may answer so, and begin the transaction anew where it did not. */
  changesOne(sql: string, parameters?: Parameters): boolean {
    return this.run(sql, parameters) === 1;
  }

  /** `predicts`: `changesOne` may answer before it knows. */
  abstract begin(predicts: boolean): void;
  abstract commit(): void;
  abstract rollback(): void;
  abstract readonly inTransaction: boolean;

  /**
   * What a failure means: that the unit failed; that the whole transaction, of which nothing was written, is to be run `again`;
   * that nobody knows whether it was written (`unknown`).
   */
  meaningOf(error: unknown): 'failed' | 'again' | 'unknown' {
    return error instanceof Mispredicted ? 'again' : 'failed';
  }

  /** What was written is undone: what is known of it is read again. */
  undone(): void {
    this.balances.forget();
    this.ledgerHeads.forget();
    this.entryTotals.forget();
    this.reservations.clear();
  }
}

const NONE: readonly UnreadableRow[] = [];

/** `changesOne` was wrong. */
export class Mispredicted extends Error {
  constructor() {
    super('a statement changed another number of rows than usual');
    this.name = 'Mispredicted';
  }
}

/** A column that holds an integer; null counts as zero (an empty SUM). */
export const integer = (row: Row | undefined, column: string): number => Number(row?.[column] ?? 0);

export const string = (row: Row, column: string): string => String(row[column] ?? '');
