/** Figures out of many measured values. */

/** `part` 0.99 is the 99th percentile; NaN of nothing. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Rounds to `digits` decimals. */
export const round = (value: number, digits = 1): number =>
  Math.round(value * 10 ** digits) / 10 ** digits;

/** Milliseconds of the machine's monotonic clock, the same in every process. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
