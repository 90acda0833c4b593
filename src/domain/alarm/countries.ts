/**
 * Remembers the countries that each account calls, to detect calls to new countries. The list is stored and survives
 * a restart.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { HOUR_MS } from '../../base/duration.ts';
import type { AccountId } from '../../base/ids.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { Cdr } from '../cdr/types.ts';
import type { CountryStore } from './needs.ts';
import type { Condition } from './types.ts';

/** Learning period of a new account. Every country is new during the first day. */
const LEARNING_US = 24 * HOUR_MS * 1000;
/** Maximum number of accounts in memory. The least recently used account is evicted and read again when needed. */
const ACCOUNTS_MAX = 5000;

interface Known {
  readonly sinceUs: number;
  readonly countries: Set<string>;
}

export class CalledCountries {
  readonly #store: CountryStore;
  readonly #known = new Map<AccountId, Known>();

  constructor(store: CountryStore) {
    this.#store = store;
  }

  /** Records an answered call that ended. Returns a condition if the account never called that country before. */
  async observe(cdr: Cdr, nowUs: number): Promise<Condition | undefined> {
    if (cdr.direction !== 'outbound' || cdr.answerUs === undefined) return undefined;
    const country = countryOf(cdr.to);
    if (country === undefined) return undefined;
    const known = await this.#of(cdr.accountId, nowUs);
    if (known.countries.has(country)) return undefined;
    known.countries.add(country);
    await this.#store.set(
      keyOf(cdr.accountId),
      JSON.stringify({ sinceUs: known.sinceUs, countries: [...known.countries] }),
    );
    if (nowUs - known.sinceUs < LEARNING_US) return undefined;
    const detail = `first call to ${country}; until now it called ${known.countries.size - 1} countries`;
    return { kind: 'new_country', subject: `${cdr.accountId} ${country}`, detail };
  }

  async #of(accountId: AccountId, nowUs: number): Promise<Known> {
    const found = this.#known.get(accountId) ?? (await this.#read(accountId, nowUs));
    // Reinserts the entry as the most recently used.
    this.#known.delete(accountId);
    this.#known.set(accountId, found);
    const [oldest] = this.#known.keys();
    if (this.#known.size > ACCOUNTS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return found;
  }

  async #read(accountId: AccountId, nowUs: number): Promise<Known> {
    const text = await this.#store.get(keyOf(accountId));
    // A concurrent call of the account may have loaded the entry.
    const loaded = this.#known.get(accountId);
    if (loaded !== undefined) return loaded;
    if (text === undefined) return { sinceUs: nowUs, countries: new Set() };
    const { sinceUs, countries } = JSON.parse(text) as { sinceUs: number; countries: string[] };
    return { sinceUs, countries: new Set(countries) };
  }
}

const keyOf = (accountId: AccountId): string => `alarm.countries.${accountId}`;

/** Countries of recently called numbers, or '' if unknown. Parsing a number is slow, and many numbers are called again. */
const countries = new RecentMap<string>(10_000);

/** Returns the country (ISO 3166-1), or the calling code if several countries share it. */
function countryOf(number: string): string | undefined {
  if (!/^\d{7,15}$/.test(number)) return undefined;
  let country = countries.get(number);
  if (country === undefined) {
    const parsed = parsePhoneNumberFromString(`+${number}`);
    country = parsed === undefined ? '' : (parsed.country ?? `+${parsed.countryCallingCode}`);
    countries.set(number, country);
  }
  return country === '' ? undefined : country;
}
