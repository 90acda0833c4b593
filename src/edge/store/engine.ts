import { renameSync, rmSync } from 'node:fs';
import { assert } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import { err } from '../../base/result.ts';
import { AnswerCache } from './answer-cache.ts';
import { Connection, integer, NO_NODE, type Row, type Synchronous } from './connection.ts';
import { toFailure } from './failure.ts';
import { FolderLock } from './folder-lock.ts';
import { migrate } from './migrate.ts';
import { makePrivate } from './private-file.ts';
import { ACCESS, type Access, type Repositories, type Synchronously } from './repositories.ts';
import {
  accountRepository,
  idempotencyRepository,
  partnerRepository,
  signingTokenRepository,
} from './sql/accounts.ts';
import { settleTouched } from './sql/balances.ts';
import { callRepository } from './sql/calls.ts';
import { campaignRepository } from './sql/campaigns.ts';
import { callLogRepository, cdrRepository, retentionRepository } from './sql/cdrs.ts';
import {
  applicationRepository,
  bindingRepository,
  endpointDirectoryRepository,
  endpointRepository,
} from './sql/endpoints.ts';
import { ledgerRepository, rateRepository } from './sql/ledger.ts';
import { nodeRepository } from './sql/nodes.ts';
import { notificationRepository } from './sql/notifications.ts';
import { callerIdRepository, carrierRepository, numberRepository } from './sql/numbers.ts';
import { phoneLoginRepository } from './sql/phone-logins.ts';
import { exportRepository, recordingRepository } from './sql/recordings.ts';
import { settingRepository } from './sql/settings.ts';
import { transcriptionRepository } from './sql/transcriptions.ts';
import {
  credentialRepository,
  ipAclRepository,
  originationUriRepository,
  trunkRepository,
} from './sql/trunks.ts';
import { UnitRefused } from './sql/unit-refused.ts';
import { userRepository } from './sql/users.ts';
import type { Outcome, Unit } from './unit.ts';
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

/** Says that the process that held the database did not close it. */
const OPEN_MARK = 'store.open';
/** Something sealed at the first start: tells a wrong key file at once, not in the middle of a call. */
const KEY_PROOF = 'store.keyProof';
const KEY_PROOF_TEXT = 'this key file belongs to this database';

/** All repositories over one connection; runs units of work, many in one transaction. */
export class Engine {
  readonly #options: EngineOptions;
  #db: Connection;
  #lock: FolderLock | undefined;
  #repositories: { readonly [R in keyof Repositories]: Synchronously<Repositories[R]> };
  readonly #answers = new AnswerCache();
  /** The last start was not followed by a clean stop. */
  readonly uncleanStart: boolean;

  constructor(options: EngineOptions) {
    this.#options = options;
    const readonly = options.role === 'reader';
    const shared = readonly || options.file === ':memory:';
    this.#lock = shared ? undefined : new FolderLock(`${options.file}.lock`);
    this.#db = connect(options);
    this.uncleanStart = readonly ? false : this.#openForWriting();
    this.#repositories = createRepositories(this.#db);
  }

  /**
   * Runs the units in order and answers each on its own. Those that write share one transaction (one sync for all). A
   * failed one does not touch the others; a failed commit fails every unit of it.
   */
  run(units: readonly Unit[]): readonly Outcome[] {
    const writes = units.some((unit) => isWrite(unit));
    if (!writes) return units.map((unit) => this.read(unit));
    this.#answers.written(units);
    return this.#together(units) ?? this.#apart(units);
  }

  /** Answers one that only reads; between transactions. */
  read(unit: Unit): Outcome {
    return this.#answers.answer(unit, (asked) => this.#attempt(asked));
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
    this.#repositories = createRepositories(this.#db);
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

  /** The usual case, in which no unit fails. Undefined: one of several units failed, and nothing was written. */
  #together(units: readonly Unit[]): readonly Outcome[] | undefined {
    try {
      this.#db.run('BEGIN IMMEDIATE');
      const outcomes = units.map((unit) =>
        isWrite(unit) ? this.#write(unit) : this.#attempt(unit),
      );
      this.#db.run('COMMIT');
      return outcomes;
    } catch (error) {
      this.#rollback();
      return units.length === 1 ? [outcomeOf(error)] : undefined;
    }
  }

