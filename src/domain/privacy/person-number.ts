/** Telephone number of a person, as written in requests and in stored records. */
import {
  type CountryCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import type { AccountId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';

export interface PersonNumber {
  /** E.164 digits without `+`. */
  readonly digits: string;
  /** Country calling code. Empty if the number has no known country. */
  readonly callingCode: string;
  /** ISO 3166-1 alpha-2 code. Undefined if the number has no known country. */
  readonly country: string | undefined;
  /** National form with the trunk prefix, in digits. Undefined if it is unknown or too short to identify a person. */
  readonly national: string | undefined;
}

/** A number to search. National forms match only in records of accounts in the country of the number. */
export interface SearchedNumber extends PersonNumber {
  readonly nationalAccounts: readonly AccountId[];
}

/** Separators within a number: RFC 3966, a slash, and dashes and spaces of word processors. */
const SEPARATORS = /[\s().\-/\u2010-\u2015\u00a0]/g;
const E164_DIGITS = /^[1-9]\d{6,14}$/;
/** Digits below which a national form is likely to be a different value. */
const NATIONAL_MIN = 8;

/**
 * Parses a number with `+`, `00` or only digits, with separators, or in a `sip:` or `tel:` URI. A national number needs
 * its country (ISO 3166-1 alpha-2). The error has the field and the text that follows its name.
 */
export function readPersonNumber(
  text: string,
  country?: string,
): Result<PersonNumber, NumberFault> {
  const written = withoutSeparators(text);
  if (!/^\+?\d+$/.test(written)) return err(NOT_A_NUMBER);
  const international = /^(?:\+|00)(\d+)$/.exec(written)?.[1];
  if (international !== undefined) return complete(international);
  if (country !== undefined) {
    if (!isCountry(country)) return err({ field: 'country', what: 'is not a known country' });
    const number = parsePhoneNumberFromString(written, country);
    return number?.isPossible() ? ok(ofNumber(number)) : err(NOT_A_NUMBER);
  }
  return written.startsWith('0')
    ? err({
        field: 'number',
        what: 'is a national number: write it with + and country code, or set the country',
      })
    : complete(written);
}

export interface NumberFault {
  readonly field: 'number' | 'country';
  readonly what: string;
}

const NOT_A_NUMBER = {
  field: 'number',
  what: 'must be an E.164 number of 7 to 15 digits',
} as const;

const complete = (digits: string): Result<PersonNumber, NumberFault> =>
  E164_DIGITS.test(digits) ? ok(ofDigits(digits)) : err(NOT_A_NUMBER);

/** Completes E.164 digits with the country and the national form of the number. */
export function ofDigits(digits: string): PersonNumber {
  const number = parsePhoneNumberFromString(`+${digits}`);
  return number === undefined
    ? { digits, callingCode: '', country: undefined, national: undefined }
    : ofNumber(number);
}

function ofNumber(number: PhoneNumber): PersonNumber {
  const national = number.formatNational().replace(/\D/g, '');
  return {
    digits: number.number.slice(1),
    callingCode: number.countryCallingCode,
    country: number.country,
    national: national.length < NATIONAL_MIN ? undefined : national,
  };
}

const isCountry = (text: string): text is CountryCode => isSupportedCountry(text);

/** Returns a number or the user part of its URI, without separators and without the `(0)` before a national number. */
const withoutSeparators = (text: string): string =>
  userOf(text).replace(/\(0\)/, '').replace(SEPARATORS, '');

/** Returns the user part of a `sip:` or `tel:` URI without parameters. Returns other text unchanged. */
function userOf(text: string): string {
  const [, user] = /^\s*(?:sips?|tel):([^@;?]*)/i.exec(text) ?? [];
  if (user === undefined) return text.trim();
  return user.replace(/%2B/gi, '+');
}

/** Whether the whole text is the number in one of its forms. */
export function isNumber(text: string, number: SearchedNumber, accountId: AccountId): boolean {
  const written = withoutSeparators(text);
  const digits = written.replace(/^(?:\+|00)/, '');
  return (
    digits === number.digits ||
    (written === number.national && number.nationalAccounts.includes(accountId))
  );
}
