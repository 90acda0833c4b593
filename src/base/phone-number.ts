/** The one form in which telephone numbers are kept, shown and looked for: digits without `+`. */

/** As people and peers write it. A leading blank is what becomes of a `+` that was not escaped in a query. */
const WRITTEN = /^[+ ]?\d[\d ().-]*$/;

/** The number of a `tel:` URI, its parameters left aside (RFC 3966); anything else as it is. */
export const ofTel = (text: string): string => /^tel:([^;]+)/i.exec(text)?.[1] ?? text;

/** Longer ones are no numbers that can be dialled. */
export const MAX_DIALLED_LENGTH = 32;

/**
 * What a document or a request names to be dialled, or a `tel:` URI of it, without the separators that people write (RFC 3966
 * §5.1.1): digits, `*` and `#`, a leading `+` stays; undefined: it is no number.
 */
export function dialledNumber(text: string): string | undefined {
  const number = ofTel(text).replaceAll(/[\s().-]/g, '');
  return /^\+?[0-9*#]+$/.test(number) && number.length <= MAX_DIALLED_LENGTH ? number : undefined;
}

/** A telephone number, or a `tel:` URI, in that form; anything else, a name or a SIP address, as it is. */
export function plainNumber(text: string): string {
  const written = ofTel(text);
  return WRITTEN.test(written) ? written.replaceAll(/\D/g, '') : text;
}

/** The same of a filter that may be absent. */
export const plainFilter = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : plainNumber(text);

/** Part of a number, or of anything else, that is looked for. */
export const plainSearch = (text: string): string => text.replace(/^[+ ](?=\d)/, '');

/** A number with its `+`, as campaigns show it; what is no number stays as it is. */
export const withPlus = (digits: string): string => (/^\d/.test(digits) ? `+${digits}` : digits);
