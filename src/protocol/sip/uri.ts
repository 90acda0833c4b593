/** URIs of SIP (RFC 3261 §19.1, §25.1) and tel (RFC 3966). URIs of other schemes are kept as opaque text. */
import { bracketed } from '../../base/host.ts';
import { formatParams, NO_PARAMS, type Params, parseDecimal } from './header/text.ts';

export interface SipUri {
  readonly kind: 'sip';
  readonly secure: boolean;
  /** User part as on the wire, escapes kept; empty if the URI has only a host. `unescapeUser` gives the plain text. */
  readonly user: string;
  readonly password: string | undefined;
  /** Host as on the wire; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
  /** Text after `?`, not decoded; empty if absent. */
  readonly headers: string;
}

interface TelUri {
  readonly kind: 'tel';
  /** Number as written, with visual separators. */
  readonly number: string;
  readonly params: Params;
}

interface OtherUri {
  readonly kind: 'other';
  /** Scheme in lower case. */
  readonly scheme: string;
  readonly opaque: string;
}

export type Uri = SipUri | TelUri | OtherUri;

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const USERINFO = /^[A-Za-z0-9\-_.!~*'()&=+$,;?/%#[\]|^{}`\\\u0080-\uffff]*$/;
const PASSWORD = /^[A-Za-z0-9\-_.!~*'()&=+$,%]*$/;
const PARAM_WORD = /^[A-Za-z0-9\-_.!~*'()[\]/:&+$%"<>|^{}`\\]+$/;
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?)$/;
const BLANK_OR_CONTROL = /[\s<>"\u0000]/;

/** Parses a URI; undefined if invalid. Unknown schemes are accepted as opaque text. */
export function parseUri(text: string): Uri | undefined {
  if (text.startsWith('sip:')) return parseSipUri(false, text, 4);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return undefined;
  const restAt = scheme.length + 1;
  if (scheme === 'sip' || scheme === 'sips') return parseSipUri(scheme === 'sips', text, restAt);
  const rest = text.slice(restAt);
  if (scheme === 'tel') return parseTelUri(rest);
  if (rest === '' || BLANK_OR_CONTROL.test(rest)) return undefined;
  return { kind: 'other', scheme, opaque: rest };
}

/** Parses the text from `from`, after the scheme. */
function parseSipUri(secure: boolean, text: string, from: number): SipUri | undefined {
  const at = text.indexOf('@', from);
  if (at === from) return undefined;
  const userEnd = at === -1 ? from : firstOf(':', text, from, at);
  const user = text.slice(from, userEnd);
  const password = userEnd < at ? text.slice(userEnd + 1, at) : undefined;
  if (!USERINFO.test(user)) return undefined;
  if (password !== undefined && !PASSWORD.test(password)) return undefined;

  const hostAt = at === -1 ? from : at + 1;
  const end = firstOf('?', text, hostAt, text.length);
  const headers = text.slice(end + 1);
  if (BLANK_OR_CONTROL.test(headers)) return undefined;

  const hostEnd = firstOf(';', text, hostAt, end);
  const params = hostEnd === end ? NO_PARAMS : parseUriParams(text.slice(hostEnd + 1, end));
  const endpoint = parseHostPort(text.slice(hostAt, hostEnd));
  if (params === undefined || endpoint === undefined) return undefined;
  const { host, port } = endpoint;
  return { kind: 'sip', secure, user, password, host, port, params, headers };
}

/** Index of a character between two offsets of a text, or the second offset if it is absent. */
function firstOf(character: string, text: string, from: number, until: number): number {
  const at = text.indexOf(character, from);
  return at === -1 || at > until ? until : at;
}

function parseTelUri(rest: string): TelUri | undefined {
  const semicolon = rest.indexOf(';');
  const number = semicolon === -1 ? rest : rest.slice(0, semicolon);
  if (!/^\+?[0-9A-Fa-f*#().-]+$/.test(number)) return undefined;
  const params = semicolon === -1 ? NO_PARAMS : parseUriParams(rest.slice(semicolon + 1));
  return params === undefined ? undefined : { kind: 'tel', number, params };
}

/** Parses `name[=value]` joined by `;`, without white space. A repeated name is malformed (§19.1.1). */
function parseUriParams(text: string): Params | undefined {
  const params = new Map<string, string>();
  for (const part of text.split(';')) {
    const equals = part.indexOf('=');
    const name = (equals === -1 ? part : part.slice(0, equals)).toLowerCase();
    const value = equals === -1 ? '' : part.slice(equals + 1);
    if (!PARAM_WORD.test(name) || params.has(name)) return undefined;
    if (equals !== -1 && !PARAM_WORD.test(value)) return undefined;
    params.set(name, value);
  }
  return params;
}

export interface HostPort {
  /** Host; IPv6 addresses in brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/** Parses `host[:port]` without white space. Returns undefined if malformed or if the port is outside 1…65535. */
export function parseHostPort(text: string): HostPort | undefined {
  // Skip the colons of an IPv6 address, which end at its bracket.
  const colon = text.indexOf(':', text.startsWith('[') ? text.indexOf(']') + 1 : 0);
  const host = colon === -1 ? text : text.slice(0, colon);
  if (!HOST.test(host)) return undefined;
  if (colon === -1) return { host, port: undefined };
  const port = parseDecimal(text.slice(colon + 1), 65_535);
  return port === undefined || port === 0 ? undefined : { host, port };
}

export const formatHostPort = (host: string, port: number | undefined): string =>
  port === undefined ? host : `${host}:${port}`;

export function formatUri(uri: Uri): string {
  if (uri.kind === 'other') return `${uri.scheme}:${uri.opaque}`;
  if (uri.kind === 'tel') return `tel:${uri.number}${formatParams(uri.params)}`;
  const password = uri.password === undefined ? '' : `:${uri.password}`;
  const userinfo = uri.user === '' ? '' : `${uri.user}${password}@`;
  const headers = uri.headers === '' ? '' : `?${uri.headers}`;
  const scheme = uri.secure ? 'sips' : 'sip';
  return `${scheme}:${userinfo}${formatHostPort(uri.host, uri.port)}${formatParams(uri.params)}${headers}`;
}

export interface SipUriParts {
  readonly secure?: boolean;
  /** User as plain text; characters not allowed in a user part are escaped. */
  readonly user?: string;
  readonly host: string;
  readonly port?: number | undefined;
  readonly params?: Params;
}

/** Builds a SIP URI from plain parts. The host may be an IPv6 address without brackets. */
export const sipUri = (parts: SipUriParts): SipUri => ({
  kind: 'sip',
  secure: parts.secure ?? false,
  user: escapeUser(parts.user ?? ''),
  password: undefined,
  host: bracketed(parts.host),
  port: parts.port,
  params: parts.params ?? NO_PARAMS,
  headers: '',
});

/** Percent-escapes the characters that §25.1 does not allow in `user`. */
export const escapeUser = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-_.!~*'()&=+$,;?/]/gu, (char) =>
    [...Buffer.from(char, 'utf8')]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );

/** Decodes percent escapes. Invalid escapes and invalid UTF-8 are left unchanged. */
export function unescapeUser(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}
