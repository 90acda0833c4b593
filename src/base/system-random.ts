import { randomFillSync } from 'node:crypto';
import type { Random } from './ids.ts';

/** Number of random bytes fetched per system call, enough for about a hundred IDs. */
const POOL_BYTES = 4096;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

const WORDS = 2 ** 32;
const words = new Uint32Array(POOL_BYTES / 4);
let usedWords = words.length;

function nextWord(): number {
  if (usedWords === words.length) {
    randomFillSync(words);
    usedWords = 0;
  }
  const word = words[usedWords] ?? 0;
  words[usedWords] = 0;
  usedWords += 1;
  return word;
}

/** Cryptographic randomness of the running service. Only for edge and service; the pure layers receive theirs as a dependency. */
export const systemRandom: Random = {
  bytes(length) {
    if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
    if (used + length > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + length);
    // Erases returned bytes from the pool, because they may be secrets.
    pool.fill(0, used, used + length);
    used += length;
    return bytes;
  },
  integer(below) {
    // Rejects words above the last whole multiple of `below`, which would make small numbers more likely.
    const fair = WORDS - (WORDS % below);
    for (;;) {
      const word = nextWord();
      if (word < fair) return word % below;
    }
  },
};
