import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import { quantity } from '../../base/text.ts';
import { AnswerCache } from './answer-cache.ts';
import { integer, type Row } from './connection.ts';
import { FolderLock } from './folder-lock.ts';
import { proveKey } from './key-proof.ts';
import { examineLog, type LostCommits, rememberBoot } from './log-examination.ts';
import { CHECKSUM_MARK, ERASURE_MARK, OPEN_MARK } from './marks.ts';
import { migrate } from './migrate.ts';
import { hasChecksums } from './page-checksums.ts';
import { makePrivate, renameSynced, syncFile } from './private-file.ts';
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
  /** Commits that a power failure may have removed from the log. */
  readonly lostCommits: LostCommits | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    const readonly = options.role === 'reader';
    const shared = readonly || options.file === ':memory:';
    this.#lock = shared ? undefined : new FolderLock(`${options.file}.lock`);
    try {
      this.lostCommits = shared ? undefined : requireWholeLog(options);
      this.#db = connect(options);
      this.uncleanStart = readonly ? false : this.#openForWriting();
    } catch (error) {
      this.#lock?.release();
      throw error;
    }
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

  /** Empties the write-ahead log if no other connection reads. Returns whether it is empty. */
  emptyLog(): boolean {
    return this.#db.emptyLog();
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
    this.#rewrite();
    this.#lock?.release();
    makePrivate(`${file}.lock`);
    this.#lock = new FolderLock(`${file}.lock`);
    const { uncommitted } = this.#units;
    this.#units = new UnitRunner(this.#db);
    this.#units.owe(uncommitted);
  }

  /** Replaces the database file by a copy, and opens the copy. The log must have no content that the file lacks. */
  #rewrite(): void {
    this.#copyToDraft();
    this.#openDraft();
  }

  #copyToDraft(): void {
    const draft = draftOf(this.#options);
    rmSync(draft, { force: true });
    makePrivate(draft);
    try {
      this.backup(draft);
      syncFile(draft);
    } catch (error) {
      rmSync(draft, { force: true }); // it would keep a full disk full
      throw error;
    }
  }

  #openDraft(): void {
    const { file } = this.#options;
    this.#db.close();
    for (const log of ['-wal', '-shm']) rmSync(file + log, { force: true });
    renameSynced(draftOf(this.#options), file);
    this.#db = connect(this.#options);
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
    this.#requireChecksums();
    this.#finishErasure();
    settingRepository(this.#db).set(OPEN_MARK, 'yes');
    return unclean;
  }

  /** Rewrites a database of an earlier version, so that its pages have checksums. */
  #requireChecksums(): void {
    const { file } = this.#options;
    if (file === ':memory:') return;
    const settings = settingRepository(this.#db);
    if (!hasChecksums(this.#db.raw)) {
      if (settings.get(CHECKSUM_MARK) !== undefined)
        throw damaged('the header of the database file is damaged');
      this.#db.raw.pragma('wal_checkpoint(TRUNCATE)');
      this.#rewrite();
    }
    settingRepository(this.#db).set(CHECKSUM_MARK, 'yes');
  }

  /**
   * Rewrites the file after an erasure of personal data: pages that SQLite has reorganized can contain copies of erased
   * content, also of content that an earlier version deleted. Without space for the copy, a later start does it.
   */
  #finishErasure(): void {
    if (settingRepository(this.#db).get(ERASURE_MARK) === undefined) return;
    this.#db.raw.pragma('wal_checkpoint(TRUNCATE)');
    try {
      this.#copyToDraft();
    } catch {
      return;
    }
    this.#openDraft();
    this.#db.run('DELETE FROM setting WHERE key = ?', [ERASURE_MARK]);
  }

  #checkIntegrity(): void {
    const verdict = this.#db.raw.pragma('quick_check(1)', { simple: true });
    if (verdict === 'ok') return;
    throw damaged(String(verdict));
  }
}

/** Throws STORE_CORRUPT if the log lost commits although no power failure can be the reason. */
function requireWholeLog({ file, synchronous }: EngineOptions): LostCommits | undefined {
  const lost = examineLog(file, synchronous);
  if (lost?.isDamage === true)
    throw new ServiceError(
      'STORE_CORRUPT',
      `the log of the database is damaged, and the last ${quantity(lost.count, 'transaction')} cannot be read: ` +
        `restore a backup, or continue without these transactions with: carillon --data-dir ${dirname(file)} restore --accept-loss`,
    );
  rememberBoot(file);
  return lost;
}

const draftOf = ({ file }: EngineOptions): string => `${file}.new`;

const damaged = (reason: string): Error =>
  Object.assign(new Error(reason), { code: 'SQLITE_CORRUPT' });

const connect = (options: EngineOptions): SqliteConnection =>
  new SqliteConnection({
    ...options,
    readonly: options.role === 'reader',
    vault: new Vault(options.key),
  });
