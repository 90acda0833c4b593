/** Inspects and restores backups without a running service. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import { quantity } from '../../base/text.ts';
import type { LedgerFault } from '../../domain/ledger/types.ts';
import { integer, type Row, string } from './connection.ts';
import { Engine } from './engine.ts';
import { toFailure } from './failure.ts';
import { FolderLock } from './folder-lock.ts';
import { bootFileOf, examineLog } from './log-examination.ts';
import { makeFolder } from './make-folder.ts';
import { CHECKSUM_MARK } from './marks.ts';
import { listMigrations } from './migrate.ts';
import { hasChecksums, loadPageChecksums, recomputeChecksums } from './page-checksums.ts';
import { giveToFolderOwner, renameSynced, syncFile, syncFolder } from './private-file.ts';
import { verifyLedger } from './sql/ledger.ts';

export interface StoredRecording {
  /** File name, relative to the folder of recordings. */
  readonly file: string;
  readonly bytes: number;
}

export interface FileFacts {
  readonly schemaVersion: number;
  /** Newest schema version that this program supports. */
  readonly knownVersion: number;
  /** Damage that SQLite reports for the file. Empty if the file is intact. */
  readonly damage: readonly string[];
  readonly ledgerFaults: readonly LedgerFault[];
  readonly accounts: number;
  readonly calls: number;
  readonly entries: number;
}

export interface BackupFacts extends FileFacts {
  readonly recordings: readonly StoredRecording[];
}

const DATABASE = 'carillon.db';
const KEY = join('keys', 'store.key');
const LOGS = ['-wal', '-shm'];

/** Reads the whole file and lists its recordings. Throws STORE_CORRUPT if it is not a database, NOT_FOUND if it does not exist. */
export const examineBackup = (file: string): BackupFacts =>
  examined(file, (all) => ({
    recordings: all(
      "SELECT file, bytes FROM recording WHERE status = 'ready' ORDER BY added_us",
    ).map((row) => ({ file: string(row, 'file'), bytes: integer(row, 'bytes') })),
  }));

/** Like `examineBackup`, without the list of recordings, which may be large. */
export const examineFile = (file: string): FileFacts => examined(file, () => ({}));

type ReadAll = (sql: string) => readonly Row[];

function examined<More>(file: string, more: (all: ReadAll) => More): FileFacts & More {
  if (!existsSync(file)) throw new ServiceError('NOT_FOUND', `the file ${file} does not exist`);
  // Opens the copy without creating new files next to it. SQLite would add a log next to a file that it opens for writing.
  const raw = openUnchanged(file);
  const knownVersion = listMigrations().at(-1)?.version ?? 0;
  try {
    const schemaVersion = Number(raw.pragma('user_version', { simple: true }));
    const verdicts = raw.pragma('integrity_check(20)') as { readonly integrity_check: string }[];
    const damage = verdicts.map((row) => row.integrity_check).filter((line) => line !== 'ok');
    if (schemaVersion === 0) throw corrupt(file, 'it is not a database of this service');
    if (isMarked(raw) && !hasChecksums(raw)) damage.push('its header is damaged');
    const all: ReadAll = (sql) => raw.prepare(sql).all() as Row[];
    const count = (table: string): number =>
      integer(all(`SELECT COUNT(*) AS n FROM ${table}`)[0], 'n');
    return {
      schemaVersion,
      knownVersion,
      damage,
      ledgerFaults: damage.length === 0 ? verifyLedger({ all }) : [],
      accounts: count('account'),
      calls: count('cdr'),
      entries: count('entry'),
      ...more(all),
    };
  } catch (error) {
    throw error instanceof ServiceError ? error : corrupt(file, reasonOf(error));
  } finally {
    raw.close();
  }
}

/**
 * Throws STORE_CORRUPT if the log next to a database of a stopped service is damaged. Must run before anything opens the
 * database: SQLite would drop the damaged transactions, and with them the evidence in shared memory.
 */
export function requireWholeLog(file: string): void {
  const lost = examineLog(file, 'full');
  if (lost === undefined) return;
  const what = quantity(lost.count, 'transaction');
  throw corrupt(file, `its log is damaged, and the last ${what} cannot be read`);
}

const isMarked = (raw: Database.Database): boolean =>
  raw.prepare('SELECT 1 FROM setting WHERE key = ?').get(CHECKSUM_MARK) !== undefined;

function openUnchanged(file: string): Database.Database {
  loadPageChecksums();
  try {
    return new Database(file, { readonly: true, fileMustExist: true });
  } catch (error) {
    throw corrupt(file, reasonOf(error));
  }
}

export interface RestoreRequest {
  readonly backup: string;
  readonly dataDir: string;
  /** Folder with the key file of the backup. Default: the keys in the data folder. */
  readonly keys?: string | undefined;
  /** Whether an existing database may be moved aside. */
  readonly replace: boolean;
  /** Suffix of the names of files that are moved aside. */
  readonly stamp: string;
  readonly random: Random;
}

export interface Restored {
  readonly database: string;
  /** Path of the previous database, if there was one. */
  readonly putAside: string | undefined;
}

export interface Accepted {
  /** Number of lost transactions, or of pages whose checksum was wrong. */
  readonly faults: number;
  /** Path of the previous database; its log has the same name with `-wal`. */
  readonly copy: string;
  readonly facts: BackupFacts;
}

/**
 * Restores a backup into a data folder that no service uses. Migrates the backup to this version and tests it with its keys
 * before it replaces the existing database. Rejects with STORE_BUSY, CONFLICT, STORE_VERSION or STORE_CORRUPT without changing
 * anything.
 */
