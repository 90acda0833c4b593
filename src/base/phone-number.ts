/** Telephone numbers in the stored and displayed form: digits without `+`. */

/** Number as people and peers write it. A leading space is an unescaped `+` from a query. */
const WRITTEN = /^[+ ]?\d[\d ().-]*$/;

/** Returns the number of a `tel:` URI without parameters (RFC 3966). Returns other text unchanged. */
export const ofTel = (text: string): string => /^tel:([^;]+)/i.exec(text)?.[1] ?? text;

/** Maximum length of a number that can be dialed. */
export const MAX_DIALLED_LENGTH = 32;

/**
 * Normalizes a dialed number or `tel:` URI: removes visual separators (RFC 3966 §5.1.1), keeps digits, `*`, `#` and a
 * leading `+`. Returns undefined if the text is not a number.
 */
export function dialledNumber(text: string): string | undefined {
  const number = ofTel(text).replaceAll(/[\s().-]/g, '');
  return /^\+?[0-9*#]+$/.test(number) && number.length <= MAX_DIALLED_LENGTH ? number : undefined;
}

/** Converts a telephone number or `tel:` URI to the stored form. Returns names and SIP addresses unchanged. */
export function plainNumber(text: string): string {
  const written = ofTel(text);
  return WRITTEN.test(written) ? written.replaceAll(/\D/g, '') : text;
}

/** Applies `plainNumber` to an optional filter. */
export const plainFilter = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : plainNumber(text);

/** Normalizes a search text that may be part of a number. */
export const plainSearch = (text: string): string => text.replace(/^[+ ](?=\d)/, '');

/** Adds `+` to a number, as campaigns show it. Returns other text unchanged. */
export const withPlus = (digits: string): string => (/^\d/.test(digits) ? `+${digits}` : digits);
