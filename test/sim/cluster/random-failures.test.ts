/**
 * Three nodes in virtual time with random failures of bus, database, network and clocks. `npm run sim -- --cluster
 * --seeds 2000` runs many seeds; a failure names its seed.
 */
import { describe, expect, it } from 'vitest';
import { isThorough } from '../../thorough.ts';
import { storm } from './random-failures.ts';

const SEEDS = isThorough ? 75 : 50;
/** Number of seeds in one test. */
const TOGETHER = 25;

describe('three nodes with failing components', () => {
  for (let from = 1; from <= SEEDS; from += TOGETHER) {
    const to = from + TOGETHER - 1;
    it(`keep books, records, slots and callbacks correct: seeds ${from} to ${to}`, {
      timeout: 300_000,
    }, async () => {
      let answered = 0;
      for (let seed = from; seed <= to; seed += 1) {
        const story = await storm(seed);
        answered += story.filter((line) => line.endsWith(' answered')).length;
      }
      // Liveness: the failures leave most seeds with several answered calls.
      expect(answered).toBeGreaterThan(2 * TOGETHER);
    });
  }

  it('give the same story for the same seed', { timeout: 60_000 }, async () => {
    expect(await storm(1)).toEqual(await storm(1));
  });
});
