/** Options of `npm run bench -- calls`. */
import { fileURLToPath } from 'node:url';
import { isQuick } from '../row.ts';

const SCENARIOS = [
  'whole',
  'trunk',
  'peers',
  'overload',
  'delay',
  'transports',
  'register',
  'memory',
  'growth',
  'records',
] as const;
export type Scenario = (typeof SCENARIOS)[number];
/** `whole`: calls with an answer URL. `trunk`: calls directly to a trunk. */
export type CallKind = 'whole' | 'trunk';

export interface CallsOptions {
  readonly scenarios: readonly Scenario[];
  /** Calls a second. */
  readonly rates: readonly number[];
  readonly seconds: number;
  /** Number of alternating rounds; each round starts and measures both checkouts. */
  readonly rounds: number;
  /** If true, counts SQL statements and messages in a separate run. */
  readonly count: boolean;
  /** Calls a second that are held, for `overload` and `delay`, where `whole` does not find it in the same run. */
  readonly limit: number;
  /** Folders of the versions under measurement; the first is this one. */
  readonly roots: readonly string[];
}

const HERE = fileURLToPath(new URL('../..', import.meta.url));

function numbers(name: string, text: string): readonly number[] {
  const all = text.split(',').map(Number);
  if (all.every((one) => Number.isInteger(one) && one >= 1 && one <= 5000)) return all;
  throw new Error(`--${name} takes whole numbers from 1 to 5000, with commas between`);
}

function only(name: string, given: string | undefined, otherwise: number): number {
  return given === undefined ? otherwise : (numbers(name, given)[0] ?? otherwise);
}

function scenarios(text: string): readonly Scenario[] {
  return text.split(',').map((name) => {
    const found = SCENARIOS.find((one) => one === name);
    if (found === undefined) throw new Error(`--scenarios are ${SCENARIOS.join(', ')}`);
    return found;
  });
}

export function callsOptions(env: NodeJS.ProcessEnv): CallsOptions {
  const {
    BENCH_RATES,
    BENCH_SCENARIOS,
    BENCH_SECONDS,
    BENCH_ROUNDS,
    BENCH_AGAINST,
    BENCH_COUNT,
    BENCH_LIMIT,
  } = env;
  return {
    scenarios: scenarios(BENCH_SCENARIOS ?? (isQuick ? 'whole' : SCENARIOS.join(','))),
    rates: numbers('rates', BENCH_RATES ?? (isQuick ? '100' : '50,100,200,300,400,600')),
    seconds: only('seconds', BENCH_SECONDS, isQuick ? 8 : 10),
    rounds: only('rounds', BENCH_ROUNDS, 1),
    limit: only('limit', BENCH_LIMIT, 200),
    count: !isQuick || BENCH_COUNT !== undefined,
    roots: BENCH_AGAINST === undefined ? [HERE] : [HERE, BENCH_AGAINST],
  };
}
