import { renameSync, rmSync } from 'node:fs';
import type { Random } from '../../base/ids.ts';
import { AnswerCache } from './answer-cache.ts';
import { integer, type Row } from './connection.ts';
import { FolderLock } from './folder-lock.ts';
import { proveKey } from './key-proof.ts';
import { OPEN_MARK } from './marks.ts';
import { migrate } from './migrate.ts';
import { makePrivate } from './private-file.ts';
import { settingRepository } from './sql/settings.ts';
import { SqliteConnection, type Synchronous } from './sqlite.ts';
import type { Outcome, Unit } from './unit.ts';
import { isWrite, UnitRunner } from './units.ts';
import { Usernames } from './usernames.ts';
import { Vault } from './vault.ts';

export interface EngineOptions {
  readonly file: string;
  readonly role: 'writer' | 'reader';
  readonly synchronous: Synchronous;
  /**
   * Where the write-ahead log is copied into the database. `here`: by the writer when it commits. `elsewhere`: by calls of
   * `checkpoint`.
   */
  readonly checkpoints: 'here' | 'elsewhere';
  readonly key: Uint8Array;
  readonly random: Random;
}

/** Contains all repositories on one connection and runs units of work, many of them in one transaction. */
export class Engine {
  readonly #options: EngineOptions;
  #db: SqliteConnection;
  #lock: FolderLock | undefined;
  #units: UnitRunner;
  readonly #answers = new AnswerCache();
  /** Usernames known to the writing connection. All writes pass through it. */
  readonly #usernames: Usernames | undefined;
  /** Whether the previous run did not stop cleanly. */
  readonly uncleanStart: boolean;

  constructor(options: EngineOptions) {
    this.#options = options;
    const readonly = options.role === 'reader';
    const shared = readonly || options.file === ':memory:';
    this.#lock = shared ? undefined : new FolderLock(`${options.file}.lock`);
    this.#db = connect(options);
    this.uncleanStart = readonly ? false : this.#openForWriting();
    this.#usernames = readonly ? undefined : new Usernames(this.#db);
    this.#units = new UnitRunner(this.#db);
  }

  /**
   * Runs the units in order and returns one outcome per unit. Units that write share one transaction and one sync. A failed
   * unit does not affect the others; a failed commit fails every unit of the transaction. An empty list commits the units that
   * `runAhead` ran.
   */
  run(units: readonly Unit[]): readonly Outcome[] {
    const writes = units.some((unit) => isWrite(unit));
    if (!writes && this.#units.uncommitted.length === 0)
      return units.map((unit) => this.read(unit));
    this.#answers.written(units);
    this.#usernames?.written(units);
    return this.#units.together(units) ?? this.#units.apart(units);
  }

  /** Number of units that were answered but not committed. */
  get uncommitted(): number {
    return this.#units.uncommitted.length;
  }

  /**
   * Runs a unit that writes and answers it before its commit; the next `run` commits it. Returns undefined if the unit must go
   * through `run`.
   */
  runAhead(unit: Unit): Outcome | undefined {
    this.#answers.written([unit]);
    this.#usernames?.written([unit]);
    return this.#units.ahead(unit);
  }

  /** Answers a unit that only reads, between transactions. */
  read(unit: Unit): Outcome {
    if (this.#usernames?.isNobody(unit) === true) return { ok: true, value: undefined };
    return this.#answers.answer(unit, (requested) => this.#units.read(requested));
  }

  /**
   * Copies the write-ahead log into the database without blocking the writer. After a complete copy, the next transaction
   * restarts the log. Returns the length of the log in pages.
   */
  checkpoint(): number {
    const [row] = this.#db.raw.pragma('wal_checkpoint(PASSIVE)') as readonly Row[];
    return integer(row, 'log');
  }

  /** Writes a consistent copy to `path` without blocking the writer. */
  backup(path: string): void {
    this.#db.copyTo(path);
  }

  /**
   * Rewrites a database file that was deleted while it was open; the open connection still has all data. No other connection
   * may be open: when the last connection closes, SQLite deletes the log by the name of its database.
   */
  renew(): void {
    const { file } = this.#options;
    const draft = `${file}.new`;
    rmSync(draft, { force: true });
    makePrivate(draft);
    this.backup(draft);
    this.#db.close();
    for (const log of ['-wal', '-shm']) rmSync(file + log, { force: true });
    renameSync(draft, file);
    this.#lock?.release();
    makePrivate(`${file}.lock`);
    this.#lock = new FolderLock(`${file}.lock`);
    this.#db = connect(this.#options);
    const { uncommitted } = this.#units;
    this.#units = new UnitRunner(this.#db);
    this.#units.owe(uncommitted);
  }

  /** Sets or reads a SQLite setting of this connection (https://www.sqlite.org/pragma.html). */
  pragma(text: string): unknown {
    return this.#db.raw.pragma(text, { simple: true });
  }

  close(): void {
    if (!this.#db.readonly) {
      this.#db.run('DELETE FROM setting WHERE key = ?', [OPEN_MARK]);
      this.#db.raw.pragma('wal_checkpoint(TRUNCATE)');
    }
    this.#db.close();
    this.#lock?.release();
  }

  /** Returns true after an unclean stop. Only then is the file checked, because a check reads all of it. */
  #openForWriting(): boolean {
    migrate(this.#db);
    const settings = settingRepository(this.#db);
    const unclean = settings.get(OPEN_MARK) !== undefined;
    if (unclean) this.#checkIntegrity();
    proveKey(this.#db);
    settings.set(OPEN_MARK, 'yes');
    return unclean;
  }

  #checkIntegrity(): void {
    const verdict = this.#db.raw.pragma('quick_check(1)', { simple: true });
    if (verdict === 'ok') return;
    const error = new Error(String(verdict));
    throw Object.assign(error, { code: 'SQLITE_CORRUPT' });
  }
}

const connect = (options: EngineOptions): SqliteConnection =>
  new SqliteConnection({
    ...options,
    readonly: options.role === 'reader',
    vault: new Vault(options.key),
  });
