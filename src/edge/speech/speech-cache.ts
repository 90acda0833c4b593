import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SUFFIX = '.pcm';
const MAX_FILES = 10_000;

/** A disk cache of synthesized speech, keyed by a hash of its inputs. Evicts the least recently used entries. */
export class SpeechCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Sizes by key, least recently used first. */
  readonly #sizes = new Map<string, number>();
  #bytes = 0;
  #puts = 0;

  /** Loads the entries of earlier runs, oldest first. */
  static async open(folder: string, maxBytes: number): Promise<SpeechCache> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const cache = new SpeechCache(folder, maxBytes);
    const files = await Promise.all(
      (await readdir(folder)).map(async (name) => ({ name, ...(await facts(join(folder, name))) })),
    );
    files.sort((a, b) => a.modifiedMs - b.modifiedMs);
    for (const { name, size } of files) {
      // Other files are incomplete results of a run that was killed.
      if (name.endsWith(SUFFIX) && size !== undefined)
        cache.#note(name.slice(0, -SUFFIX.length), size);
      else await rm(join(folder, name), { force: true, recursive: true });
    }
    await cache.#trim();
    return cache;
  }

  private constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const size = this.#sizes.get(key);
    if (size === undefined) return undefined;
    this.#sizes.delete(key);
    this.#sizes.set(key, size);
    try {
      return new Uint8Array(await readFile(this.#path(key)));
    } catch {
      // The file was deleted manually, so the speech is synthesized again.
      this.#forget(key);
      return undefined;
    }
  }

  async put(key: string, samples: Uint8Array): Promise<void> {
    // Calls with the same new text store it at the same time.
    this.#puts += 1;
    const partial = join(this.#folder, `${key}.${this.#puts}.tmp`);
    try {
      // Synced, because a power failure must not leave an empty file under the final name.
      await writeFile(partial, samples, { mode: 0o600, flush: true });
      await rename(partial, this.#path(key));
    } catch (error) {
      // A part of it would occupy a full disk.
      await rm(partial, { force: true });
      throw error;
    }
    this.#note(key, samples.length);
    await this.#trim();
  }

  #note(key: string, size: number): void {
    this.#forget(key);
    this.#sizes.set(key, size);
    this.#bytes += size;
  }

  #forget(key: string): void {
    this.#bytes -= this.#sizes.get(key) ?? 0;
    this.#sizes.delete(key);
  }

  async #trim(): Promise<void> {
    for (const key of this.#sizes.keys()) {
      if (this.#bytes <= this.#maxBytes && this.#sizes.size <= MAX_FILES) break;
      this.#forget(key);
      await rm(this.#path(key), { force: true });
    }
  }

  #path(key: string): string {
    return join(this.#folder, key + SUFFIX);
  }
}

/** `size` is undefined for a file that was removed after the folder was listed, and for anything else than a file. */
async function facts(
  path: string,
): Promise<{ readonly size: number | undefined; readonly modifiedMs: number }> {
  const found = await stat(path).catch(() => undefined);
  return { size: found?.isFile() ? found.size : undefined, modifiedMs: found?.mtimeMs ?? 0 };
}
