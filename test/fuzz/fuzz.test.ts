/** Short and always the same; `npm run fuzz` goes on with other seeds. */
import { describe, expect, it } from 'vitest';
import { Mutator } from './mutator.ts';
import { TARGETS } from './targets.ts';

describe('bytes of strangers: any change of what is known is read, or refused, within its limits', () => {
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
