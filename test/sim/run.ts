/**
 * `node test/sim/run.ts --seeds 300 [--from 1] [--only text]` runs the scenarios with many seeds and reports every
 * failure. `--cluster` runs three nodes with failing components instead.
 */
import { parseArgs } from 'node:util';
import { storm } from './cluster/random-failures.ts';
import { run, type Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

/** Maximum number of different failures per scenario shown in full. */
const SHOWN = 3;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    cluster: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const seeds = Number(values.seeds);

interface Played {
  readonly title: string;
  readonly of: (seed: number) => Promise<unknown>;
}
const inWorld = (scenario: Scenario): Played => ({
  title: scenario.title,
  of: (seed) => run(scenario, seed),
});
const ALL: readonly Played[] = values.cluster
  ? [{ title: 'three nodes with failing components', of: storm }]
  : SCENARIOS.map(inWorld);
const chosen = ALL.filter(({ title }) => title.includes(values.only));
let failed = 0;
const startedMs = performance.now();
for (const scenario of chosen) {
  const failures: string[] = [];
  for (let seed = from; seed < from + seeds; seed += 1) {
    try {
      await scenario.of(seed);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  failed += failures.length;
  const mark = failures.length === 0 ? '✓' : '✗';
  console.log(`${mark} ${scenario.title}: ${seeds - failures.length} of ${seeds}`);
  for (const failure of failures.slice(0, SHOWN)) console.log(failure);
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
console.log(`\n${chosen.length} scenarios, ${seeds} seeds each, ${failed} failed, ${seconds} s`);
process.exit(failed === 0 ? 0 : 1);
