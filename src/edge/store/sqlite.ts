import Database from 'better-sqlite3';
import type { Random } from '../../base/ids.ts';
import { Connection, type Parameters, type Row } from './connection.ts';
import { loadPageChecksums, storeChecksums } from './page-checksums.ts';
import type { Vault } from './vault.ts';

/**
 * Durability after a power cut; a killed process never loses a commit. `normal` syncs the write-ahead log at checkpoints: the
 * last commits may be missing after a power cut, but the database stays consistent. `full` syncs at every commit.
 * https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export type Synchronous = 'normal' | 'full';

/** Maximum number of prepared statements of a connection. Lists with filters produce a few hundred different texts. */
const STATEMENT_LIMIT = 1000;
/** Time that a statement waits for another process (a backup tool, a shell) before STORE_BUSY, milliseconds. */
const BUSY_TIMEOUT_MS = 5000;
/**
 * Pages (4 KiB) in the write-ahead log before the writer copies them into the database. A lower number would write busy index
 * pages repeatedly. With `elsewhere` another thread makes the copies, and this is only a fallback.
 */
const CHECKPOINT_PAGES = { here: 4000, elsewhere: 100_000 };
/**
 * Page cache, KiB; the operating system caches other pages. A large cache makes commits more expensive, because sorting the
 * pages of an index makes the commit scan the whole cache (`pcache1Truncate`). With 24 MB, the writes of a call cost a seventh
 * more in an empty database, and a third more with 400,000 records.
 */
const CACHE_KIB = { writer: 2000, reader: 24_000 };

/** A SQLite connection with its prepared statements. */
export class SqliteConnection extends Connection {
  readonly raw: Database.Database;
  /** Empty, because only one connection writes and it owns the file. */
  readonly forUpdate = '';
  readonly #statements = new Map<string, Database.Statement>();

  constructor(given: {
    readonly file: string;
    /** Whether the connection rejects changes of data. Checkpoints and copies are allowed. */
    readonly readonly: boolean;
    readonly synchronous: Synchronous;
    readonly checkpoints: 'here' | 'elsewhere';
    readonly vault: Vault;
    readonly random: Random;
  }) {
    super(given);
    loadPageChecksums();
    this.raw = new Database(given.file, { timeout: BUSY_TIMEOUT_MS });
    storeChecksums(this.raw);
    if (given.readonly) {
      this.raw.pragma('query_only = ON');
    } else {
      this.raw.pragma('journal_mode = WAL');
      this.raw.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES[given.checkpoints]}`);
    }
    this.raw.pragma(`synchronous = ${given.synchronous}`);
    this.raw.pragma('foreign_keys = ON');
    // Overwrites deleted content, which would otherwise stay readable in free parts of the file.
    this.raw.pragma('secure_delete = ON');
    // A negative value is a size in KiB, not a number of pages.
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

  /**
   * Copies the write-ahead log into the database and empties it. Does not wait for other connections that read; the log then
   * keeps its content. Returns whether the log is empty.
   */
  emptyLog(): boolean {
    this.raw.pragma('busy_timeout = 0');
    const [row] = this.raw.pragma('wal_checkpoint(TRUNCATE)') as readonly Row[];
    this.raw.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return row?.['busy'] === 0;
  }

  /** Writes a consistent copy to a new file. */
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

  /** Runs a statement and returns the number of changed rows. */
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
