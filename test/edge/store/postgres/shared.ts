import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { systemRandom } from '../../../../src/base/system-random.ts';
import { systemClock } from '../../../../src/edge/clock/system-clock.ts';
import { openStore, type Store } from '../../../../src/edge/store/store.ts';

/** Data folders of nodes that share a database and therefore a key file. `remove` deletes them. */
export class Folders {
  #root: string | undefined;
  #first: string | undefined;

  /** Creates a folder with the keys of the first folder, or without keys. */
  next(keys: 'the same' | 'others' = 'the same'): string {
    this.#root ??= mkdtempSync(join(tmpdir(), 'carillon-nodes-'));
    const folder = mkdtempSync(join(this.#root, 'node-'));
    if (keys === 'the same' && this.#first !== undefined)
      cpSync(join(this.#first, 'keys'), join(folder, 'keys'), { recursive: true });
    this.#first ??= folder;
    return folder;
  }

  remove(): void {
    if (this.#root !== undefined) rmSync(this.#root, { recursive: true, force: true });
  }
}

export const openNode = (
  url: string,
  dataDir: string,
  spoolBytes = 10_000_000,
  clock: Clock = systemClock,
): Promise<Store> =>
  openStore({
    dataDir,
    synchronous: 'normal',
    postgres: { url, writers: 2, spoolBytes },
    logger: silentLogger,
    clock,
    random: systemRandom,
  });
