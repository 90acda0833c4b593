/** Backups without a service: what one holds, whether it is whole, and putting it into a data folder. */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import type { LedgerFault } from '../../domain/ledger/types.ts';
import { integer, type Row, string } from './connection.ts';
import { Engine } from './engine.ts';
import { FolderLock } from './folder-lock.ts';
import { makeFolder } from './make-folder.ts';
import { listMigrations } from './migrate.ts';
import { verifyLedger } from './sql/ledger.ts';

export interface StoredRecording {
  /** Relative to the folder of recordings. */
  readonly file: string;
  readonly bytes: number;
}

export interface BackupFacts {
  readonly schemaVersion: number;
  /** The newest that this program knows. */
  readonly knownVersion: number;
  /** What SQLite finds wrong with the file; empty when it is whole. */
  readonly damage: readonly string[];
  readonly ledgerFaults: readonly LedgerFault[];
  readonly accounts: number;
  readonly calls: number;
  readonly entries: number;
  readonly recordings: readonly StoredRecording[];
}

const DATABASE = 'carillon.db';
const KEY = join('keys', 'store.key');
const LOGS = ['-wal', '-shm'];

/** Reads all of it. Throws STORE_CORRUPT for what is no database, NOT_FOUND for no file. */
export function examineBackup(file: string): BackupFacts {
  if (!existsSync(file)) throw new ServiceError('NOT_FOUND', `there is no file ${file}`);
  // A copy must not gain files beside it: SQLite would leave a log next to one that it opens for writing.
  const raw = openUnchanged(file);
  const knownVersion = listMigrations().at(-1)?.version ?? 0;
  try {
    const schemaVersion = Number(raw.pragma('user_version', { simple: true }));
    const verdicts = raw.pragma('integrity_check(20)') as { readonly integrity_check: string }[];
    const damage = verdicts.map((row) => row.integrity_check).filter((line) => line !== 'ok');
    if (schemaVersion === 0) throw corrupt(file, 'it is a database, but not of this service');
    const all = (sql: string): readonly Row[] => raw.prepare(sql).all() as Row[];
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
      recordings: all(
        "SELECT file, bytes FROM recording WHERE status = 'ready' ORDER BY added_us",
      ).map((row) => ({ file: string(row, 'file'), bytes: integer(row, 'bytes') })),
    };
  } catch (error) {
    throw error instanceof ServiceError ? error : corrupt(file, reasonOf(error));
  } finally {
    raw.close();
  }
}

function openUnchanged(file: string): Database.Database {
  try {
    return new Database(file, { readonly: true, fileMustExist: true });
  } catch (error) {
    throw corrupt(file, reasonOf(error));
  }
}

export interface RestoreRequest {
  readonly backup: string;
  readonly dataDir: string;
  /** Folder of the keys that belong to it; absent: those of the data folder. */
  readonly keys?: string | undefined;
  /** Whether a database that is there may be put aside. */
  readonly replace: boolean;
  /** Part of the name of what is put aside. */
  readonly stamp: string;
  readonly random: Random;
}

export interface Restored {
  readonly database: string;
  /** What was there before. */
  readonly putAside: string | undefined;
}

/**
 * Puts a backup into a data folder on which no service runs. It is brought to this version and tried with its keys first; only then
 * does it take the place of what is there. Rejects with STORE_BUSY, CONFLICT, STORE_VERSION or STORE_CORRUPT and has changed nothing.
 */
export function restoreBackup(request: RestoreRequest): Restored {
  const { backup, dataDir, keys, replace, random } = request;
  makeFolder(dataDir);
  const lock = new FolderLock(join(dataDir, `${DATABASE}.lock`));
  const target = join(dataDir, DATABASE);
  const draft = join(dataDir, `${DATABASE}.restoring`);
  try {
    if (existsSync(target) && !replace)
      throw new ServiceError('CONFLICT', `${target} is there; --replace puts it aside`);
    const key = readKey(keys === undefined ? join(dataDir, KEY) : join(keys, 'store.key'));
    clear(draft);
    copyFileSync(backup, draft);
    chmodSync(draft, 0o600);
    new Engine({
      file: draft,
      role: 'writer',
      synchronous: 'full',
      checkpoints: 'here',
      key,
      random,
    }).close();
    const putAside = existsSync(target) ? `${target}.before-${request.stamp}` : undefined;
    if (putAside !== undefined) aside(target, putAside);
    for (const log of LOGS) rmSync(target + log, { force: true });
    renameSync(draft, target);
    if (keys !== undefined) cpSync(keys, join(dataDir, 'keys'), { recursive: true });
    own(dataDir, [target, join(dataDir, 'keys'), join(dataDir, KEY)]);
    return { database: target, putAside };
  } finally {
    clear(draft);
    lock.release();
  }
}

/** Its log belongs to it: what was committed last stands there. */
function aside(target: string, to: string): void {
  const raw = new Database(target);
  raw.pragma('wal_checkpoint(TRUNCATE)');
  raw.pragma('journal_mode = DELETE');
  raw.close();
  renameSync(target, to);
}

function clear(draft: string): void {
  for (const more of ['', '.lock', ...LOGS]) rmSync(draft + more, { force: true });
}

function readKey(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new ServiceError(
      'NOT_FOUND',
      `there is no key file ${file}: without it tokens and SIP secrets of the backup cannot be read; name its folder with --keys`,
      { cause },
    );
  }
}

/** Whoever restores as root leaves the files to the user of the service. */
function own(dataDir: string, paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  for (const path of paths) chownSync(path, uid, gid);
}

const corrupt = (file: string, why: string): ServiceError =>
  new ServiceError('STORE_CORRUPT', `${file} is no usable database: ${why}`);

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
