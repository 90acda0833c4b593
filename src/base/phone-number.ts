/** The one form in which telephone numbers are kept, shown and looked for: digits without `+`. */

/** As people and peers write it. A leading blank is what becomes of a `+` that was not escaped in a query. */
const WRITTEN = /^[+ ]?\d[\d ().-]*$/;

/** The number of a `tel:` URI, its parameters left aside (RFC 3966); anything else as it is. */
export const ofTel = (text: string): string => /^tel:([^;]+)/i.exec(text)?.[1] ?? text;

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
