/** Decides whether this node can serve calls, and reports the conditions that prevent it. */
import { type Clock, wallUs } from '../../base/clock.ts';

/**
 * Conditions that prevent a node from serving calls.
 * - `store`: the database refuses writes.
 * - `redis`: Redis has not answered for a second, and `cluster.withoutRedisPercent` is 0.
 * - `descriptors`: the process has too few free file descriptors.
 * - `fenced`: another node declared this one dead, and its new epoch has not begun.
 */
export type ConditionName = 'store' | 'redis' | 'descriptors' | 'fenced';

export const CONDITION_NAMES: readonly ConditionName[] = [
  'store',
  'redis',
  'descriptors',
  'fenced',
];

export interface Condition {
  readonly condition: ConditionName;
  /** Start of the condition, microseconds UTC. */
  readonly sinceUs: number;
  /** Text for `/readyz` and for the 503 of refused calls. Plain ASCII without double quotes. */
  readonly cause: string;
}

/** Called with the cause to show, or undefined once the node can serve calls again. */
type CauseListener = (cause: string | undefined) => void;

/** Tracks the active conditions. The node can serve calls while there are none. */
export class Serviceability {
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #listeners: CauseListener[] = [];
  readonly #conditions = new Map<ConditionName, Condition>();
  #cause: string | undefined;

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  /** Calls `act` after each change of the cause, and immediately if there is a cause now. */
  onChange(act: CauseListener): void {
    this.#listeners.push(act);
    if (this.#cause !== undefined) act(this.#cause);
  }

  /** All active conditions, oldest first. */
  get conditions(): readonly Condition[] {
    return [...this.#conditions.values()];
  }

  /** Cause of the newest condition. Undefined while the node can serve calls. */
  get cause(): string | undefined {
    return this.#cause;
  }

  /** Returns the reporting function for one condition. It takes a cause, or undefined once the condition has ended. */
  of(condition: ConditionName): CauseListener {
    return (cause) => this.#report(condition, cause);
  }

  #report(condition: ConditionName, text: string | undefined): void {
    const known = this.#conditions.get(condition);
    if (text === undefined) this.#conditions.delete(condition);
    else {
      const sinceUs = known?.sinceUs ?? wallUs(this.#clock);
      this.#conditions.set(condition, { condition, sinceUs, cause: inHeader(text) });
    }
    const cause = [...this.#conditions.values()].at(-1)?.cause;
    if (cause === this.#cause) return;
    this.#cause = cause;
    for (const act of this.#listeners) act(cause);
  }
}

/** Converts the cause to the content of a quoted string in a SIP header field (RFC 3261 section 25.1). */
const inHeader = (cause: string): string =>
  cause.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]+/g, ' ');
