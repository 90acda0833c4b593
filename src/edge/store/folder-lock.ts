import Database from 'better-sqlite3';
import { ServiceError } from '../../base/errors.ts';
import { giveToFolderOwner } from './private-file.ts';

/**
 * Prevents a second service from using the same data folder, where it would treat the running calls of the first as left over
 * from a crash. Holds an exclusive transaction on a separate, empty database. The operating system releases the lock when the
 * process ends, even after a crash.
 */
export class FolderLock {
  readonly #database: Database.Database;

  /** Throws STORE_BUSY when another process holds the lock, and STORE_CORRUPT when the lock file cannot be used. */
  constructor(file: string) {
    let database: Database.Database | undefined;
    try {
      database = new Database(file, { timeout: 0 });
      database.exec('BEGIN EXCLUSIVE');
      giveToFolderOwner(file);
    } catch (cause) {
      database?.close();
      throw lockError(file, cause);
    }
    this.#database = database;
  }

  release(): void {
    this.#database.close();
  }
}

function lockError(file: string, cause: unknown): ServiceError {
  const { code = '', message } = cause as { readonly code?: string; readonly message: string };
  if (code.startsWith('SQLITE_BUSY'))
    return new ServiceError('STORE_BUSY', `another service runs on this data folder (${file})`, {
      cause,
    });
  const advice =
    code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')
      ? 'the file is damaged and holds no data: delete it while no service runs'
      : message;
  return new ServiceError('STORE_CORRUPT', `${file} cannot be locked: ${advice}`, { cause });
}
