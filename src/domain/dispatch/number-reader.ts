/** Parses telephone numbers of contact lists and normalizes their many notations. */
import {
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { err, ok, type Result } from '../../base/result.ts';
import { readDialledNumber } from './dialled-number.ts';

/** Separators between digits. */
const PUNCTUATION = /[\s().\-\u2010-\u2015\u00a0]/g;
const DIGITS = /^\+?\d+$/;
/** Maximum length of an E.164 number, in digits. */
const DIGITS_MAX = 15;
const NOT_A_NUMBER = 'is not a phone number';

/** Parses the numbers of one list, written as in one country. */
export class NumberReader {
  readonly #country: string;
  /** Calling code and number lengths of the country. Used to recognize numbers with the country code but without `+`. */
  readonly #plan: { readonly callingCode: string; readonly lengths: ReadonlySet<number> };
  /** Cache: whether numbers with these first three digits and this length are possible. */
  readonly #possible = new Map<string, boolean>();

  /** `country`: ISO 3166-1 alpha-2 code. */
  constructor(country: string) {
    this.#country = country;
    this.#plan = planOf(country);
  }

  /** Returns E.164 digits without `+`, or a problem description that follows the column's name. */
  read(text: string): Result<string, string> {
    const written = text.replace(PUNCTUATION, '');
    if (!DIGITS.test(written)) {
      return err(/^\d+([.,]\d+)?e\+?\d+$/i.test(text.trim()) ? ROUNDED : NOT_A_NUMBER);
    }
    const digits = written.replace('+', '');
    if (digits.length > DIGITS_MAX) return err(`has more than ${DIGITS_MAX} digits`);
    if (written.startsWith('+') || this.#isInternational(digits)) {
      return this.#isPossible(digits) ? ok(digits) : err(NOT_A_NUMBER);
    }
    const number = readDialledNumber(written, this.#country);
    switch (number.kind) {
      case 'e164':
        return ok(number.e164);
      case 'special':
        return err('is a short or premium-rate number');
      case 'invalid':
        return err(NOT_A_NUMBER);
    }
  }

  /** True if the number starts with the country's calling code and is too long for a national number. */
  #isInternational(digits: string): boolean {
    const { callingCode, lengths } = this.#plan;
    return callingCode !== '' && digits.startsWith(callingCode) && !lengths.has(digits.length);
  }

  #isPossible(digits: string): boolean {
    const key = `${digits.slice(0, 3)}/${digits.length}`;
    const known = this.#possible.get(key);
    if (known !== undefined) return known;
    const possible = parsePhoneNumberFromString(`+${digits}`)?.isPossible() === true;
    this.#possible.set(key, possible);
    return possible;
  }
}

const ROUNDED = 'is a number that a spreadsheet has rounded: format its column as text';

function planOf(country: string) {
  if (!isSupportedCountry(country)) return { callingCode: '', lengths: new Set<number>() };
  const metadata = new Metadata();
  metadata.selectNumberingPlan(country);
  return {
    callingCode: getCountryCallingCode(country) as string,
    lengths: new Set(metadata.numberingPlan?.possibleLengths() ?? []),
  };
}
