/** WWW-Authenticate, Proxy-Authenticate, Authorization, Proxy-Authorization (RFC 3261 §20.7, RFC 7616 §3). */
import { endOfQuoted, isToken, skipBlanks, unquote } from './text.ts';

export interface AuthFields {
  /** Scheme as written; compare it case-insensitively. */
  readonly scheme: string;
  /** Parameters with lower-case names and unquoted values. Empty for a scheme with opaque data. */
  readonly params: ReadonlyMap<string, string>;
}

/** Parses one challenge or one set of credentials. Returns undefined if malformed. Unknown schemes are valid. */
export function parseAuth(text: string): AuthFields | undefined {
  const blank = /[ \t]/.exec(text)?.index ?? text.length;
  const scheme = text.slice(0, blank);
  if (!isToken(scheme)) return undefined;
  const params = new Map<string, string>();
  let at = skipBlanks(text, blank);
  while (at < text.length) {
    const equals = text.indexOf('=', at);
    if (equals === -1) return scheme.toLowerCase() === 'digest' ? undefined : { scheme, params };
    const name = text.slice(at, equals).trim().toLowerCase();
    const start = skipBlanks(text, equals + 1);
    const end = text.charAt(start) === '"' ? endOfQuoted(text, start) : nextComma(text, start);
    if (end === undefined || !isToken(name) || params.has(name)) return undefined;
    params.set(name, unquote(text.slice(start, end).trim()));
    at = skipBlanks(text, end);
    if (at < text.length && text.charAt(at) !== ',') return undefined;
    // Empty list elements are accepted, as in every `#rule` list of HTTP.
    while (text.charAt(at) === ',') at = skipBlanks(text, at + 1);
  }
  return { scheme, params };
}

const nextComma = (text: string, at: number): number => {
  const comma = text.indexOf(',', at);
  return comma === -1 ? text.length : comma;
};
