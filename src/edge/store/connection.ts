import Database from 'better-sqlite3';
import type { Random } from '../../base/ids.ts';
import type { NodeRef } from '../../domain/cluster/types.ts';
import { BalanceRows } from './balance-rows.ts';
import type { Row, SqlValue } from './row.ts';
import type { Vault } from './vault.ts';

export type { Row, SqlValue };
export type Parameters = Readonly<Record<string, SqlValue>> | readonly SqlValue[];

/**
 * How much a power cut may take (a killed process never loses a commit): `normal` syncs the write-ahead log at
 * checkpoints, so the last commits may be missing after a power cut, the database stays consistent; `full` syncs at
 * every commit. https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export type Synchronous = 'normal' | 'full';

/** Its rows are nobody's. */
export const NO_NODE: NodeRef = { id: '', epoch: 0 };

/** Number and time of an account's latest entry. */
export interface LedgerHead {
  readonly seq: number;
  readonly createdUs: number;
}

/** Prepared statements kept a connection; lists with filters make a few hundred different texts. */
const STATEMENT_LIMIT = 1000;
/** How long a statement waits for another process (a backup tool, a shell) before STORE_BUSY. */
const BUSY_TIMEOUT_MS = 5000;
/**
 * Pages (4 KiB) of the write-ahead log before the writer itself copies them into the database: fewer would write busy
 * index pages again and again. Where another thread does that (`checkpoints: 'elsewhere'`), only in need.
 */
const CHECKPOINT_PAGES = { here: 4000, elsewhere: 100_000 };
/** Page cache in KiB (negative: SQLite's notation for a size); what is not in it the system has. */
const CACHE_KIB = -24_000;

/** One SQLite connection with its prepared statements, and what units of work need beside SQL. */
export class Connection {
  readonly raw: Database.Database;
  readonly readonly: boolean;
  readonly vault: Vault;
  readonly random: Random;
  readonly balances = new BalanceRows();
  /** The latest entry of each account that has posted one of late. */
  readonly ledgerHeads = new Map<string, LedgerHead>();
  readonly #statements = new Map<string, Database.Statement>();
  #nowUs = 0;
  /** Who asks for the unit of work that runs now: what it makes bears it. */
  node: NodeRef = NO_NODE;

  constructor(given: {
    readonly file: string;
    /** Takes no change of the data; checkpoints and copies are none. */
    readonly readonly: boolean;
    readonly synchronous: Synchronous;
    readonly checkpoints: 'here' | 'elsewhere';
    readonly vault: Vault;
    readonly random: Random;
  }) {
    this.vault = given.vault;
    this.random = given.random;
    this.readonly = given.readonly;
    this.raw = new Database(given.file, { timeout: BUSY_TIMEOUT_MS });
    if (given.readonly) {
      this.raw.pragma('query_only = ON');
    } else {
      this.raw.pragma('journal_mode = WAL');
      this.raw.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES[given.checkpoints]}`);
    }
    this.raw.pragma(`synchronous = ${given.synchronous}`);
    this.raw.pragma('foreign_keys = ON');
    this.raw.pragma(`cache_size = ${CACHE_KIB}`);
    this.raw.pragma('temp_store = MEMORY');
  }

  /** Time of the unit of work that runs now, microseconds UTC. */
  get nowUs(): number {
    return this.#nowUs;
  }

  set nowUs(value: number) {
    this.#nowUs = value;
  }

  /** What was written is undone: what is known of it is read again. */
  undone(): void {
    this.balances.forget();
    this.ledgerHeads.clear();
  }

  /** A consistent copy in a file of its own. */
  copyTo(path: string): void {
    this.raw.pragma('query_only = OFF'); // SQLite takes a copy for a change
    this.raw.prepare('VACUUM INTO ?').run(path);
    this.raw.pragma(`query_only = ${this.readonly ? 'ON' : 'OFF'}`);
  }

  get(sql: string, parameters: Parameters = []): Row | undefined {
    return this.#statement(sql).get(parameters) as Row | undefined;
  }

  all(sql: string, parameters: Parameters = []): readonly Row[] {
    return this.#statement(sql).all(parameters) as Row[];
  }

  /** Number of rows changed. */
  run(sql: string, parameters: Parameters = []): number {
    return this.#statement(sql).run(parameters).changes;
  }

  close(): void {
    this.raw.close();
  }

  #statement(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= STATEMENT_LIMIT) this.#statements.clear();
    const statement = this.raw.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** A column that holds an integer; null counts as zero (an empty SUM). */
export const integer = (row: Row | undefined, column: string): number => Number(row?.[column] ?? 0);

export const string = (row: Row, column: string): string => String(row[column] ?? '');
