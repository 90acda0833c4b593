/** Formats a count: `1 row`, `2 rows`. */
export const quantity = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? '' : 's'}`;

/** Cuts a string to `max` UTF-16 units without splitting a surrogate pair. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max);
  const last = cut.charCodeAt(cut.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut;
}

/** Splits a text between words into pieces of at most `max` UTF-16 units (2 or more), without splitting a surrogate pair. */
export function pieces(text: string, max: number): string[] {
  const found: string[] = [];
  let rest = text.trim();
  while (rest.length > max) {
    const space = rest.lastIndexOf(' ', max);
    const piece = space > 0 ? rest.slice(0, space) : truncate(rest, max);
    found.push(piece.trimEnd());
    rest = rest.slice(piece.length).trimStart();
  }
  return rest === '' ? found : [...found, rest];
}

/** Copies a text. A substring keeps the whole original text in memory, so substrings that are kept for a long time are copied. */
export const ownCopy = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/**
 * Returns whether a text has only characters of base64 (RFC 4648 §4) and at most two of padding at its end. It searches for
 * another character: an expression for the whole text can exhaust the stack of V8 from 5 MB on.
 */
export function isBase64(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  return !NOT_BASE64.test(text.slice(0, text.length - padding));
}