  /** Each unit has a savepoint, so that a failed one does not undo the others. */
  #apart(units: readonly Unit[]): readonly Outcome[] {
    try {
      this.#db.run('BEGIN IMMEDIATE');
      const outcomes = units.map((unit) =>
        isWrite(unit) ? this.#savepoint(unit) : this.#attempt(unit),
      );
      this.#db.run('COMMIT');
      return outcomes;
    } catch (error) {
      this.#rollback();
      const failure = toFailure(error);
      return units.map(() => ({ ok: false, failure }));
    }
  }

  #rollback(): void {
    this.#db.undone();
    if (this.#db.raw.inTransaction) this.#db.run('ROLLBACK');
  }

  #write(unit: Unit): Outcome {
    const value = this.#call(unit);
    return { ok: true, value, lowBalance: settleTouched(this.#db) };
  }

  #savepoint(unit: Unit): Outcome {
    this.#db.run('SAVEPOINT unit');
    try {
      const outcome = this.#write(unit);
      this.#db.run('RELEASE unit');
      return outcome;
    } catch (error) {
      this.#db.undone();
      // A full disk ends the whole transaction: nothing of this batch is there any more.
      if (!this.#db.raw.inTransaction) throw error;
      this.#db.run('ROLLBACK TO unit');
      this.#db.run('RELEASE unit');
      return outcomeOf(error);
    }
  }

  #attempt(unit: Unit): Outcome {
    try {
      return { ok: true, value: this.#call(unit) };
    } catch (error) {
      return { ok: false, failure: toFailure(error) };
    }
  }

  #call(unit: Unit): unknown {
    const repository = this.#repositories[
      unit.repository as keyof Repositories
    ] as unknown as Record<string, (...given: readonly unknown[]) => unknown>;
    const operation = repository[unit.operation];
    assert(operation !== undefined, `the store has no ${unit.repository}.${unit.operation}`);
    this.#db.nowUs = unit.nowUs;
    this.#db.node = unit.node ?? NO_NODE;
    return operation(...unit.given);
  }

  /** True after an unclean stop. The file is checked then, and only then: a check reads all of it. */
  #openForWriting(): boolean {
    migrate(this.#db);
    const settings = settingRepository(this.#db);
    const unclean = settings.get(OPEN_MARK) !== undefined;
    if (unclean) this.#checkIntegrity();
    this.#proveKey();
    settings.set(OPEN_MARK, 'yes');
    return unclean;
  }

  #checkIntegrity(): void {
    const verdict = this.#db.raw.pragma('quick_check(1)', { simple: true });
    if (verdict === 'ok') return;
    const error = new Error(String(verdict));
    throw Object.assign(error, { code: 'SQLITE_CORRUPT' });
  }

  #proveKey(): void {
    const settings = settingRepository(this.#db);
    const proof = settings.get(KEY_PROOF);
    if (proof !== undefined) {
      this.#db.vault.open(Buffer.from(proof, 'base64'), KEY_PROOF);
      return;
    }
    const sealed = this.#db.vault.seal(KEY_PROOF_TEXT, KEY_PROOF);
    settings.set(KEY_PROOF, Buffer.from(sealed).toString('base64'));
  }
}

const connect = (options: EngineOptions): Connection =>
  new Connection({
    ...options,
    readonly: options.role === 'reader',
    vault: new Vault(options.key),
  });

function isWrite(unit: Unit): boolean {
  const kinds = ACCESS[unit.repository as keyof Repositories] as Readonly<Record<string, Access>>;
  const access = kinds[unit.operation] ?? 'write';
  return access === 'write' || access === 'soon';
}

const outcomeOf = (error: unknown): Outcome =>
  error instanceof UnitRefused
    ? { ok: true, value: err(error.refusal) }
    : { ok: false, failure: toFailure(error) };

const createRepositories = (
  db: Connection,
): { readonly [R in keyof Repositories]: Synchronously<Repositories[R]> } => ({
  settings: settingRepository(db),
  accounts: accountRepository(db),
  partners: partnerRepository(db),
  idempotency: idempotencyRepository(db),
  signingTokens: signingTokenRepository(db),
  ledger: ledgerRepository(db),
  rates: rateRepository(db),
  applications: applicationRepository(db),
  endpoints: endpointRepository(db),
  endpointDirectory: endpointDirectoryRepository(db),
  bindings: bindingRepository(db),
  phoneLogins: phoneLoginRepository(db),
  originationUris: originationUriRepository(db),
  trunks: trunkRepository(db),
  credentials: credentialRepository(db),
  ipAcls: ipAclRepository(db),
  numbers: numberRepository(db),
  carriers: carrierRepository(db),
  callerIds: callerIdRepository(db),
  calls: callRepository(db),
  cdrs: cdrRepository(db),
  callLogs: callLogRepository(db),
  retention: retentionRepository(db),
  notifications: notificationRepository(db),
  recordings: recordingRepository(db),
  transcriptions: transcriptionRepository(db),
  exports: exportRepository(db),
  campaigns: campaignRepository(db),
  users: userRepository(db),
  nodes: nodeRepository(db),
});
