import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { openStore, type Store } from '../../../src/edge/store/store.ts';
import { SimClock } from '../../sim/clock.ts';

/** Generates the same IDs in every run: a linear congruential generator (constants from Numerical Recipes). */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24),
    integer: (below) => Math.floor((next() / 2 ** 32) * below),
  };
}

export interface OpenedStore {
  readonly store: Store;
  readonly clock: SimClock;
  readonly random: Random;
}

export async function openInMemory(clock = new SimClock()): Promise<OpenedStore> {
  return openAt(':memory:', clock);
}

export async function openAt(
  dataDir: string,
  clock = new SimClock(),
  random = seededRandom(),
  synchronous: 'normal' | 'full' = 'normal',
): Promise<OpenedStore> {
  const store = await openStore({
    dataDir,
    synchronous,
    logger: silentLogger,
    clock,
    random,
  });
  return { store, clock, random };
}

/** Calls `use` with a temporary folder and deletes it afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-store-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
