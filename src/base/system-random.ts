import { randomFillSync } from 'node:crypto';
import type { Random } from './ids.ts';

/** One call to the system serves some hundred ids and tags. */
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

/** Cryptographic randomness of the running service. For edges and the roof alone: the pure floors are handed theirs. */
export const systemRandom: Random = {
  bytes(length) {
    if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
    if (used + length > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + length);
    // Bytes that were handed out may be secrets: no copy of them stays in memory.
    pool.fill(0, used, used + length);
    used += length;
    return bytes;
  },
  integer(below) {
    // Words above the last whole multiple of `below` would make small numbers likelier: they are drawn again.
    const fair = WORDS - (WORDS % below);
    for (;;) {
      const word = nextWord();
      if (word < fair) return word % below;
    }
  },
};
