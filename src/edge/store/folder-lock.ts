import Database from 'better-sqlite3';
import { ServiceError } from '../../base/errors.ts';

/**
 * Prevents a second service from using the same data folder, where it would treat the running calls of the first as left over
 * from a crash. Holds an exclusive transaction on a separate, empty database. The operating system releases the lock when the
 * process ends, even after a crash.
 */
export class FolderLock {
  readonly #database: Database.Database;

  /** Throws STORE_BUSY when another process holds the lock. */
  constructor(file: string) {
    this.#database = new Database(file, { timeout: 0 });
    try {
      this.#database.exec('BEGIN EXCLUSIVE');
    } catch (cause) {
      this.#database.close();
      throw new ServiceError('STORE_BUSY', `another service runs on this data folder (${file})`, {
        cause,
      });
    }
  }

  release(): void {
    this.#database.close();
  }
}
