/**
 * Three nodes in virtual time, whose bus, database, network and clocks fail by chance: `npm run sim -- --cluster --seeds 2000` runs
 * many seeds. A failure names its seed.
 */
import { describe, expect, it } from 'vitest';
import { storm } from './storm.ts';

const SEEDS = 200;
/** Seeds of one test. */
const TOGETHER = 25;

describe('three nodes whose parts fail', () => {
  for (let from = 1; from <= SEEDS; from += TOGETHER) {
    const to = from + TOGETHER - 1;
    it(`leave books, records, slots and callbacks right: seeds ${from} to ${to}`, {
      timeout: 300_000,
    }, async () => {
      for (let seed = from; seed <= to; seed += 1) await storm(seed);
    });
  }

  it('the same seed tells the same story', { timeout: 60_000 }, async () => {
    expect(await storm(1)).toEqual(await storm(1));
  });
});
