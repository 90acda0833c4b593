import { randomBytes, randomInt } from 'node:crypto';
import type { Random } from '../../base/ids.ts';

/** Cryptographic randomness of the running service. */
export const systemRandom: Random = {
  bytes: (length) => new Uint8Array(randomBytes(length)),
  integer: (below) => randomInt(below),
};
