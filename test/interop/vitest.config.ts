import { defineConfig } from 'vitest/config';

/**
 * Settings for `npm run interop`, tests against third-party programs. Files run sequentially because they measure audio
 * and time.
 */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.test.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    pool: 'forks',
  },
});
