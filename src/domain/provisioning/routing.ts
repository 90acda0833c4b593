/** Selects the carriers for a number and their order. */
import type { Random } from '../../base/ids.ts';
import type { Carrier, RewriteRule } from './types.ts';

/** Facts about one carrier for one number. */
export interface Considered {
  readonly carrier: Carrier;
  /** Longest matching prefix of the carrier. */
  readonly prefix: string | undefined;
  /** Price per minute by the longest matching prefix of its price list. Undefined if unknown. */
  readonly cost: number | undefined;
  /** Reason of the exclusion. Undefined if the carrier takes part. */
  readonly excluded: 'disabled' | 'prefix' | 'window' | undefined;
}

export interface RoutingMoment {
  /** Current time, milliseconds since the epoch. Undefined treats all windows as open. */
  readonly wallMs?: number | undefined;
  /** Random source for weights. Undefined sorts by descending weight. */
  readonly random?: Random | undefined;
}

export function consider(
  carriers: Iterable<Carrier>,
  e164: string,
  { wallMs }: RoutingMoment,
): Considered[] {
  return [...carriers].map((carrier) => {
    const { enabled, prefixes, policy } = carrier;
    const prefix = longestOf(prefixes, e164);
    const priced = longestOf(Object.keys(policy.costs ?? {}), e164);
    const isOpen = wallMs === undefined || isWithin(policy.windows, wallMs);
    const excluded = !enabled
      ? 'disabled'
      : prefix === undefined
        ? 'prefix'
        : isOpen
          ? undefined
          : 'window';
    const cost = priced === undefined ? undefined : policy.costs?.[priced];
    return { carrier, prefix, cost, excluded };
  });
}

/**
 * Returns the carriers that take part: longest prefix first, then lowest priority value, then lowest cost. Among
 * equals, each is first in proportion to its weight.
 */
export function ranked(
  considered: readonly Considered[],
  { random }: RoutingMoment,
): readonly Considered[] {
  const drawn = new Map<Considered, number>();
  const drawOf = (one: Considered): number => {
    const known = drawn.get(one);
    if (known !== undefined) return known;
    const draw = drawOfWeight(one.carrier.policy.weight ?? DEFAULT_WEIGHT, random);
    drawn.set(one, draw);
    return draw;
  };
  return considered
    .filter(({ excluded }) => excluded === undefined)
    .sort(
      (a, b) =>
        (b.prefix?.length ?? 0) - (a.prefix?.length ?? 0) ||
        a.carrier.priority - b.carrier.priority ||
        compareCosts(a.cost, b.cost) ||
        (isWeighted(a, b) ? drawOf(b) - drawOf(a) : 0) ||
        a.carrier.name.localeCompare(b.carrier.name),
    );
}

const DEFAULT_WEIGHT = 100;
const DARTS = 1_000_000;

const isWeighted = (a: Considered, b: Considered): boolean =>
  a.carrier.policy.weight !== undefined || b.carrier.policy.weight !== undefined;

/**
 * Returns a sort key with which each carrier is first in proportion to its weight (Efraimidis and Spirakis 2006).
 * Weight 0 sorts last.
 */
function drawOfWeight(weight: number, random: Random | undefined): number {
  if (weight <= 0) return 0;
  if (random === undefined) return weight;
  return ((1 + random.integer(DARTS)) / (DARTS + 1)) ** (1 / weight);
}

/** Compares costs. A carrier without a price sorts after those with one. */
function compareCosts(a: number | undefined, b: number | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined ? -1 : a - b;
}

function longestOf(prefixes: readonly string[], e164: string): string | undefined {
  let longest: string | undefined;
  for (const prefix of prefixes) {
    if (e164.startsWith(prefix) && prefix.length >= (longest?.length ?? 0)) longest = prefix;
  }
  return longest;
}

// ---------------------------------------------------------------- windows

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

/** Pattern of a window such as `mon-fri 08:00-18:00`, UTC. Days may wrap around the week, and hours may wrap around midnight. */
export const WINDOW_PATTERN =
  '^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))? ([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-4]):[0-5][0-9]$';
const WINDOW = new RegExp(WINDOW_PATTERN);

function isWithin(windows: readonly string[] | undefined, wallMs: number): boolean {
  if (windows === undefined || windows.length === 0) return true;
  const minutes = Math.floor(wallMs / MINUTE_MS);
  const minute = minutes % DAY_MINUTES;
  // 1970-01-01 was a Thursday.
  const day = (Math.floor(minutes / DAY_MINUTES) + 4) % 7;
  return windows.some((window) => isOpen(window, day, minute));
}

function isOpen(window: string, day: number, minute: number): boolean {
  if (!WINDOW.test(window)) return false;
  const [days = '', hours = ''] = window.split(' ');
  const [firstDay = '', lastDay = firstDay] = days.split('-');
  const [from = 0, until = 0] = hours.split('-').map(minutesOf);
  const covers = (which: number): boolean => {
    const [first, last] = [DAYS.indexOf(firstDay), DAYS.indexOf(lastDay)];
    return first <= last ? which >= first && which <= last : which >= first || which <= last;
  };
  if (from < until) return covers(day) && minute >= from && minute < until;
  // Across midnight, the hours after it belong to the previous day.
  return (covers(day) && minute >= from) || (covers((day + 6) % 7) && minute < until);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return 60 * hours + minutes;
}

// ---------------------------------------------------------------- number format of the carrier

/** Formats a number with the first matching rule, or else with `strip` and `prepend`. */
export function carrierFormat(carrier: Carrier, e164: string): string {
  for (const { match, replace } of carrier.policy.rewrite ?? []) {
    const pattern = patternOf(match);
    if (pattern?.test(e164) === true) return e164.replace(pattern, replace);
  }
  return carrier.prepend + e164.slice(carrier.strip);
}

const patterns = new Map<string, RegExp | undefined>();
const MAX_PATTERNS = 10_000;

/** Compiles a pattern. Returns undefined if it is not a valid regular expression. */
export function patternOf(match: RewriteRule['match']): RegExp | undefined {
  if (patterns.has(match)) return patterns.get(match);
  let pattern: RegExp | undefined;
  try {
    pattern = new RegExp(match);
  } catch {
    pattern = undefined;
  }
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(match, pattern);
  return pattern;
}
