/** From, To, Contact, Route, Record-Route, Refer-To, P-Asserted-Identity: `[name] <uri> *(;param)` (RFC 3261 §20.10). */
import { formatUri, parseUri, type Uri } from '../uri.ts';
import {
  endOfQuoted,
  formatParams,
  NO_PARAMS,
  type Params,
  parseParams,
  quote,
  skipBlanks,
  unquote,
} from './text.ts';

export interface NameAddr {
  /** Display name without quotes and escapes; empty if absent. */
  readonly displayName: string;
  readonly uri: Uri;
  /** Header parameters (`tag`, `expires`, `q`, …), without URI parameters. */
  readonly params: Params;
  readonly tag: string | undefined;
}

/** Characters not allowed in an unquoted display name. Others are accepted because phones write them. */
const NOT_IN_BARE_NAME = /[,;:"<>\\]/;

/** Parses one name-addr or addr-spec with its parameters. Returns undefined if malformed. */
export function parseNameAddr(text: string): NameAddr | undefined {
  let at = skipBlanks(text, 0);
  let displayName = '';
  if (text.charAt(at) === '"') {
    const end = endOfQuoted(text, at);
    if (end === undefined) return undefined;
    displayName = unquote(text.slice(at, end));
    at = skipBlanks(text, end);
    if (text.charAt(at) !== '<') return undefined;
  }
  const open = text.indexOf('<', at);
  if (open === -1) return parseAddrSpec(text, at);
  if (open > at) {
    displayName = text.slice(at, open).trim();
    // The bracket belongs to a later parameter; the address is a bare addr-spec.
    if (NOT_IN_BARE_NAME.test(displayName)) return parseAddrSpec(text, at);
  }
  const close = text.indexOf('>', open);
  if (close === -1) return undefined;
  return build(displayName, text.slice(open + 1, close), parseParams(text, close + 1));
}

/** Parses the form without brackets: every `;` starts a header parameter, and `?` and `,` are not allowed (§20). */
function parseAddrSpec(text: string, at: number): NameAddr | undefined {
  const semicolon = text.indexOf(';', at);
  const uri = (semicolon === -1 ? text.slice(at) : text.slice(at, semicolon)).trimEnd();
  if (/[?,]/.test(uri)) return undefined;
  return build('', uri, semicolon === -1 ? NO_PARAMS : parseParams(text, semicolon));
}

function build(displayName: string, uriText: string, params: Params | undefined) {
  const uri = params === undefined ? undefined : parseUri(uriText);
  if (params === undefined || uri === undefined) return undefined;
  return { displayName, uri, params, tag: params.get('tag') };
}

export interface NameAddrParts {
  readonly displayName?: string;
  readonly uri: Uri;
  readonly params?: Params;
  readonly tag?: string | undefined;
}

/** Writes the address in brackets, which keeps URI parameters separate from header parameters. */
export function formatNameAddr(parts: NameAddrParts): string {
  const name = parts.displayName ? `${quote(parts.displayName)} ` : '';
  const params = parts.params ?? NO_PARAMS;
  const tag = parts.tag !== undefined && !params.has('tag') ? `;tag=${parts.tag}` : '';
  return `${name}<${formatUri(parts.uri)}>${formatParams(params)}${tag}`;
}
