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
  /** Who copies the write-ahead log into the database: `here`, the writer as it commits, or a call of `checkpoint`. */
  readonly checkpoints: 'here' | 'elsewhere';
  readonly key: Uint8Array;
  readonly random: Random;
}

/** All repositories over one connection; runs units of work, many in one transaction. */
export class Engine {
  readonly #options: EngineOptions;
  #db: SqliteConnection;
  #lock: FolderLock | undefined;
  #units: UnitRunner;
  readonly #answers = new AnswerCache();
  /** Of the writing connection, which all that is written passes. */
  readonly #usernames: Usernames | undefined;
  /** The last start was not followed by a clean stop. */
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
   * Runs the units in order and answers each on its own. Those that write share one transaction (one sync for all). A
   * failed one does not touch the others; a failed commit fails every unit of it. Without any: what was run ahead is committed.
   */
  run(units: readonly Unit[]): readonly Outcome[] {
    const writes = units.some((unit) => isWrite(unit));
    if (!writes && this.#units.uncommitted.length === 0)
      return units.map((unit) => this.read(unit));
    this.#answers.written(units);
    this.#usernames?.written(units);
    return this.#units.together(units) ?? this.#units.apart(units);
  }

  /** Units that were answered and are not committed. */
  get uncommitted(): number {
    return this.#units.uncommitted.length;
  }

  /** Runs one that writes before its commit, which the next `run` brings; undefined: it is to be run as the others. */
  runAhead(unit: Unit): Outcome | undefined {
    this.#answers.written([unit]);
    this.#usernames?.written([unit]);
    return this.#units.ahead(unit);
  }

  /** Answers one that only reads; between transactions. */
  read(unit: Unit): Outcome {
    if (this.#usernames?.isNobody(unit) === true) return { ok: true, value: undefined };
    return this.#answers.answer(unit, (asked) => this.#units.read(asked));
  }

  /**
   * Copies what the write-ahead log holds into the database, without holding up the writer; once all of it is copied, the
   * next transaction begins the log anew. Returns the pages of the log.
   */
  checkpoint(): number {
    const [row] = this.#db.raw.pragma('wal_checkpoint(PASSIVE)') as readonly Row[];
    return integer(row, 'log');
  }

  /** A consistent copy, without holding up the writer. */
  backup(path: string): void {
    this.#db.copyTo(path);
  }

  /**
   * The file was deleted under the open connection, which still has everything: it is written anew where it belongs. No
   * other connection may be open: SQLite deletes the log of a database by its name when the last one closes.
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

  /** A setting of SQLite on this connection (https://www.sqlite.org/pragma.html). */
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

  /** True after an unclean stop. The file is checked then, and only then: a check reads all of it. */
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
