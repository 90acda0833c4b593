import { RecentMap } from '../../base/recent-map.ts';
import type { Repositories } from './repository-set.ts';
import type { Outcome, Unit } from './unit.ts';

/** Maximum number of cached answers. When phones register in turn, each entry must survive about half as many other lookups. */
const LIMIT = 60_000;
/**
 * Maximum length of a cache key, in characters. Longer than any stored number, ID or name, so that long requests cannot fill
 * the memory.
 */
const LONGEST_KEY = 512;

/** Reads that every call makes and that only provisioning changes. */
const RETAINED: ReadonlySet<string> = new Set<`${keyof Repositories}.${string}`>([
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

/** Repositories that are written at the rate of calls. Their writes do not change a cached answer. */
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
  'mentions',
  'nodes',
  'transcriptions',
  'alarms',
  'deliveries',
  'credentialUses',
  'unreadableRows',
]);

type Answered = Extract<Outcome, { ok: true }>;

/**
 * Caches the answers of short reads. Any write outside the per-call repositories clears the cache: numbers and applications
 * are read about a thousand times for each change.
 */
export class AnswerCache {
  #answers = new RecentMap<Answered>(LIMIT);

  /** Returns the cached answer, or runs `read` and caches its answer. */
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

  /** Clears the cache if any of these units, which are about to be written, can change a cached answer. */
  written(units: readonly Unit[]): void {
    if (changesAnswers(units)) this.forget();
  }

  forget(): void {
    this.#answers = new RecentMap(LIMIT);
  }
}

/** Returns whether any of the units can change a cached answer. */
export const changesAnswers = (units: readonly Unit[]): boolean =>
  units.some((unit) => !OTHER.has(unit.repository));

/** Returns the cache key, or undefined if the answer is not cached. */
function keyOf({ repository, operation, given }: Unit): string | undefined {
  const name = `${repository}.${operation}`;
  if (!RETAINED.has(name)) return undefined;
  const key = `${name} ${JSON.stringify(given)}`;
  return key.length <= LONGEST_KEY ? key : undefined;
}
