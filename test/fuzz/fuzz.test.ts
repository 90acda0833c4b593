/** A short, deterministic fuzz test. `npm run fuzz` uses other seeds. */
import { describe, expect, it } from 'vitest';
import { Mutator } from './mutator.ts';
import { TARGETS } from './targets.ts';

describe('parsers of untrusted bytes accept or refuse any mutated input within their limits', () => {
  it.each(TARGETS)('$name', { timeout: 30_000 }, async (target) => {
    const seeds = await target.seeds();
    const mutator = new Mutator(7);
    for (let run = 0; run < target.runs; run += 1) {
      const input = mutator.next(seeds);
      await expect(
        target.run(input),
        `input ${Buffer.from(input).toString('hex').slice(0, 2000)}`,
      ).resolves.toBeUndefined();
    }
  });
});
