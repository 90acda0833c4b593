/**
 * `node test/sim/run.ts --seeds 300 [--from 1] [--only text]` runs the scenarios with many seeds and reports every
 * failure. `--cluster` runs three nodes with failing components instead: `--together 2` begins two faults at the same time,
 * `--mixed` has a node of an earlier version. `--nightly` runs single faults, pairs and triples, each with equal and with
 * mixed versions. Cluster runs print how often each fault began in each state.
 */
import { parseArgs } from 'node:util';
import { numberOption, SEED } from '../number-option.ts';
import { Coverage } from './cluster/coverage.ts';
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
    together: { type: 'string', default: '1' },
    mixed: { type: 'boolean', default: false },
    nightly: { type: 'boolean', default: false },
  },
});
const from = numberOption('from', values.from, SEED);
const seeds = numberOption('seeds', values.seeds, { least: 1, most: 1_000_000_000 });
const simultaneous = numberOption('together', values.together, { least: 1, most: 3 });

interface Played {
  readonly title: string;
  readonly of: (seed: number) => Promise<unknown>;
}
const inWorld = (scenario: Scenario): Played => ({
  title: scenario.title,
  of: (seed) => run(scenario, seed),
});
const coverage = new Coverage();
const inCluster = (together: number, mixed: boolean): Played => ({
  title: `three nodes${mixed ? ' of two versions' : ''} with failing components, ${together} at a time`,
  of: (seed) => storm(seed, { together, mixed, coverage }),
});
const NIGHTLY = [1, 2, 3].flatMap((together) => [
  inCluster(together, false),
  inCluster(together, true),
]);
const clusters = values.nightly ? NIGHTLY : [inCluster(simultaneous, values.mixed)];
const isCluster = values.cluster || values.nightly;
const ALL: readonly Played[] = isCluster ? clusters : SCENARIOS.map(inWorld);
const chosen = ALL.filter(({ title }) => title.includes(values.only));
if (chosen.length === 0) {
  console.error(`no scenario has '${values.only}' in its title`);
  process.exit(2);
}
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
if (isCluster) console.log(`\n${coverage}`);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
console.log(`\n${chosen.length} scenarios, ${seeds} seeds each, ${failed} failed, ${seconds} s`);
process.exit(failed === 0 ? 0 : 1);
