import Database from 'better-sqlite3';
import type { Random } from '../../base/ids.ts';
import { Connection, type Parameters, type Row } from './connection.ts';
import type { Vault } from './vault.ts';

/**
 * How much a power cut may take (a killed process never loses a commit): `normal` syncs the write-ahead log at
 * checkpoints, so the last commits may be missing after a power cut, the database stays consistent; `full` syncs at
 * every commit. https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export type Synchronous = 'normal' | 'full';

/** Prepared statements kept a connection; lists with filters make a few hundred different texts. */
const STATEMENT_LIMIT = 1000;
/** How long a statement waits for another process (a backup tool, a shell) before STORE_BUSY. */
const BUSY_TIMEOUT_MS = 5000;
/**
 * Pages (4 KiB) of the write-ahead log before the writer itself copies them into the database: fewer would write busy
 * index pages again and again. Where another thread does that (`checkpoints: 'elsewhere'`), only in need.
 */
const CHECKPOINT_PAGES = { here: 4000, elsewhere: 100_000 };
/**
 * Page cache in KiB; what is not in it the system has. Large ones make commits dearer: after pages of an index were put in
 * order, a commit looks at the whole cache (`pcache1Truncate`), and the more of it there is the less of it the processor has
 * near. With 24 MB a call's writes cost a seventh more in an empty database, and a third more beside 400,000 records.
 */
const CACHE_KIB = { writer: 2000, reader: 24_000 };

/** One SQLite connection with its prepared statements. */
export class SqliteConnection extends Connection {
  readonly raw: Database.Database;
  /** There is one that writes, and it has the file. */
  readonly forUpdate = '';
  readonly #statements = new Map<string, Database.Statement>();

  constructor(given: {
    readonly file: string;
    /** Takes no change of the data; checkpoints and copies are none. */
    readonly readonly: boolean;
    readonly synchronous: Synchronous;
    readonly checkpoints: 'here' | 'elsewhere';
    readonly vault: Vault;
    readonly random: Random;
  }) {
    super(given);
    this.raw = new Database(given.file, { timeout: BUSY_TIMEOUT_MS });
    if (given.readonly) {
      this.raw.pragma('query_only = ON');
    } else {
      this.raw.pragma('journal_mode = WAL');
      this.raw.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES[given.checkpoints]}`);
    }
    this.raw.pragma(`synchronous = ${given.synchronous}`);
    this.raw.pragma('foreign_keys = ON');
    // Negative: a size, not a number of pages.
    this.raw.pragma(`cache_size = -${CACHE_KIB[given.readonly ? 'reader' : 'writer']}`);
    this.raw.pragma('temp_store = MEMORY');
  }

  get inTransaction(): boolean {
    return this.raw.inTransaction;
  }

  begin(): void {
    this.run('BEGIN IMMEDIATE');
  }

  commit(): void {
    this.run('COMMIT');
  }

  rollback(): void {
    if (this.inTransaction) this.run('ROLLBACK');
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
