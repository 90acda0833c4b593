/** Evaluates an allocation profile: bytes by function, and by the project function that led to them. */
import type { HeapProfiler } from 'node:inspector';
import { functionOf, isOurs, type Spent, sorted } from './self-time.ts';

export interface Allocations {
  readonly functions: readonly Spent[];
  readonly areas: readonly Spent[];
  readonly total: number;
}

type Node = HeapProfiler.SamplingHeapProfileNode;

export function allocations({ head }: HeapProfiler.SamplingHeapProfile): Allocations {
  const functions = new Map<string, number>();
  const areas = new Map<string, number>();
  let total = 0;
  const walk = (node: Node, caller: Node): void => {
    const ours = isOurs(node.callFrame) ? node : caller;
    total += node.selfSize;
    add(functions, functionOf(ours), node.selfSize);
    add(areas, areaOf(ours), node.selfSize);
    for (const child of node.children) walk(child, ours);
  };
  walk(head, head);
  return { functions: sorted(functions), areas: sorted(areas), total };
}

/** `src/edge/sip` */
const areaOf = (node: Node): string =>
  functionOf(node).split(' ').at(-1)?.split('/').slice(0, 3).join('/') ?? '';

function add(sums: Map<string, number>, name: string, bytes: number): void {
  if (bytes > 0) sums.set(name, (sums.get(name) ?? 0) + bytes);
}
