import { renameSync, rmSync } from 'node:fs';
import { assert } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import { err } from '../../base/result.ts';
import { Connection, type Synchronous } from './connection.ts';
import { type Failure, toFailure } from './failure.ts';
import { FolderLock } from './folder-lock.ts';
import { migrate } from './migrate.ts';
import { makePrivate } from './private-file.ts';
import { type Immediate, LANES, type Lane, type Rooms } from './rooms.ts';
import { accountRoom, idempotencyRoom, partnerRoom, signingTokenRoom } from './sql/accounts.ts';
import { noteFalls } from './sql/balances.ts';
import { callRoom } from './sql/calls.ts';
import { callLogRoom, cdrRoom, retentionRoom } from './sql/cdrs.ts';
import {
  applicationRoom,
  bindingRoom,
  endpointDirectoryRoom,
  endpointRoom,
} from './sql/endpoints.ts';
import { ledgerRoom, rateRoom } from './sql/ledger.ts';
import { notificationRoom } from './sql/notifications.ts';
import { callerIdRoom, carrierRoom, numberRoom } from './sql/numbers.ts';
import { exportRoom, recordingRoom } from './sql/recordings.ts';
import { settingRoom } from './sql/settings.ts';
import { credentialRoom, ipAclRoom, originationUriRoom, trunkRoom } from './sql/trunks.ts';
import { UnitRefused } from './sql/unit-refused.ts';
import { Vault } from './vault.ts';

/** One verb to run: which, with what, and when it was asked for (microseconds UTC). */
export interface Unit {
  readonly room: string;
  readonly verb: string;
  readonly given: readonly unknown[];
  readonly nowUs: number;
}

export type Outcome =
  /** `lowBalance`: a balance fell below its threshold. */
  | { readonly ok: true; readonly value: unknown; readonly lowBalance?: boolean }
  | { readonly ok: false; readonly failure: Failure };

export interface EngineOptions {
  readonly file: string;
  readonly role: 'writer' | 'reader';
  readonly synchronous: Synchronous;
  readonly key: Uint8Array;
  readonly random: Random;
}

/** Says that the process that held the database did not close it. */
const OPEN_MARK = 'store.open';
/** Something sealed at the first start: tells a wrong key file at once, not in the middle of a call. */
const KEY_PROOF = 'store.keyProof';
const KEY_PROOF_TEXT = 'this key file belongs to this database';

/** All rooms over one connection; runs units of work, many in one transaction. */
export class Engine {
  readonly #options: EngineOptions;
  #db: Connection;
  #lock: FolderLock | undefined;
  #rooms: { readonly [R in keyof Rooms]: Immediate<Rooms[R]> };
  /** The last start was not followed by a clean stop. */
  readonly uncleanStart: boolean;

  constructor(options: EngineOptions) {
    this.#options = options;
    const readonly = options.role === 'reader';
    const shared = readonly || options.file === ':memory:';
    this.#lock = shared ? undefined : new FolderLock(`${options.file}.lock`);
    this.#db = connect(options);
    this.uncleanStart = readonly ? false : this.#openForWriting();
    this.#rooms = createRooms(this.#db);
  }

  /**
   * Runs the units in order and answers each on its own. Those that write share one transaction (one sync for all);
   * a savepoint each keeps a failed one from touching the others. A failed commit fails every unit of it.
   */
  run(units: readonly Unit[]): readonly Outcome[] {
    const writes = units.some((unit) => laneOf(unit) === 'write');
    if (!writes) return units.map((unit) => this.#attempt(unit));
    try {
      this.#db.run('BEGIN IMMEDIATE');
      const outcomes = units.map((unit) =>
        laneOf(unit) === 'write' ? this.#savepoint(unit) : this.#attempt(unit),
      );
      this.#db.run('COMMIT');
      return outcomes;
    } catch (error) {
      if (this.#db.raw.inTransaction) this.#db.run('ROLLBACK');
      const failure = toFailure(error);
      return units.map(() => ({ ok: false, failure }));
    }
  }

  /** A consistent copy, without holding up the writer. */
  backup(path: string): void {
    this.#db.run('VACUUM INTO ?', [path]);
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
    this.#rooms = createRooms(this.#db);
  }

  /** A setting of SQLite on this connection (https://www.sqlite.org/pragma.html). */
  pragma(text: string): unknown {
    return this.#db.raw.pragma(text, { simple: true });
  }

  close(): void {
    if (!this.#db.raw.readonly) {
      this.#db.run('DELETE FROM setting WHERE key = ?', [OPEN_MARK]);
      this.#db.raw.pragma('wal_checkpoint(TRUNCATE)');
    }
    this.#db.close();
    this.#lock?.release();
  }

  #savepoint(unit: Unit): Outcome {
    this.#db.run('SAVEPOINT unit');
    try {
      const value = this.#call(unit);
      const lowBalance = noteFalls(this.#db);
      this.#db.run('RELEASE unit');
      return { ok: true, value, lowBalance };
    } catch (error) {
      this.#db.touchedBalances.clear();
      // A full disk ends the whole transaction: nothing of this batch is there any more.
      if (!this.#db.raw.inTransaction) throw error;
      this.#db.run('ROLLBACK TO unit');
      this.#db.run('RELEASE unit');
      if (error instanceof UnitRefused) return { ok: true, value: err(error.refusal) };
      return { ok: false, failure: toFailure(error) };
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
    const room = this.#rooms[unit.room as keyof Rooms] as unknown as Record<
      string,
      (...given: readonly unknown[]) => unknown
    >;
    const verb = room[unit.verb];
    assert(verb !== undefined, `the store has no ${unit.room}.${unit.verb}`);
    this.#db.nowUs = unit.nowUs;
    return verb(...unit.given);
  }

  /** True after an unclean stop. The file is checked then, and only then: a check reads all of it. */
  #openForWriting(): boolean {
    migrate(this.#db);
    const settings = settingRoom(this.#db);
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
    const settings = settingRoom(this.#db);
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

function laneOf(unit: Unit): Lane {
  const lanes = LANES[unit.room as keyof Rooms] as Readonly<Record<string, Lane>>;
  return lanes[unit.verb] ?? 'write';
}

const createRooms = (db: Connection): { readonly [R in keyof Rooms]: Immediate<Rooms[R]> } => ({
  settings: settingRoom(db),
  accounts: accountRoom(db),
  partners: partnerRoom(db),
  idempotency: idempotencyRoom(db),
  signingTokens: signingTokenRoom(db),
  ledger: ledgerRoom(db),
  rates: rateRoom(db),
  applications: applicationRoom(db),
  endpoints: endpointRoom(db),
  endpointDirectory: endpointDirectoryRoom(db),
  bindings: bindingRoom(db),
  originationUris: originationUriRoom(db),
  trunks: trunkRoom(db),
  credentials: credentialRoom(db),
  ipAcls: ipAclRoom(db),
  numbers: numberRoom(db),
  carriers: carrierRoom(db),
  callerIds: callerIdRoom(db),
  calls: callRoom(db),
  cdrs: cdrRoom(db),
  callLogs: callLogRoom(db),
  retention: retentionRoom(db),
  notifications: notificationRoom(db),
  recordings: recordingRoom(db),
  exports: exportRoom(db),
});
