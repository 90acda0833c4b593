/**
 * Complete calls in virtual time with real audio: seeded stories with invariants checked at every step. `SIM_SEED` is
 * the first seed, `SIM_RUNS` the number of seeds; `npm run sim -- --seeds 300` runs many.
 */
import { describe, expect, it } from 'vitest';
import { run } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

const FIRST_SEED = Number(process.env['SIM_SEED'] ?? 1);
const RUNS = Number(process.env['SIM_RUNS'] ?? 1);
const MS_PER_RUN = 30_000;

describe('in a simulated world', () => {
  for (const scenario of SCENARIOS) {
    it(scenario.title, { timeout: MS_PER_RUN * RUNS }, async () => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) await run(scenario, seed);
    });
  }

  it('gives the same story for the same seed', async () => {
    for (const scenario of [...SCENARIOS.slice(0, 2), ...SCENARIOS.slice(-1)]) {
      expect(await run(scenario, FIRST_SEED)).toEqual(await run(scenario, FIRST_SEED));
    }
  });
});
