import { statSync } from 'node:fs';
import { rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../base/errors.ts';

/** Less free space than this counts as a full disk: the next checkpoint or recording would use it up. */
const LEAST_FREE_BYTES = 1_048_576;
const PROBE_BYTES = 4096;

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

/**
 * Whether the data folder still takes files, and is still the one that holds the open database: SQLite itself goes on
 * writing into a file that has been deleted or moved away, and into space that it took before the disk became full.
 */
export class DiskCheck {
  readonly #file: string;
  readonly #folder: string;
  readonly #folderBefore: Identity;
  #fileBefore: Identity;

  constructor(file: string) {
    this.#file = file;
    this.#folder = dirname(file);
    this.#folderBefore = statSync(this.#folder);
    this.#fileBefore = statSync(file);
  }

  /** Rejects with STORE_FULL, STORE_GONE (the file alone is missing) or STORE_BUSY, and says why. */
  async run(): Promise<void> {
    const folder = await identity(this.#folder);
    if (folder === undefined) throw away('the data folder is gone');
    if (!same(folder, this.#folderBefore))
      throw away('another folder stands in place of the data folder');
    await this.#probe();
    const file = await identity(this.#file);
    if (file === undefined) throw new ServiceError('STORE_GONE', 'the database file is gone');
    if (!same(file, this.#fileBefore)) throw away('another file stands in place of the database');
  }

  /** The database has been written anew. */
  renewed(): void {
    this.#fileBefore = statSync(this.#file);
  }

  async #probe(): Promise<void> {
    const path = join(this.#folder, '.write-probe');
    try {
      const { bavail, bsize } = await statfs(this.#folder);
      if (bavail * bsize < LEAST_FREE_BYTES) throw Object.assign(new Error(), { code: 'ENOSPC' });
      await writeFile(path, Buffer.alloc(PROBE_BYTES), { mode: 0o600 });
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
      if (code === 'ENOSPC' || code === 'EDQUOT')
        throw new ServiceError('STORE_FULL', 'the disk of the data folder is full', { cause });
      throw away(`the data folder takes no files (${code})`, cause);
    } finally {
      await rm(path, { force: true }).catch(() => undefined); // the next probe writes over it
    }
  }
}

async function identity(path: string): Promise<Identity | undefined> {
  try {
    return await stat(path);
  } catch {
    return undefined;
  }
}

const same = (one: Identity, other: Identity): boolean =>
  one.dev === other.dev && one.ino === other.ino;

const away = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('STORE_BUSY', message, { cause });
