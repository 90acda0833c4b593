import { randomBytes, randomInt } from 'node:crypto';
import type { Random } from '../../base/ids.ts';

/** The system's randomness, for ids made on the store's own threads. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  integer: (below) => randomInt(below),
};
