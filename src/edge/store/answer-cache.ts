import type { Repositories } from './repositories.ts';
import type { Outcome, Unit } from './unit.ts';

/** Answers kept at a time; the one that was asked for first goes first. */
const LIMIT = 20_000;

/** What every call asks for and only provisioning changes. */
const KEPT: ReadonlySet<string> = new Set<`${keyof Repositories}.${string}`>([
  'numbers.get',
  'applications.get',
  'endpointDirectory.byUsername',
  'callerIds.owns',
  'signingTokens.tokensOf',
]);

/** What is written at the rate of calls, and changes none of those answers. */
const OTHER: ReadonlySet<string> = new Set<keyof Repositories>([
  'calls',
  'campaigns',
  'callLogs',
  'notifications',
  'ledger',
  'idempotency',
  'settings',
  'bindings',
  'recordings',
  'exports',
  'retention',
]);

/**
 * Answers of short reads, of the writing connection alone. Any write beside those of calls empties it: numbers and
 * applications are read a thousand times for each time that they change.
 */
export class AnswerCache {
  readonly #answers = new Map<string, Outcome>();

  get(unit: Unit): Outcome | undefined {
    return isKept(unit) ? this.#answers.get(keyOf(unit)) : undefined;
  }

  keep(unit: Unit, outcome: Outcome): void {
    if (!isKept(unit) || !outcome.ok) return;
    if (this.#answers.size >= LIMIT) {
      const [oldest] = this.#answers.keys();
      if (oldest !== undefined) this.#answers.delete(oldest);
    }
    this.#answers.set(keyOf(unit), outcome);
  }

  /** These are about to be written. */
  written(units: readonly Unit[]): void {
    if (units.some((unit) => !OTHER.has(unit.repository))) this.#answers.clear();
  }
}

const isKept = (unit: Unit): boolean => KEPT.has(`${unit.repository}.${unit.operation}`);

const keyOf = (unit: Unit): string =>
  `${unit.repository}.${unit.operation} ${JSON.stringify(unit.given)}`;
