import Database from 'better-sqlite3';
import { ServiceError } from '../../base/errors.ts';

/**
 * Keeps a second service out of a data folder: it would take the running calls of the first for left-overs of a
 * crash. An exclusive transaction on an empty database of its own; the system releases it with the process, however
 * that ends.
 */
export class FolderLock {
  readonly #database: Database.Database;

  /** Throws STORE_BUSY when another process has it. */
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
