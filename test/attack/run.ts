/**
 * `npm run attack -- [scenarios…] [--quick] [--seconds 60]` attacks the running service from unknown peers, on loopback only
 * and bounded in count and time. Each scenario runs a separate service with legitimate phones that register and call
 * before, during and after the attack. Prints the results, appends JSON lines to `bench/results/`, and exits with 1 if a
 * bound was violated.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fight } from './attack-run.ts';
import { type Figure, faultOf, type Scenario, shown } from './scenario.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const RESULTS = fileURLToPath(new URL('../../bench/results', import.meta.url));
const SECONDS = 60;
const QUICK_SECONDS = 10;
const SECONDS_MAX = 300;
/** Time between the attack and the final memory measurement, seconds. */
const REST_SECONDS = 300;
const QUICK_REST_SECONDS = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
  },
});
const all = readdirSync(join(HERE, 'scenarios'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();
const unknown = positionals.find((name) => !all.includes(name));
const seconds = Number(values.seconds ?? (values.quick ? QUICK_SECONDS : SECONDS));
if (unknown !== undefined || !(seconds >= 1 && seconds <= SECONDS_MAX)) {
  console.error(`scenarios: ${all.join(', ')}; --seconds from 1 to ${SECONDS_MAX}`);
  process.exit(2);
}
let broken = 0;
for (const name of positionals.length === 0 ? all : positionals) {
  const { scenario } = (await import(`./scenarios/${name}.ts`)) as { readonly scenario: Scenario };
  console.log(`\n${name}: ${scenario.about}`);
  try {
    const restSeconds = values.quick ? QUICK_REST_SECONDS : REST_SECONDS;
    const figures = await fight(scenario, { seconds, restSeconds, quick: values.quick });
    keep(name, figures);
    broken += notify(figures);
  } catch (error) {
    broken += 1;
    console.error(`  BROKE  ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(broken === 0 ? '\neverything held' : `\n${broken} things broke`);
process.exit(broken === 0 ? 0 : 1);

function notify(figures: readonly Figure[]): number {
  const width = Math.max(...figures.map(({ name }) => name.length));
  let faults = 0;
  for (const figure of figures) {
    const judged = figure.atLeast !== undefined || figure.atMost !== undefined;
    const fault = faultOf(figure);
    if (fault !== undefined) faults += 1;
    const mark = fault !== undefined ? 'BROKE' : judged ? 'held' : '';
    console.log(
      `  ${mark.padEnd(6)} ${figure.name.padEnd(width)}  ${shown(figure.value)} ${figure.unit}`,
    );
  }
  return faults;
}

function keep(name: string, figures: readonly Figure[]): void {
  const at = new Date().toISOString();
  const [cpu] = cpus();
  const run = {
    at,
    commit: commit(),
    quick: values.quick,
    seconds,
    load: Number(loadavg()[0]?.toFixed(2)),
    cpu: cpu?.model,
    cores: cpus().length,
    node: process.version,
  };
  const lines = figures.map(
    (figure) => `${JSON.stringify({ ...run, bench: `attack ${name}`, ...figure })}\n`,
  );
  mkdirSync(RESULTS, { recursive: true });
  appendFileSync(join(RESULTS, `${at.slice(0, 10)}.jsonl`), lines.join(''));
}

function commit(): string {
  try {
    const args = ['rev-parse', '--short', 'HEAD'];
    return execFileSync('git', args, { cwd: HERE, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
