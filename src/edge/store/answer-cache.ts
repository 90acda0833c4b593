import { RecentMap } from '../../base/recent-map.ts';
import type { Repositories } from './repositories.ts';
import type { Outcome, Unit } from './unit.ts';

/**
 * Answers kept at a time: each lives through half as many others, and phones that register in turn ask for one endpoint
 * after the other.
 */
const LIMIT = 60_000;
/** Longer keys than those of any number, id or name that is stored must not fill the memory. */
const LONGEST_KEY = 512;

/** What every call asks for and only provisioning changes. */
const KEPT: ReadonlySet<string> = new Set<`${keyof Repositories}.${string}`>([
  'numbers.get',
  'applications.get',
  'endpoints.get',
  'endpoints.byUsername',
  'endpointDirectory.byUsername',
  'callerIds.owns',
  'trunks.get',
  'originationUris.get',
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
  'phoneLogins',
  'users',
  'recordings',
  'exports',
  'retention',
  'nodes',
  'transcriptions',
  'unreadableRows',
]);

type Answered = Extract<Outcome, { ok: true }>;

/**
 * Answers of short reads. Any write beside those of calls empties it: numbers and applications are read a thousand times for
 * each time that they change.
 */
export class AnswerCache {
  #answers = new RecentMap<Answered>(LIMIT);

  /** The answer as it is known, or as `read` finds it. */
  answer(unit: Unit, read: (unit: Unit) => Outcome): Outcome {
    const known = this.known(unit);
    if (known !== undefined) return known;
    const outcome = read(unit);
    if (outcome.ok) this.keep(unit, outcome);
    return outcome;
  }

  known(unit: Unit): Answered | undefined {
    const key = keyOf(unit);
    return key === undefined ? undefined : this.#answers.get(key);
  }

  keep(unit: Unit, outcome: Answered): void {
    const key = keyOf(unit);
    if (key !== undefined) this.#answers.set(key, outcome);
  }

  /** These are about to be written. */
  written(units: readonly Unit[]): void {
    if (changesAnswers(units)) this.forget();
  }

  forget(): void {
    this.#answers = new RecentMap(LIMIT);
  }
}

/** Whether any of them may change an answer that is kept. */
export const changesAnswers = (units: readonly Unit[]): boolean =>
  units.some((unit) => !OTHER.has(unit.repository));

/** Undefined: its answer is not kept. */
function keyOf({ repository, operation, given }: Unit): string | undefined {
  const name = `${repository}.${operation}`;
  if (!KEPT.has(name)) return undefined;
  const key = `${name} ${JSON.stringify(given)}`;
  return key.length <= LONGEST_KEY ? key : undefined;
}
