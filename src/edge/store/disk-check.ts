import { statSync } from 'node:fs';
import { rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../base/errors.ts';

/** Free space, in bytes, below which the disk counts as full: the next checkpoint or recording would fill it. */
const LEAST_FREE_BYTES = 1_048_576;
const PROBE_BYTES = 4096;

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

/**
 * Checks that the data folder accepts files and still contains the open database. SQLite alone does not notice: it keeps
 * writing to a file that was deleted or moved, and into space that it allocated before the disk filled up.
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

  /** Rejects with STORE_FULL, STORE_GONE (only the file is missing) or STORE_BUSY; the message gives the reason. */
  async run(): Promise<void> {
    const folder = await identity(this.#folder);
    if (folder === undefined) throw unavailable('the data folder does not exist any more');
    if (!same(folder, this.#folderBefore))
      throw unavailable('the data folder was replaced by another folder');
    await this.#probe();
    const file = await identity(this.#file);
    if (file === undefined) throw new ServiceError('STORE_GONE', 'the database file was deleted');
    if (!same(file, this.#fileBefore))
      throw unavailable('the database file was replaced by another file');
  }

  /** Records that the database file was rewritten. */
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
      throw unavailable(`no file can be written to the data folder (${code})`, cause);
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

const unavailable = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('STORE_BUSY', message, { cause });
