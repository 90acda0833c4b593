/** Memory over a long run: what is used at the least at its end against the least in its middle. */

export interface MemorySample {
  readonly atMs: number;
  readonly heapMiB: number;
  readonly residentMiB: number;
}

export interface MemoryLimits {
  readonly heapMiB: number;
  readonly residentMiB: number;
}

/** Two full collections before, where the process may ask for them (`--expose-gc`). */
export function sampleMemory(atMs: number): MemorySample {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { atMs, heapMiB: heapUsed / 2 ** 20, residentMiB: rss / 2 ** 20 };
}

/**
 * The third fifth of the run against its last: before, pools, caches and the bots' queues of up to a minute fill. The least
 * of each, because what a flood holds for a moment is no growth.
 */
export function growthOf(samples: readonly MemorySample[], totalMs: number): MemoryLimits {
  const early = samples.filter(({ atMs }) => atMs > (2 * totalMs) / 5 && atMs <= (3 * totalMs) / 5);
  const late = samples.filter(({ atMs }) => atMs > (4 * totalMs) / 5);
  const least = (some: readonly MemorySample[], of: (sample: MemorySample) => number): number =>
    Math.min(...some.map(of));
  return {
    heapMiB: least(late, ({ heapMiB }) => heapMiB) - least(early, ({ heapMiB }) => heapMiB),
    residentMiB:
      least(late, ({ residentMiB }) => residentMiB) -
      least(early, ({ residentMiB }) => residentMiB),
  };
}

export function faultsOfMemory(growth: MemoryLimits, limits: MemoryLimits): string[] {
  const faults: string[] = [];
  // Written so that NaN, from a run too short to have samples, is a fault as well.
  if (!(growth.heapMiB <= limits.heapMiB)) {
    faults.push(`the JavaScript heap grew by ${growth.heapMiB.toFixed(1)} MiB`);
  }
  if (!(growth.residentMiB <= limits.residentMiB)) {
    faults.push(`the process grew by ${growth.residentMiB.toFixed(1)} MiB`);
  }
  return faults;
}
