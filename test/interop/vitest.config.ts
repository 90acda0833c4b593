import { defineConfig } from 'vitest/config';

/** `npm run interop`: other people's programs against ours. One file at a time: they measure audio and time. */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    pool: 'forks',
  },
});
