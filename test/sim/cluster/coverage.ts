/** Counts which faults began in which states of the cluster, and which faults overlapped. */
import type { ClusterWorld } from './world.ts';

const FAULT_NAMES = [
  'node killed',
  'node paused',
  'database cut',
  'Redis cut',
  'both cut',
  'Redis empty',
  'Redis refuses writes',
  'database down',
  'both down',
  'clock set',
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

const STATES = [
  'idle',
  'unanswered',
  'answered',
  'full',
  'spooled',
  'no database',
  'no Redis',
  'node away',
  'starting',
] as const;
type State = (typeof STATES)[number];

export class Coverage {
  readonly #states = new Map<string, number>();
  readonly #pairs = new Map<string, number>();

  /** Counts a fault that begins now while the faults `active` last. */
  add(fault: FaultName, active: readonly FaultName[], world: ClusterWorld): void {
    for (const state of statesOf(world)) increment(this.#states, `${fault}|${state}`);
    for (const other of active) {
      const [first, second] = [fault, other].sort();
      increment(this.#pairs, `${first}|${second}`);
    }
  }

  /** Two Markdown tables. */
  toString(): string {
    const states = table(STATES, (fault, state) => this.#states.get(`${fault}|${state}`) ?? 0);
    const pairs = table(FAULT_NAMES, (fault, other) => {
      const [first, second] = [fault, other].sort();
      return this.#pairs.get(`${first}|${second}`) ?? 0;
    });
    return `faults by state of the cluster\n\n${states}\n\nsimultaneous faults\n\n${pairs}`;
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function table<C extends string>(
  columns: readonly C[],
  count: (fault: FaultName, column: C) => number,
): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  const rows = FAULT_NAMES.map((fault) =>
    line([fault, ...columns.map((column) => count(fault, column))]),
  );
  return [line(['', ...columns]), `|-${'|-:'.repeat(columns.length)}|`, ...rows].join('\n');
}

function statesOf(world: ClusterWorld): readonly State[] {
  const { serving, nodes, redis, database, slots } = world;
  const calls = serving.flatMap(({ process }) => process.calls.callBilling.live());
  const is: Readonly<Record<State, boolean>> = {
    idle: calls.length === 0,
    unanswered: calls.some(({ answerUs }) => answerUs === undefined),
    answered: calls.some(({ answerUs }) => answerUs !== undefined),
    full: calls.length >= slots,
    spooled: nodes.some(({ spooled }) => spooled > 0),
    'no database': !database.isUp,
    'no Redis': !redis.isUp,
    'node away': serving.length < nodes.length,
    starting: nodes.some(({ isStarting }) => isStarting),
  };
  return STATES.filter((state) => is[state]);
}
