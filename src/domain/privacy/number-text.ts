/** Finds and replaces the forms of a telephone number in texts and JSON. */
import { ERASED } from '../cdr/types.ts';
import type { SearchedNumber } from './person-number.ts';

/** Separators between digits of a number in texts, also in encoded URLs and forms. */
export const TEXT_SEPARATORS = [
  ...[' ', '\u00a0', '-', '\u2010', '\u2011', '\u2013', '.', '/', '(', ')', '+'],
  ...['%20', '%28', '%29', '%2F'],
] as const;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
const GAP = `(?:${TEXT_SEPARATORS.map(escaped).join('|')}){0,3}`;
const spaced = (digits: string): string => [...digits].join(GAP);

/**
 * Beginning of a number: no digit or letter precedes it, except the end of a percent-encoded sign (`%2B`, `%3A`) or of a
 * JSON escape (`\n`).
 */
const BEGIN = String.raw`(?<=^|[^0-9A-Za-z]|%2[0-9A-Fa-f]|%3[A-Fa-f]|\\[nrt])`;
/** A form without trunk prefix begins like the number of another country after `+`. */
const NO_PLUS = '(?<!\\+|%2[Bb])';
const END = '(?![0-9A-Za-z])';
/** Maximum digits of E.164. Digits behind a number belong to it only while the sum is within this limit. */
const E164_MAX = 15;
/** Smallest length of a number in JSON that is taken for the telephone number, so that no amount is. */
const JSON_NUMBER_MIN = 10;

/** Returns a function that replaces the number in a text by ERASED. It returns a text without the number unchanged. */
export function eraserOf(number: SearchedNumber, withNational: boolean): (text: string) => string {
  const { digits, callingCode, national } = number;
  const rest = digits.slice(callingCode.length);
  const zero = callingCode === '' ? '' : `(?:(?:\\(0\\)|%280%29)${GAP})?`;
  const forms = [
    // An optional `+` is not part of the replaced text.
    `(?:00${GAP})?${callingCode === '' ? '' : `${spaced(callingCode)}${GAP}`}${zero}${spaced(rest)}`,
    ...(withNational && national !== undefined
      ? [`${national.startsWith('0') ? '' : NO_PLUS}${spaced(national)}`]
      : []),
  ];
  const pattern = new RegExp(`${BEGIN}(?:${forms.join('|')})${END}`, 'g');
  const replaced = (text: string): string =>
    text.replace(pattern, (match, at: number) =>
      isPartOfLonger(text, match, at) ? match : ERASED,
    );
  return (text) => {
    const json = parsed(text);
    if (json === undefined) return replaced(text);
    const change = (value: number): unknown =>
      digits.length >= JSON_NUMBER_MIN && String(value) === digits ? ERASED : value;
    const changed = JSON.stringify(inValues(json, replaced, change));
    return changed === JSON.stringify(json) ? text : changed;
  };
}

/** Whether other digits continue the number, as in `+49 30 1234567-89`, or a country code precedes it. */
function isPartOfLonger(text: string, match: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 8), at);
  if (/(?:\+|%2[Bb])\d{1,3}[ \u00a0./()-]{1,2}$/.test(before)) return true;
  const hasSeparators = /\D/.test(match);
  if (!hasSeparators && !/(?:\+|%2[Bb])$/.test(before)) return false;
  const room = E164_MAX - match.replace(/\D/g, '').length;
  const joint = hasSeparators ? /^[ \u00a0./-](\d+)(?![\d:])/ : /^[/-](\d+)(?!\d)/;
  const [, next = ''] = joint.exec(text.slice(at + match.length)) ?? [];
  if (next !== '' && next.length <= room) return true;
  const [, previous = ''] = /(\d+)[ \u00a0./-]$/.exec(before) ?? [];
  return previous !== '' && previous.length <= room;
}

/** Returns the JSON object or array of a text, or undefined. */
function parsed(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** Changes the texts, the names and the numbers of a JSON value. */
function inValues(
  value: unknown,
  text: (value: string) => string,
  number: (value: number) => unknown,
): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => inValues(one, text, number));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [text(name), inValues(one, text, number)]),
  );
}
