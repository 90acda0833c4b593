/** Lexical rules shared by all SIP headers (RFC 3261 §25.1), as pure functions on text. */

/** Header or URI parameters: lower-case name to raw value (quotes kept). A flag such as `lr` has an empty value. */
export type Params = ReadonlyMap<string, string>;

export const NO_PARAMS: Params = new Map();

const TOKEN = /^[A-Za-z0-9\-.!%*_+`'~]+$/;

export const isToken = (text: string): boolean => TOKEN.test(text);

const ZERO = 48;
const QUOTE = 34;
const COMMA = 44;
const SEMICOLON = 59;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const BACKSLASH = 92;

const isBlank = (code: number): boolean => code === 32 || code === 9;

/** Index of the first character at or after `at` that is not SP or HT. */
export function skipBlanks(text: string, at: number): number {
  let i = at;
  while (i < text.length && isBlank(text.charCodeAt(i))) i += 1;
  return i;
}

/** Part of a text without surrounding SP and HT. Unlike `trim`, it keeps other Unicode spaces. */
export function trimmed(text: string, from: number, until: number): string {
  let end = until;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end -= 1;
  let start = from;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  return text.slice(start, end);
}

/** Index just after the quoted string that starts at `at`, or undefined if it is not closed. */
export function endOfQuoted(text: string, at: number): number | undefined {
  for (let i = at + 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i += 1;
    else if (code === QUOTE) return i + 1;
  }
  return undefined;
}

/** Splits at commas outside quoted strings and angle brackets; elements are trimmed. */
export function splitList(value: string): string[] {
  if (value.indexOf(',') === -1) return [value];
  const out: string[] = [];
  let start = 0;
  let inBrackets = false;
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code === QUOTE && !inBrackets) i = (endOfQuoted(value, i) ?? value.length) - 1;
    else if (code === LESS) inBrackets = true;
    else if (code === GREATER) inBrackets = false;
    else if (code === COMMA && !inBrackets) {
      out.push(value.slice(start, i).trim());
      start = i + 1;
    }
  }
  out.push(value.slice(start).trim());
  return out;
}

/** Text of a quoted string without quotes and escapes; other text is returned unchanged. */
export function unquote(text: string): string {
  if (text.length < 2 || text.charCodeAt(0) !== QUOTE || !text.endsWith('"')) return text;
  const inner = text.slice(1, -1);
  return inner.indexOf('\\') === -1 ? inner : inner.replace(/\\([\s\S])/g, '$1');
}

/** Writes a quoted string. Control characters become spaces, because they cannot be encoded. */
export const quote = (text: string): string =>
  `"${text.replace(/[\u0000-\u001f\u007f]+/g, ' ').replace(/["\\]/g, '\\$&')}"`;

/**
 * Reads `*( SEMI name [ EQUAL value ] )` from `at` to the end. Returns undefined if malformed: an empty parameter, an
 * invalid name, a repeated name (RFC 3261 §7.3.1) or an unexpected character.
 */
export function parseParams(text: string, at: number): Params | undefined {
  let i = skipBlanks(text, at);
  if (i >= text.length) return NO_PARAMS;
  const params = new Map<string, string>();
  while (i < text.length) {
    if (text.charCodeAt(i) !== SEMICOLON) return undefined;
    i = skipBlanks(text, i + 1);
    const nameStart = i;
    i = endOfWord(text, i);
    const name = text.slice(nameStart, i).toLowerCase();
    if (!isToken(name) || params.has(name)) return undefined;
    i = skipBlanks(text, i);
    if (text.charCodeAt(i) !== EQUALS) {
      params.set(name, '');
      continue;
    }
    const valueStart = skipBlanks(text, i + 1);
    const valueEnd =
      text.charCodeAt(valueStart) === QUOTE
        ? endOfQuoted(text, valueStart)
        : endOfWord(text, valueStart);
    if (valueEnd === undefined || valueEnd === valueStart) return undefined;
    params.set(name, text.slice(valueStart, valueEnd));
    i = skipBlanks(text, valueEnd);
  }
  return params;
}

/** Index of the first blank, `;`, `,`, `=` or quote at or after `at`. */
export function endOfWord(text: string, at: number): number {
  let i = at;
  for (; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (isBlank(code) || code === SEMICOLON || code === COMMA || code === QUOTE) break;
    if (code === EQUALS) break;
  }
  return i;
}

export function formatParams(params: Params): string {
  let out = '';
  for (const [name, value] of params) out += value === '' ? `;${name}` : `;${name}=${value}`;
  return out;
}

/** Copy with one parameter set (an empty value writes a flag) or, with undefined, removed. */
export function withParam(params: Params, name: string, value: string | undefined): Params {
  const copy = new Map(params);
  if (value === undefined) copy.delete(name.toLowerCase());
  else copy.set(name.toLowerCase(), value);
  return copy;
}

/** Decimal integer in [0, max], or undefined for other text. Only digits; leading zeros are allowed. */
export function parseDecimal(text: string, max: number): number | undefined {
  if (text.length === 0) return undefined;
  let value = 0;
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
    if (value > max) return undefined;
  }
  return value;
}
