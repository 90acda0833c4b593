/** Profiles in a separate network namespace and prints the result; see bench/profile.ts. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { HeapProfiler, Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { callsOptions } from '../calls/options.ts';
import { Rig } from '../calls/rig.ts';
import { describe } from '../calls/step.ts';
import { allocations } from './allocations.ts';
import { Perf } from './perf.ts';
import { type Spent, selfTime } from './self-time.ts';

const SHOWN = 30;
const WRITE_LIMIT_MS = 20_000;
const PERF_LINES = 45;
/** Started with the service, in this order: the main thread, the store's threads, others when they are first needed. */
const THREADS = ['main thread', 'store writer', 'store reader'];

function print(title: string, spent: readonly Spent[], calls: number): void {
  console.log(`\n${title} a call`);
  for (const { name, amount } of spent.slice(0, SHOWN))
    if (amount / calls >= 0.005)
      console.log(`  ${(amount / calls).toFixed(3).padStart(7)}  ${name}`);
}

function printAllocations(file: string, calls: number): void {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as HeapProfiler.SamplingHeapProfile;
  const { functions, areas, total } = allocations(profile);
  const kib = (spent: readonly Spent[]) =>
    spent.map(({ name, amount }) => ({ name, amount: amount / 1024 }));
  const all = (total / 1024 / calls).toFixed(0);
  console.log(`\n== main thread: ${all} KiB allocated a call (${file})`);
  console.log('what Node, packages and V8 allocate counts for the function of ours that asked');
  print('areas, KiB', kib(areas), calls);
  print('functions, KiB', kib(functions), calls);
}

function printThread(file: string, calls: number): void {
  const number = Number.parseInt(file.split('/').at(-1) ?? '', 10);
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profiler.Profile;
  const { functions, areas, totalMs } = selfTime(profile);
  const title = THREADS[number] ?? `thread ${number}`;
  console.log(`\n== ${title}: ${(totalMs / calls).toFixed(2)} ms a call (${file})`);
  print('areas, ms by self time', areas, calls);
  print('functions, ms by self time', functions, calls);
}

/** The threads write when they come to it. */
async function written(folder: string, least: number): Promise<readonly string[]> {
  const deadlineMs = performance.now() + WRITE_LIMIT_MS;
  for (;;) {
    const files = readdirSync(folder).sort(
      (a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10),
    );
    await pause(1000);
    const settled = readdirSync(folder).length === files.length && files.length >= least;
    if (settled || performance.now() > deadlineMs) return files.map((file) => join(folder, file));
  }
}

async function profile(folder: string, profiles: string): Promise<void> {
  const { roots, scenarios, rates, seconds } = callsOptions(process.env);
  const [root = '.', rate = 100] = [roots[0], rates[0]];
  const kind = scenarios[0] === 'trunk' ? 'trunk' : 'whole';
  const nodeOptions = ['--import', fileURLToPath(new URL('./hook.ts', import.meta.url))];
  const env = { BENCH_PROFILES: profiles };
  const rig = await Rig.start({ root, folder, kind, nodeOptions, env });
  try {
    const ofMemory = process.env['BENCH_ALLOCATIONS'] !== undefined;
    const perf = ofMemory ? undefined : Perf.start(rig.service.pid, join(profiles, 'perf.data'));
    rig.service.signal('SIGUSR2');
    const one = await rig.step(rate, seconds);
    rig.service.signal('SIGUSR2');
    await perf?.stop();
    console.log(
      `${kind} calls, ${rate}/s: ${one.msPerCall.toFixed(2)} ms of CPU a call with the profilers; ${describe(one)}`,
    );
    for (const file of await written(profiles, ofMemory ? 1 : THREADS.length)) {
      if (file.endsWith('.cpuprofile')) printThread(file, one.calls);
      if (file.endsWith('.heapprofile')) printAllocations(file, one.calls);
    }
    if (ofMemory) return;
    console.log('\n== all threads, share of CPU by thread and library');
    console.log((perf?.report('comm,dso', PERF_LINES) ?? ['  perf is not installed']).join('\n'));
    console.log('\n== all threads, share of CPU by thread and symbol (JavaScript: see above)');
    console.log((perf?.report('comm,dso,symbol', PERF_LINES) ?? []).join('\n'));
  } finally {
    await rig.stop();
  }
}

process.once('disconnect', () => process.exit(1));
const folder = mkdtempSync(join(tmpdir(), 'carillon-profile-'));
const profiles = fileURLToPath(new URL('../../build/profiles', import.meta.url));
if (existsSync(profiles)) rmSync(profiles, { recursive: true });
mkdirSync(profiles, { recursive: true });
try {
  await profile(folder, profiles);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.send?.('done', () => process.exit(0));
