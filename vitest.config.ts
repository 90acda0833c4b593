import { defineConfig } from 'vitest/config';

/** Sans-I/O and without state of a process: their files share a worker, which saves a start for each. */
const PURE = 'test/{base,protocol}/**/*.test.ts';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'pure', include: [PURE], isolate: false } },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: [PURE, 'test/interop/**', 'node_modules/**'],
        },
      },
    ],
  },
});
