/** Memory growth over a long run: compares the minimum near the end with the minimum near the middle. */

export interface MemorySample {
  readonly atMs: number;
  readonly heapMiB: number;
  readonly residentMiB: number;
}

export interface MemoryLimits {
  readonly heapMiB: number;
  readonly residentMiB: number;
}

/** Samples memory use after two full garbage collections, if the process runs with `--expose-gc`. */
export function sampleMemory(atMs: number): MemorySample {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { atMs, heapMiB: heapUsed / 2 ** 20, residentMiB: rss / 2 ** 20 };
}

/**
 * Compares the third fifth of the run with its last fifth. Before that, pools, caches and the bots' queues (up to a
 * minute) still fill. Uses the minimum of each part, so that a short peak does not count as growth.
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
  // This form of the comparison also reports NaN, the result of a run without samples.
  if (!(growth.heapMiB <= limits.heapMiB)) {
    faults.push(`the JavaScript heap grew by ${growth.heapMiB.toFixed(1)} MiB`);
  }
  if (!(growth.residentMiB <= limits.residentMiB)) {
    faults.push(`the process grew by ${growth.residentMiB.toFixed(1)} MiB`);
  }
  return faults;
}
