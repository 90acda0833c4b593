/** Resource use of a process tree from the kernel: CPU by thread, and memory. */
import { readdirSync, readFileSync } from 'node:fs';

/** `utime` and `stime` are counted in these (sysconf(_SC_CLK_TCK), 100 a second on Linux). */
const TICK_MS = 10;
const PAGE_BYTES = 4096;
/** Node's name for each of its worker threads. */
const WORKER = 'WorkerThread';

interface ThreadCpu {
  readonly name: string;
  readonly ms: number;
}

/** CPU since the start at one moment, of the tree and of each thread. */
export interface Cpu {
  readonly ms: number;
  readonly threads: ReadonlyMap<string, ThreadCpu>;
}

function tree(pid: number): readonly number[] {
  const found = [pid];
  for (const task of list(`/proc/${pid}/task`)) {
    const children = read(`/proc/${pid}/task/${task}/children`)?.trim() ?? '';
    for (const child of children.split(' ')) if (child !== '') found.push(...tree(Number(child)));
  }
  return found;
}

export function cpuOf(pid: number): Cpu {
  const threads = new Map<string, ThreadCpu>();
  let ms = 0;
  for (const process of tree(pid)) {
    ms += fields(`/proc/${process}/stat`)?.ms ?? 0;
    for (const task of list(`/proc/${process}/task`)) {
      const thread = fields(`/proc/${process}/task/${task}/stat`);
      if (thread !== undefined) threads.set(`${process}/${task}`, thread);
    }
  }
  return { ms, threads };
}

/** Milliseconds of each thread between two moments, by its name; workers are numbered by their age, V8's are one. */
export function threadsBetween(before: Cpu, after: Cpu): readonly ThreadCpu[] {
  const spent = new Map<string, number>();
  let workers = 0;
  for (const [id, { name, ms }] of after.threads) {
    if (name === WORKER) workers += 1;
    const title = name === WORKER ? `${name} ${workers}` : name;
    const earlierMs = before.threads.get(id)?.ms ?? 0;
    spent.set(title, (spent.get(title) ?? 0) + ms - earlierMs);
  }
  return [...spent].map(([name, ms]) => ({ name, ms })).sort((a, b) => b.ms - a.ms);
}

/** Resident memory of the tree, MiB. */
export function rssMib(pid: number): number {
  const pages = tree(pid).map((process) =>
    Number(read(`/proc/${process}/statm`)?.split(' ')[1] ?? 0),
  );
  return (pages.reduce((sum, count) => sum + count, 0) * PAGE_BYTES) / 1024 / 1024;
}

/** The most that the process itself ever held, MiB. */
export function peakRssMib(pid: number): number {
  const status = read(`/proc/${pid}/status`) ?? '';
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

function fields(file: string): ThreadCpu | undefined {
  const text = read(file);
  if (text === undefined) return undefined;
  const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { name, ms: (Number(rest[11]) + Number(rest[12])) * TICK_MS };
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns undefined if the process has ended. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
