/** Several judged runs at the same time, each with its own seed, network namespace and temporary folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url));
const MINUTES_PER_HOUR = 60;
/** Namespaces of a run as root. The end of the run ends all its processes. */
const SPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** Starts the program that follows, with loopback. */
const WITH_LOOPBACK = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

/** Result of one run: the file `summary.json` of its folder. */
export interface Summary {
  readonly nodes: number;
  readonly seed: number;
  /** Measured duration from the first call to the last check. */
  readonly minutes: number;
  readonly faults: number;
  readonly calls: number;
  /** How often the machine was busy. */
  readonly late: number;
  readonly violations: number;
}

export interface ParallelOptions {
  readonly count: number;
  /** Number of nodes of each run, in turn. */
  readonly nodes: readonly number[];
  readonly minutes: number;
  /** Seed of the first run. */
  readonly seed: number;
  readonly out: string;
  /** Part of the names of the injected faults. */
  readonly faults: string;
}

export const textOf = ({
  nodes,
  seed,
  minutes,
  faults,
  calls,
  late,
  violations,
}: Summary): string =>
  `${violations === 0 ? '✓' : '✗'} ${nodes} node(s), seed ${seed}: ${minutes.toFixed(1)} min, ${faults} faults, ` +
  `${calls} answered calls, busy ${late} times, ${violations} violations`;

/** Runs all, prints a line for each and the sum, and returns whether no run failed. */
export async function inParallel(options: ParallelOptions): Promise<boolean> {
  const { count, nodes, seed, out, minutes, faults } = options;
  const isOwn = hasNamespaces();
  if (!isOwn) console.log('Without network namespaces, the runs share the ports of loopback.');
  const runs = Array.from({ length: count }, (_, at) => ({
    at,
    seed: seed + at,
    nodes: nodes[at % nodes.length] ?? 1,
    folder: join(out, String(seed + at)),
  }));
  const children: ChildProcess[] = [];
  const end = (): void => {
    // unshare ignores SIGTERM; SIGKILL also ends its children.
    for (const child of children) child.kill(isOwn ? 'SIGKILL' : 'SIGTERM');
  };
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.once(signal, end);
  const done = await Promise.all(
    runs.map(async (run) => {
      const temporary = join(tmpdir(), `carillon-judge-${process.pid}-${run.at}`);
      for (const folder of [run.folder, temporary]) mkdirSync(folder, { recursive: true });
      // As root, PostgreSQL runs under another user, which must be able to enter the folder.
      chmodSync(temporary, 0o755);
      const child = started(run, { minutes, faults, isOwn, temporary });
      children.push(child);
      await once(child, 'close');
      rmSync(temporary, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
      const summary = summaryIn(run.folder);
      console.log(
        summary === undefined
          ? `✗ ${run.nodes} node(s), seed ${run.seed}: the run failed, see ${join(run.folder, 'log')}`
          : textOf(summary),
      );
      return summary;
    }),
  );
  const judged = done.reduce((sum, one) => sum + (one?.minutes ?? 0), 0);
  const failed = done.filter((one) => one === undefined || one.violations > 0).length;
  console.log(
    `${failed === 0 ? '✓' : '✗'} ${count} runs, ${(judged / MINUTES_PER_HOUR).toFixed(2)} hours of checked ` +
      `histories, ${failed} failed. Histories: ${out}`,
  );
  return failed === 0;
}

function started(
  { at, seed, nodes, folder }: { at: number; seed: number; nodes: number; folder: string },
  {
    minutes,
    faults,
    isOwn,
    temporary,
  }: { minutes: number; faults: string; isOwn: boolean; temporary: string },
): ChildProcess {
  const given = { nodes, minutes, seed, out: folder, faults };
  const args = Object.entries(given).map(([name, value]) => `--${name}=${value}`);
  const run = [process.execPath, RUN, ...args];
  const [program = '', ...rest] = isOwn ? ['unshare', ...SPACES, ...WITH_LOOPBACK, ...run] : run;
  // The number selects a range of ports (`test/e2e/service.ts`).
  const env = { ...process.env, TMPDIR: temporary, VITEST_POOL_ID: String(at) };
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const log = createWriteStream(join(folder, 'log'));
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  child.once('close', () => log.end());
  return child;
}

const hasNamespaces = (): boolean =>
  process.getuid?.() === 0 &&
  spawnSync('unshare', [...SPACES, ...WITH_LOOPBACK, 'true'], { stdio: 'ignore' }).status === 0;

function summaryIn(folder: string): Summary | undefined {
  const file = join(folder, 'summary.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Summary) : undefined;
}
