/** Numbers on the command line of a test program. */

export interface Range {
  readonly least: number;
  readonly most: number;
  readonly isWhole?: boolean;
}

/** A seed of pseudo-random numbers. */
export const SEED: Range = { least: 0, most: Number.MAX_SAFE_INTEGER };

/** Returns the number, or the reason why it is invalid. A loop with an invalid number would test nothing and succeed. */
export function readNumber(name: string, given: string, range: Range): number | string {
  const { least, most, isWhole = true } = range;
  const value = given.trim() === '' ? Number.NaN : Number(given);
  if (value >= least && value <= most && (!isWhole || Number.isSafeInteger(value))) return value;
  return `--${name} must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}, not '${given}'`;
}

/** Returns the number, or prints why it is invalid and ends the program with status 2. */
export function numberOption(name: string, given: string, range: Range): number {
  const value = readNumber(name, given, range);
  if (typeof value === 'number') return value;
  console.error(value);
  process.exit(2);
}
