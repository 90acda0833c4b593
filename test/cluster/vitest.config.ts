import { defineConfig } from 'vitest/config';

/** Settings for `npm run cluster -- test`. Tests kill and stop processes, so they run sequentially. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    fileParallelism: false,
    pool: 'forks',
  },
});
