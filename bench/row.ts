/** One result of a benchmark. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Baseline or peer value from the same run. */
  readonly floor?: number;
  /** Ratio of `value` to `floor`. */
  readonly ratio?: number;
  /** Target value: a maximum or a minimum. */
  readonly goal?: Goal;
  /** Score of a perceptual model, on the scale of the model. */
  readonly score?: number;
  readonly note?: string;
}

export interface Goal {
  readonly of: 'value' | 'ratio';
  readonly bound: '≤' | '≥';
  readonly limit: number;
}

export const most = (limit: number): Goal => ({ of: 'value', bound: '≤', limit });
export const least = (limit: number): Goal => ({ of: 'value', bound: '≥', limit });
export const mostTimesFloor = (limit: number): Goal => ({ of: 'ratio', bound: '≤', limit });

/** Undefined if there is no target, or no value to compare. */
export function isReached({ goal, ...row }: Row): boolean | undefined {
  const reached = goal && row[goal.of];
  if (goal === undefined || reached === undefined) return undefined;
  return goal.bound === '≤' ? reached <= goal.limit : reached >= goal.limit;
}

/** `npm run bench -- --quick`: shorter runs, to see that everything works; the numbers are rough. */
export const isQuick = process.env['BENCH_QUICK'] === '1';
