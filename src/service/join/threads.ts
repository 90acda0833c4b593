import { availableParallelism } from 'node:os';

/** Number of threads for a setting whose 0 selects the default: all cores except one, which serves everything else. */
export const threadsOf = (wanted: number): number =>
  wanted === 0 ? Math.max(1, availableParallelism() - 1) : wanted;
