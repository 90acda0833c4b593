/** Two decimals. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return rounded(
    sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0,
  );
}
