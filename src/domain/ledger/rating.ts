import { SECOND_MS, secondsOf } from '../../base/duration.ts';
import type { AccountId } from '../../base/ids.ts';
import { type Micros, microsFromUnits, priceOf, pulsedMs, ZERO } from '../../base/money.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { RATE_DIRECTIONS, type Rate, type RateKey } from './types.ts';

const DIRECTIONS: readonly string[] = RATE_DIRECTIONS;
/** In-memory price lists. Finds rates by longest prefix; an account's own rate overrides the common one of equal length. */
export class RateBook {
  readonly #rates = new Map<string, Rate>();
  /** Scopes that have or had rates. Lookups skip the scope of accounts without own rates. */
  readonly #scopes = new Set<string>();
  /** Length of the longest prefix ever added, in digits. Limits the prefixes tried by a lookup. */
  #longest = 0;

  /** Rates of the price list file. Stored rates override them until removed. */
  readonly #listed = new Map<string, Rate>();

  constructor(rates: Iterable<Rate> = []) {
    this.relist(rates);
  }

  /** Applies another price list file. Stored rates stay in force. Running calls keep the rate with which they started. */
  relist(rates: Iterable<Rate>): void {
    for (const [key, rate] of this.#listed) {
      if (this.#rates.get(key) === rate) this.#rates.delete(key);
    }
    this.#listed.clear();
    for (const rate of rates) {
      const key = keyOf(rate.direction, rate.currency, rate.accountId, rate.prefix);
      // If two rows define the same rate, the later one applies.
      const earlier = this.#listed.get(key);
      this.#listed.set(key, rate);
      this.#longest = Math.max(this.#longest, rate.prefix.length);
      if (!this.#rates.has(key) || this.#rates.get(key) === earlier) this.#set(key, rate);
    }
  }

  /** Replaces all stored rates. */
  replaceStored(rates: Iterable<Rate>): void {
    this.#rates.clear();
    this.#scopes.clear();
    for (const [key, rate] of this.#listed) this.#set(key, rate);
    for (const rate of rates) this.put(rate);
  }

  put(rate: Rate): void {
    this.#longest = Math.max(this.#longest, rate.prefix.length);
    this.#set(keyOf(rate.direction, rate.currency, rate.accountId, rate.prefix), rate);
  }

  #set(key: string, rate: Rate): void {
    this.#rates.set(key, rate);
    this.#scopes.add(keyOf(rate.direction, rate.currency, rate.accountId, ''));
  }

  /** Removes a stored rate. The rate of the price list file applies again. */
  remove(rate: RateKey): void {
    const key = keyOf(rate.direction, rate.currency, rate.accountId, rate.prefix);
    const listed = this.#listed.get(key);
    if (listed === undefined) this.#rates.delete(key);
    else this.#set(key, listed);
  }

  has(rate: RateKey): boolean {
    return this.#rates.has(keyOf(rate.direction, rate.currency, rate.accountId, rate.prefix));
  }

  list(): readonly Rate[] {
    return [...this.#rates.values()];
  }

  /** Returns the current price of using `number` for `accountId`. Undefined if it is not sold in that currency. */
  quote(
    direction: Rate['direction'],
    number: string,
    accountId: AccountId,
    currency: string,
  ): Rate | undefined {
    const digits = number.replace(/\D/g, '').slice(0, this.#longest);
    const own = this.#longestOf(keyOf(direction, currency, accountId, ''), digits);
    const common = this.#longestOf(keyOf(direction, currency, undefined, ''), digits);
    if (own === undefined || common === undefined) return own ?? common;
    return own.prefix.length >= common.prefix.length ? own : common;
  }

  /**
   * Returns the rate of the longest matching prefix. `scope` is the key of an empty prefix. Most accounts
   * have no separate rates.
   */
  #longestOf(scope: string, digits: string): Rate | undefined {
    if (!this.#scopes.has(scope)) return undefined;
    for (let length = digits.length; length >= 0; length -= 1) {
      const rate = this.#rates.get(scope + digits.slice(0, length));
      if (rate !== undefined) return rate;
    }
    return undefined;
  }
}

export interface Price {
  readonly billedMs: number;
  readonly amount: Micros;
}

/** Returns the price of `answeredMs`: started pulses times the rate per minute (spec: Limits, billing pulse). */
export function priceUse(answeredMs: number, rate: Pick<Rate, 'perMinute' | 'pulseMs'>): Price {
  const billedMs = pulsedMs(answeredMs, rate.pulseMs);
  return { billedMs, amount: priceOf(billedMs, rate.perMinute) };
}

/** Returns the whole pulses that `amount` pays for. Zero pulses at a price of 0. */
export function affordable(amount: Micros, rate: Pick<Rate, 'perMinute' | 'pulseMs'>): Price {
  const { perMinute, pulseMs } = rate;
  if (perMinute === 0) return { billedMs: 0, amount: ZERO };
  // Prices are rounded up, so this number of pulses never costs more than `amount`.
  const billedMs = Math.floor((amount * 60) / (perMinute * secondsOf(pulseMs))) * pulseMs;
  return { billedMs, amount: priceOf(billedMs, perMinute) };
}

/** Returns whether a price is above 0 and below one millionth, which cannot be represented. */
export const roundsToZero = (price: number): boolean => price > 0 && price < SMALLEST_PRICE;

const SMALLEST_PRICE = 0.000001;
export const PRICE_TOO_SMALL = 'must be 0, or at least 0.000001';

/** Parses a price list: `{ "rates": [{ direction, prefix, per_minute, pulse_seconds, currency }] }`. Errors name the row. */
export function parseRates(document: unknown): Result<readonly Rate[], string> {
  const rows = isRecord(document) ? document['rates'] : undefined;
  if (!Array.isArray(rows)) return err('rates: an array is expected');
  const rates: Rate[] = [];
  const seen = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const rate = parseRate(row);
    if (!rate.ok) return err(`rates[${index}]: ${rate.error}`);
    const { direction, currency, accountId, prefix } = rate.value;
    const key = keyOf(direction, currency, accountId, prefix);
    const first = seen.get(key);
    if (first !== undefined) return err(`rates[${index}]: the same as rates[${first}]`);
    seen.set(key, index);
    rates.push(rate.value);
  }
  return ok(rates);
}

const RATE_KEYS: ReadonlySet<string> = new Set([
  'direction',
  'prefix',
  'per_minute',
  'pulse_seconds',
  'currency',
]);

function parseRate(row: unknown): Result<Rate, string> {
  if (!isRecord(row)) return err('an object is expected');
  const unknown = Object.keys(row).find((key) => !RATE_KEYS.has(key));
  if (unknown !== undefined)
    return err(`unknown key ${unknown}; known here: ${[...RATE_KEYS].join(', ')}`);
  const { direction, prefix = '', per_minute: price, pulse_seconds: pulse = 60, currency } = row;
  if (!isDirection(direction)) return err(`direction must be one of ${DIRECTIONS.join(', ')}`);
  if (typeof prefix !== 'string' || !/^\d{0,15}$/.test(prefix)) {
    return err('prefix must be up to 15 digits');
  }
  const perMinute = typeof price === 'number' && price >= 0 ? microsFromUnits(price) : undefined;
  if (perMinute === undefined) return err('per_minute must be a number, zero or more');
  if (roundsToZero(Number(price))) return err(`per_minute ${PRICE_TOO_SMALL}`);
  if (typeof pulse !== 'number' || !Number.isInteger(pulse) || pulse < 1) {
    return err('pulse_seconds must be a whole number, one or more');
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return err('currency must be three capital letters');
  }
  return ok({
    direction,
    prefix,
    perMinute,
    pulseMs: pulse * SECOND_MS,
    currency,
    accountId: undefined,
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isDirection = (value: unknown): value is Rate['direction'] =>
  typeof value === 'string' && DIRECTIONS.includes(value);

const keyOf = (
  direction: string,
  currency: string,
  accountId: AccountId | undefined,
  prefix: string,
): string => `${direction}|${currency}|${accountId ?? ''}|${prefix}`;
