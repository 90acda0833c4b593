/** Classifies dialled numbers: complete, special or invalid. */
import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { RecentMap } from '../../base/recent-map.ts';

/** Longest special number. The shortest international numbers have seven digits; shorter ones are network services. */
const LONGEST_SHORT_CODE = 6;

export type DialledNumber =
  | {
      readonly kind: 'e164';
      /** E.164 digits without `+`. */
      readonly e164: string;
      /** ISO 3166-1 alpha-2 code; undefined for numbers without a country (satellites, unassigned plans). */
      readonly country: string | undefined;
    }
  /** Emergency numbers, short codes and premium-rate services. */
  | { readonly kind: 'special'; readonly digits: string }
  | { readonly kind: 'invalid' };

/**
 * Parses dialled digits, with or without `+`, of a caller in `country`. A number that is valid with its country code is
 * used as is (the spec requires E.164 digits). A number that is valid only nationally is completed to E.164.
 */
export function readDialledNumber(text: string, country: string): DialledNumber {
  const key = `${country} ${text}`;
  const known = lately.get(key);
  if (known !== undefined) return known;
  const number = read(text, country);
  // Longer texts are not cached, to bound memory; real numbers are shorter.
  if (text.length <= LONGEST_RETAINED) lately.set(key, number);
  return number;
}

/** Cache of recent results: a call parses its number several times, and each parse searches large tables. */
const lately = new RecentMap<DialledNumber>(10_000);
const LONGEST_RETAINED = 32;

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
  // Numbering plans grow: accept a number of possible length even if its range is unknown.
  const number =
    readings.find((reading) => reading.isValid()) ??
    readings.find((reading) => reading.isPossible());
  if (number === undefined) return { kind: 'invalid' };
  if (number.getType() === 'PREMIUM_RATE') return { kind: 'special', digits };
  return { kind: 'e164', e164: number.number.slice(1), country: number.country };
}

const isCountry = (text: string): text is CountryCode => isSupportedCountry(text);
