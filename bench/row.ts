/** One result of a benchmark. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the same run measured for the least that the work can cost, or for a peer. */
  readonly floor?: number;
  /** Of value to floor. */
  readonly ratio?: number;
  readonly note?: string;
}

/** `npm run bench -- --quick`: shorter runs, to see that everything works; the numbers are rough. */
export const isQuick = process.env['BENCH_QUICK'] === '1';
