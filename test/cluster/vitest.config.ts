import { defineConfig } from 'vitest/config';

/** `npm run cluster -- test`: processes are killed and stopped here, one story at a time. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    fileParallelism: false,
    pool: 'forks',
  },
});