export function restoreBackup(request: RestoreRequest): Restored {
  const { backup, dataDir, keys, replace, random } = request;
  makeFolder(dataDir);
  const lock = new FolderLock(join(dataDir, `${DATABASE}.lock`));
  const target = join(dataDir, DATABASE);
  const draft = join(dataDir, `${DATABASE}.restoring`);
  try {
    if (existsSync(target) && !replace)
      throw new ServiceError('CONFLICT', `${target} exists; use --replace to move it aside`);
    const key = readKey(keys === undefined ? join(dataDir, KEY) : join(keys, 'store.key'));
    clear(draft);
    // A database that was moved aside has its latest transactions in its log.
    for (const part of ['', '-wal']) {
      if (!existsSync(backup + part)) continue;
      copyFileSync(backup + part, draft + part);
      chmodSync(draft + part, 0o600);
    }
    new Engine({
      file: draft,
      role: 'writer',
      synchronous: 'full',
      checkpoints: 'here',
      key,
      random,
    }).close();
    const putAside = existsSync(target) ? `${target}.before-${request.stamp}` : undefined;
    if (putAside !== undefined) moveAside(target, putAside);
    // A log without its database remains if an earlier restore was interrupted.
    moveLogs(target, `${target}.before-${request.stamp}`);
    renameSynced(draft, target);
    giveToFolderOwner(target);
    const ownKeys = join(dataDir, 'keys');
    if (keys !== undefined) cpSync(keys, ownKeys, { recursive: true });
    keepKeys(ownKeys);
    return { database: target, putAside };
  } finally {
    clear(draft);
    lock.release();
  }
}

/**
 * Makes keys readable for the owner of the data folder alone. Returns when they are on the disk: the restored
 * database is unreadable without them.
 */
function keepKeys(to: string): void {
  chmodSync(to, 0o700);
  giveToFolderOwner(to);
  for (const entry of readdirSync(to, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(to, entry.name);
    chmodSync(path, 0o600);
    giveToFolderOwner(path);
    syncFile(path);
  }
  syncFolder(to);
}

/**
 * Moves the database together with its log, which contains the latest commits. Either may be damaged, so nothing opens them.
 * The database is moved first, so a service that starts after an interruption does not open it without its log.
 */
function moveAside(target: string, to: string): void {
  renameSync(target, to);
  moveLogs(target, to);
}

function moveLogs(target: string, to: string): void {
  for (const log of LOGS) if (existsSync(target + log)) renameSync(target + log, to + log);
}

/**
 * Continues without the commits that a damaged log has lost: SQLite recovers the commits before the damage. Moves the previous files
 * aside. Throws CONFLICT if the log is intact, and STORE_CORRUPT if no database is left, without changing anything.
 */
export const acceptLoss = (dataDir: string, stamp: string): Accepted =>
  acceptDamage(dataDir, stamp, (file) => {
    const lost = examineLog(file, 'full');
    if (lost === undefined) throw new ServiceError('CONFLICT', `the log of ${file} is intact`);
    return lost.count;
  });

/**
 * Accepts pages that another program wrote without checksums. Otherwise like `acceptLoss`. The caller must check `facts` for
 * damage that SQLite or the ledger reports.
 */
export const acceptPages = (dataDir: string, stamp: string): Accepted =>
  acceptDamage(dataDir, stamp, (file, draft) => {
    const pages = recomputeChecksums(draft);
    if (pages === 0)
      throw new ServiceError('CONFLICT', `all pages of ${file} have the right checksum`);
    return pages;
  });

/** Replaces the database by a copy with the changes of its log. `repair` changes the copy and returns the number of faults. */
function acceptDamage(
  dataDir: string,
  stamp: string,
  repair: (file: string, draft: string) => number,
): Accepted {
  const lock = new FolderLock(join(dataDir, `${DATABASE}.lock`));
  const file = join(dataDir, DATABASE);
  const draft = `${file}.accepting`;
  try {
    if (!existsSync(file)) throw new ServiceError('NOT_FOUND', `the file ${file} does not exist`);
    clear(draft);
    for (const part of ['', '-wal'])
      if (existsSync(file + part)) copyFileSync(file + part, draft + part);
    const faults = repair(file, draft);
    emptyLog(draft);
    const facts = examineBackup(draft);
    const copy = `${file}.before-${stamp}`;
    moveAside(file, copy);
    renameSynced(draft, file);
    giveToFolderOwner(file);
    return { faults, copy, facts };
  } finally {
    clear(draft);
    lock.release();
  }
}

/** Copies the transactions of the log into the database file. */
function emptyLog(file: string): void {
  loadPageChecksums();
  const raw = new Database(file);
  raw.pragma('wal_checkpoint(TRUNCATE)');
  raw.close();
}

function clear(draft: string): void {
  const files = [draft, `${draft}.lock`, bootFileOf(draft), ...LOGS.map((log) => draft + log)];
  for (const file of files) rmSync(file, { force: true });
}

function readKey(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ServiceError(
      'NOT_FOUND',
      `the key file ${file} does not exist: without it tokens and SIP secrets of the backup cannot be read. Set its folder with --keys`,
      { cause },
    );
  }
}

const corrupt = (file: string, why: string): ServiceError =>
  new ServiceError('STORE_CORRUPT', `${file} is not a usable database: ${why}`);

const reasonOf = (error: unknown): string => toFailure(error).message;
