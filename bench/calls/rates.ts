/** One start of one subject, and all rates of calls up to the first that it does not hold. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Row } from '../row.ts';
import { describe, isClean, type Step } from './step.ts';

const BETWEEN_MS = 1000;
/** The first calls are not what calls cost: code is compiled, pools fill. */
const WARM_UP = [
  { rate: 50, seconds: 5 },
  { rate: 100, seconds: 12 },
];

/** Ways to carry calls, with callers and callees around them. */
export interface Subject {
  step(rate: number, seconds: number): Promise<Step>;
  /** Returns the results of all calls so far as text. */
  totals(): string;
  stop(): Promise<void>;
}

export interface Found {
  readonly steps: readonly Step[];
  readonly totals: string;
}

/** The first step that was not what it should be. */
export async function warmUp(subject: Pick<Subject, 'step'>): Promise<Step | undefined> {
  for (const { rate, seconds } of WARM_UP) {
    const warm = await subject.step(rate, seconds);
    if (!isClean(warm)) return warm;
  }
  return undefined;
}

/** The subject is stopped then. */
export async function atRates(
  subject: Subject,
  rates: readonly number[],
  seconds: number,
): Promise<Found> {
  const steps: Step[] = [];
  try {
    for (const rate of rates) {
      await pause(BETWEEN_MS);
      const one = await subject.step(rate, seconds);
      steps.push(one);
      if (!isClean(one)) break;
    }
    return { steps, totals: subject.totals() };
  } finally {
    await subject.stop();
  }
}

export function rowsOf(title: string, { steps, totals }: Found, floor: number): Row[] {
  const rows: Row[] = steps.map((one) => ({
    name: `${title}, ${one.rate}/s`,
    value: one.msPerCall,
    unit: 'ms/call',
    floor,
    ratio: one.msPerCall / floor,
    note: describe(one) + (isClean(one) ? '' : `\n      ${one.complaints.slice(0, 300)}`),
  }));
  rows.push({
    name: `${title}: highest rate without a failed call`,
    value: Math.max(0, ...steps.filter(isClean).map(({ rate }) => rate)),
    unit: 'calls/s',
    note: totals,
  });
  return rows;
}
