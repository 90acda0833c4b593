/** Telephone numbers of contact lists: people and spreadsheets write them in many ways, one is kept. */
import {
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { err, ok, type Result } from '../../base/result.ts';
import { readDialledNumber } from './dialled-number.ts';

/** What stands between the digits. */
const PUNCTUATION = /[\s().\-\u2010-\u2015\u00a0]/g;
const DIGITS = /^\+?\d+$/;
/** Longest E.164 number. */
const DIGITS_MAX = 15;
const NOT_A_NUMBER = 'is no telephone number';

/** Reads numbers of one list, which were written in one country. */
export class NumberReader {
  readonly #country: string;
  /** Calling code of that country, where its own numbers cannot be taken for numbers with that code. */
  readonly #plan: { readonly callingCode: string; readonly lengths: ReadonlySet<number> };
  /** First digits and length → whether such numbers can be: what a numbering plan says before it looks closer. */
  readonly #possible = new Map<string, boolean>();

  /** `country`: ISO 3166-1 alpha-2. */
  constructor(country: string) {
    this.#country = country;
    this.#plan = planOf(country);
  }

  /** E.164 digits without `+`, or what is wrong, to follow the column's name. */
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

  /** With the country's own code in front, and too long for a number without it. */
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
