/** Masks credentials that customers write into URLs, in logs, timelines and records. */
import { isUuid } from './ids.ts';

export const MASK = '***';

// Unanchored repetitions are bounded, because these patterns also run on messages of unauthenticated peers.
/** User information up to the last `@` before path, query or fragment, as URL parsers read it. */
const USER_INFO = /\b([a-z][a-z0-9+.-]{0,15}:\/\/)([^\s/?#"'<>\\]+)@(?=([^\s/?#"'<>\\]*))/gi;
/** Start of `sip:user:password@host` (RFC 3261 §19.1.1), up to the password. */
const SIP_USER = /\bsips?:[^:]{1,200}:/i;
/** Characters that cannot occur before the host of a SIP URI. */
const SIP_EDGES = new Set([...' \t\r\n\v\f;?"\'<>\\@'].map((letter) => letter.charCodeAt(0)));
/** Characters that end user and host of a URL. The pattern also handles other white space. */
const URL_EDGES = new Set([...' \t\r\n\v\f/?#"\'<>\\'].map((letter) => letter.charCodeAt(0)));
const AT_SIGN = 0x40;
const SIP_HOST = /^[^\s;?"'<>\\]{0,300}/;
const LONGEST_SIP_USER_INFO = 706;
/** SRTP key in `a=crypto` (RFC 4568 §9.2). */
const SRTP_KEY = /\b(inline:)[A-Za-z0-9+/=]{16,}/g;
const QUERY_FIELD = /([?&])([\w.~%[\]-]{1,100})=([^\s&#"'<>\\]+)/g;
const SECRET_NAME =
  /token|secret|passw|^pass$|^pwd?$|^pin$|api_?-?key|^key$|[-_.]key$|^auth$|auth_?-?code|authoriz|^sig$|signature|credential|jwt|^code$|^hmac$/i;
/** A long value with letters and digits counts as a secret, regardless of its name. UUIDs and escaped URLs do not. */
const OPAQUE = /^(?=.*\d)(?=.*[a-z])[\w.~+/=%-]{24,}$/i;
const URL_SHAPED = /^\w+%3a/i;

/** Removes user information from a URL, which must not appear in logs, callbacks or records. */
export const withoutUserInfo = (url: string): string => url.replace(/^(\w+:\/\/)[^/?#]*@/, '$1');

/** Replaces the credentials before the host of URLs: user information, or the password of a SIP URI. */
export function replaceCredentials(
  text: string,
  replacement: (secret: string, host: string) => string,
): string {
  if (!text.includes('@')) return text;
  const replaced = (_whole: string, head: string, secret: string, host: string): string =>
    `${head}${replacement(secret, host)}@`;
  const plain = mayNameUser(text) ? text.replace(USER_INFO, replaced) : text;
  return maySayPassword(plain) ? withoutSipPasswords(plain, replacement) : plain;
}

/** Returns whether a URL in the text has an `@` before its host. Avoids the slower pattern for most texts. */
function mayNameUser(text: string): boolean {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    for (let next = at + 3; next < text.length; next += 1) {
      const code = text.charCodeAt(next);
      if (code === AT_SIGN) return true;
      if (URL_EDGES.has(code)) break;
    }
  }
  return false;
}

/**
 * Replaces SIP passwords. Checks each `@` and the text before it once, because one pattern over the whole text would
 * be slow for some inputs.
 */
function withoutSipPasswords(
  text: string,
  replacement: (secret: string, host: string) => string,
): string {
  let out = '';
  let done = 0;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const least = Math.max(done, at - LONGEST_SIP_USER_INFO);
    let from = at;
    while (from > least && !SIP_EDGES.has(text.charCodeAt(from - 1))) from -= 1;
    const user = SIP_USER.exec(text.slice(from, at));
    if (user === null) continue;
    const secretAt = from + user.index + user[0].length;
    if (secretAt === at) continue;
    const host = SIP_HOST.exec(text.slice(at + 1, at + 301))?.[0] ?? '';
    out += text.slice(done, secretAt) + replacement(text.slice(secretAt, at), host);
    done = at;
  }
  return out + text.slice(done);
}

/** Returns whether a second colon precedes the last `@`. Most addresses have none, so the pattern is skipped. */
const maySayPassword = (text: string): boolean =>
  text.lastIndexOf(':', text.lastIndexOf('@')) > text.indexOf(':');

/** Masks the passwords and secret query fields of URLs, and SRTP keys. */
export function maskSecrets(text: string): string {
  const plain = text.includes('inline:') ? text.replace(SRTP_KEY, `$1${MASK}`) : text;
  const masked = replaceCredentials(plain, () => MASK);
  // Most lines have no query field. This check avoids the pattern.
  if (!masked.includes('=')) return masked;
  return masked.replace(QUERY_FIELD, maskField);
}

function maskField(whole: string, mark: string, name: string, value: string): string {
  const secret = SECRET_NAME.test(name) || isOpaque(value);
  return secret ? `${mark}${name}=${MASK}` : whole;
}

const isOpaque = (value: string): boolean =>
  OPAQUE.test(value) && !isUuid(value) && !URL_SHAPED.test(value);

/** Masks every string inside a value, up to `depth` levels. */
export function maskDeep(value: unknown, depth = 6): unknown {
  if (typeof value === 'string') return maskSecrets(value);
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, depth - 1));
  const facts = value as Readonly<Record<string, unknown>>;
  let shown: Record<string, unknown> | undefined;
  for (const name in facts) {
    const inner = facts[name];
    if (typeof inner !== 'string' && typeof inner !== 'object') continue;
    const masked = maskDeep(inner, depth - 1);
    if (masked === inner) continue;
    shown ??= { ...facts };
    shown[name] = masked;
  }
  return shown ?? value;
}
