/**
 * `npm run bench -- [names…] [--quick] [--rates …]` runs the benchmarks sequentially. Each row includes the baseline or
 * peer measured in the same run. Prints a table and appends JSON lines to `bench/results/`, for comparisons of runs.
 */
import { execFileSync, fork } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isReached, type Row } from './row.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** All scenarios of calls, and those of two peers. */
const LONGEST_MS = 20 * 60_000;

/** Files with a `run`; the others are parts of them. */
function benches(): string[] {
  return readdirSync(HERE)
    .filter((file) => file.endsWith('.ts'))
    .filter((file) =>
      /^export (async )?function run\(/m.test(readFileSync(join(HERE, file), 'utf8')),
    )
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();
}

/** Options of configurable benchmarks. Each benchmark reads its options from the environment. */
const CHOICES = [
  'rates',
  'scenarios',
  'seconds',
  'rounds',
  'limit',
  'against',
  'scorer',
  'speech',
  'codecs',
  'networks',
  'paths',
] as const;

function measure(name: string, chosen: NodeJS.ProcessEnv): Promise<readonly Row[]> {
  const env = { ...process.env, ...chosen };
  const child = fork(join(HERE, 'child.ts'), [name], { env, timeout: LONGEST_MS });
  return new Promise((resolve, reject) => {
    child.once('message', (rows) => resolve(rows as readonly Row[]));
    child.once('exit', (code, signal) => reject(new Error(`ended with ${signal ?? code}`)));
  });
}

const number = (value: number | undefined): string =>
  value === undefined ? '' : value.toLocaleString('en', { maximumFractionDigits: 2 });

function goalOf(row: Row): string {
  const { goal } = row;
  if (goal === undefined) return '';
  const reached = isReached(row);
  const mark = reached === undefined ? '' : reached ? ' ✓' : ' ✗';
  return `goal ${goal.bound} ${goal.of === 'ratio' ? '×' : ''}${number(goal.limit)}${mark}`;
}

function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.name,
    number(row.value),
    row.unit,
    row.score === undefined ? '' : `score ${row.score.toFixed(2)}`,
    row.floor === undefined ? '' : `floor ${number(row.floor)}`,
    row.ratio === undefined ? '' : `×${number(row.ratio)}`,
    goalOf(row),
    row.note ?? '',
  ]);
  const widths = [0, 1, 2, 3, 4, 5, 6].map((i) =>
    Math.max(...cells.map((row) => row[i]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === 1 ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return cells.map((row) => `  ${line(row)}`).join('\n');
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      cwd: HERE,
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
}

function keep(name: string, rows: readonly Row[], quick: boolean): void {
  const at = new Date().toISOString();
  const [cpu] = cpus();
  const machine = { cpu: cpu?.model, cores: cpus().length, node: process.version };
  const run = { at, commit: commit(), quick, load: Number(loadavg()[0]?.toFixed(2)), ...machine };
  const lines = rows.map((row) => `${JSON.stringify({ ...run, bench: name, ...row })}\n`);
  const folder = join(HERE, 'results');
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${at.slice(0, 10)}.jsonl`), lines.join(''));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    ...Object.fromEntries(CHOICES.map((name) => [name, { type: 'string' as const }])),
  },
});
const quick = values.quick === true;
const chosen: NodeJS.ProcessEnv = quick ? { BENCH_QUICK: '1' } : {};
for (const name of CHOICES) {
  const value: unknown = Reflect.get(values, name);
  if (typeof value === 'string') chosen[`BENCH_${name.toUpperCase()}`] = value;
}
const all = benches();
const unknown = positionals.find((name) => !all.includes(name));
if (unknown !== undefined) {
  console.error(`there is no benchmark ${unknown}; there are ${all.join(', ')}`);
  process.exit(2);
}
let failed = 0;
for (const name of positionals.length === 0 ? all : positionals) {
  const startedMs = performance.now();
  try {
    const rows = await measure(name, chosen);
    console.log(
      `${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)\n${table(rows)}\n`,
    );
    keep(name, rows, quick);
  } catch (error) {
    failed += 1;
    console.error(`${name}: ${error instanceof Error ? error.message : error}\n`);
  }
}
process.exit(failed === 0 ? 0 : 1);
