import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Without real time: they run next to the builds. */
const PURE = 'test/{base,protocol,domain}/**/*.test.ts';

/**
 * Other files of the same worker would change their results: they count what is in memory, or advance the timers of the
 * process by days, which would run a repeated timer of another file millions of times.
 */
const ALONE = [
  'test/service/memory.test.ts',
  'test/edge/sip/call-memory.test.ts',
  'test/edge/clock/system-clock.test.ts',
];

/** They take a minute each and check what rarely changes: only with `npm run test:all`, and if they are named. */
const THOROUGH = ['test/docs/site.test.ts', 'test/docs/extensions.test.ts'];

/**
 * Small files that run for long: they begin first, or one core would end the run alone. Those without audio are the first,
 * because the native tests run next to them.
 */
const LONG = [
  ...['sim/', 'upgrade/', 'crash/crash', 'docs/', 'e2e/', 'rehearse/', 'edge/cluster/', 'edge/store/'],
  ...['cli/stream-test', 'agent/', 'deploy/', 'conformance-'],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((part) => moduleId.includes(`/test/${part}`));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    // Limits for a busy machine, on which checks of audio are repeated (`test/on-time.ts`). A test fails sooner if an
    // expectation does. No file sets a lower limit.
    testTimeout: 240_000,
    hookTimeout: 120_000,
    // Tests in real time wait, so that two cores serve three workers. More workers fail such tests on slow machines.
    maxWorkers: 3,
    globalSetup: 'test/postgres-end.ts',
    pool: 'forks',
    // Files share the modules of their worker, which halves the processor time of the run: no test changes global state.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // For the programs and threads that tests start, as `npm start` does.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'build', 'compile-cache') },
    projects: [
      { extends: true, test: { name: 'pure', include: [PURE] } },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...[PURE, ...ALONE, 'test/interop/**', 'test/cluster/**', 'node_modules/**'],
            ...(process.env['THOROUGH'] === '1' ? [] : THOROUGH),
          ],
        },
      },
    ],
  },
});
