/** Evaluates a CPU profile: time by function and by source folder. */
import type { Profiler } from 'node:inspector';

export interface Spent {
  readonly name: string;
  /** Milliseconds, or bytes. */
  readonly amount: number;
}

export interface SelfTime {
  readonly functions: readonly Spent[];
  readonly areas: readonly Spent[];
  /** Total time without idle time. */
  readonly totalMs: number;
}

type Node = Profiler.ProfileNode;

const IDLE = '(idle)';

export function selfTime({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): SelfTime {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map<number, Node>();
  for (const node of nodes) for (const child of node.children ?? []) callers.set(child, node);
  const functions = new Map<string, number>();
  const areas = new Map<string, number>();
  let totalMs = 0;
  for (const [index, id] of samples.entries()) {
    const node = byId.get(id);
    if (node === undefined || node.callFrame.functionName === IDLE) continue;
    const ms = (timeDeltas[index] ?? 0) / 1000;
    const caller = isNative(node) ? callers.get(id) : undefined;
    totalMs += ms;
    add(functions, functionOf(node) + (caller === undefined ? '' : ` < ${functionOf(caller)}`), ms);
    add(areas, caller === undefined ? areaOf(node) : `${areaOf(caller)} (native)`, ms);
  }
  return { functions: sorted(functions), areas: sorted(areas), totalMs };
}

/** C++ that JavaScript called; `(program)` and `(garbage collector)` are V8's own. */
function isNative({ callFrame }: Node): boolean {
  return (
    callFrame.url === '' &&
    (!callFrame.functionName.startsWith('(') || callFrame.functionName === '(anonymous)')
  );
}

export function functionOf({ callFrame }: Pick<Node, 'callFrame'>): string {
  const { functionName, url, lineNumber } = callFrame;
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${path(url)}:${lineNumber + 1}`;
}

function areaOf({ callFrame }: Node): string {
  return callFrame.url === '' ? callFrame.functionName : area(path(callFrame.url));
}

/** Functions outside Node and packages. */
export const isOurs = ({ url }: Profiler.ProfileNode['callFrame']): boolean =>
  url.includes('/src/') && !url.includes('/node_modules/');

/** Path below the sources: `src/edge/sip/…`, `node_modules/undici/…`, `node:internal/…`. */
function path(url: string): string {
  const packages = url.lastIndexOf('/node_modules/');
  const start = packages === -1 ? url.indexOf('/src/') : packages;
  return start === -1 ? url : url.slice(start + 1);
}

/** `src/edge/sip`, `node_modules/undici`, `node:`. */
function area(file: string): string {
  if (file.startsWith('node:')) return 'node:';
  const parts = file.split('/');
  return parts
    .slice(0, file.startsWith('node_modules/') && parts[1]?.startsWith('@') !== true ? 2 : 3)
    .join('/');
}

function add(sums: Map<string, number>, name: string, ms: number): void {
  sums.set(name, (sums.get(name) ?? 0) + ms);
}

export const sorted = (sums: ReadonlyMap<string, number>): readonly Spent[] =>
  [...sums].map(([name, amount]) => ({ name, amount })).sort((a, b) => b.amount - a.amount);
