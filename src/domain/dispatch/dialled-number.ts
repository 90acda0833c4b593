/** What a dialled number is: complete, special, or nothing that can be dialled. */
import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { RecentMap } from '../../base/recent-map.ts';

/** The shortest numbers that reach a subscriber abroad have seven digits; shorter ones are services of a network. */
const LONGEST_SHORT_CODE = 6;

export type DialledNumber =
  | {
      readonly kind: 'e164';
      /** Digits without `+`. */
      readonly e164: string;
      /** ISO 3166-1 alpha-2; undefined: a number of no country (satellites, unassigned plans). */
      readonly country: string | undefined;
    }
  /** Emergency numbers, short codes, premium-rate services. */
  | { readonly kind: 'special'; readonly digits: string }
  | { readonly kind: 'invalid' };

/**
 * Reads digits as dialled, with or without `+`, from somebody in `country`. What is a valid number with its country code
 * is taken for one (the spec asks for E.164 digits); what is valid only within the country is completed to E.164.
 */
export function readDialledNumber(text: string, country: string): DialledNumber {
  const key = `${country} ${text}`;
  const known = lately.get(key);
  if (known !== undefined) return known;
  const number = read(text, country);
  // No real number is longer: longer texts must not fill the memory.
  if (text.length <= LONGEST_KEPT) lately.set(key, number);
  return number;
}

/** Results for numbers that were read lately: a call reads its number several times, and each time searches large tables. */
const lately = new RecentMap<DialledNumber>(10_000);
const LONGEST_KEPT = 32;

function read(text: string, country: string): DialledNumber {
  const digits = text.replace(/^\+/, '');
  if (!/^\d+$/.test(digits)) return { kind: 'invalid' };
  if (digits.length <= LONGEST_SHORT_CODE) return { kind: 'special', digits };
  const international = parsePhoneNumberFromString(`+${digits}`);
  const national =
    international?.isValid() || text.startsWith('+') || !isCountry(country)
      ? undefined
      : parsePhoneNumberFromString(digits, country);
  const readings = [international, national].filter((number) => number !== undefined);
  // Numbering plans grow: a number of a possible length is dialled even if its range is not known here.
  const number =
    readings.find((reading) => reading.isValid()) ??
    readings.find((reading) => reading.isPossible());
  if (number === undefined) return { kind: 'invalid' };
  if (number.getType() === 'PREMIUM_RATE') return { kind: 'special', digits };
  return { kind: 'e164', e164: number.number.slice(1), country: number.country };
}

const isCountry = (text: string): text is CountryCode => isSupportedCountry(text);
