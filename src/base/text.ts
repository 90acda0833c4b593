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

/** Copies a text. A substring keeps the whole original text in memory, so substrings that are kept for a long time are copied. */
export const ownCopy = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');
