/** Via (RFC 3261 §20.42, RFC 3581). */
import { formatHostPort } from '../uri.ts';
import { formatParams, isToken, type Params, parseDecimal, parseParams } from './text.ts';

/** Prefix of RFC 3261 branches (§8.1.1.7). */
export const MAGIC_COOKIE = 'z9hG4bK';

export interface Via {
  /** Transport in upper case: `UDP`, `TCP`, `TLS`, `WS`, `WSS`, or the received text. */
  readonly transport: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
  readonly branch: string | undefined;
}

const SENT =
  /^SIP[ \t]*\/[ \t]*[0-9]+\.[0-9]+[ \t]*\/[ \t]*([A-Za-z0-9\-.!%*_+`'~]+)[ \t]+(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?:[ \t]*:[ \t]*([0-9]+))?[ \t]*/i;

/** Parses one via-parm. Returns undefined if malformed. */
export function parseVia(text: string): Via | undefined {
  return parseUsual(text) ?? parseAny(text);
}

const USUAL = 'SIP/2.0/';
const HOST = /^[A-Za-z0-9_.-]+$/;

/** Fast path for the usual spelling without blanks around slashes and colon. Returns undefined for other text. */
function parseUsual(text: string): Via | undefined {
  if (!text.startsWith(USUAL)) return undefined;
  const blank = text.indexOf(' ', USUAL.length);
  const semicolon = text.indexOf(';', blank);
  if (blank === -1 || semicolon === -1) return undefined;
  const colon = text.indexOf(':', blank);
  const hasPort = colon !== -1 && colon < semicolon;
  const transport = text.slice(USUAL.length, blank);
  const host = text.slice(blank + 1, hasPort ? colon : semicolon);
  const port = hasPort ? parseDecimal(text.slice(colon + 1, semicolon), 65_535) : undefined;
  if (!isToken(transport) || !HOST.test(host) || (hasPort && port === undefined)) return undefined;
  const params = parseParams(text, semicolon);
  if (params === undefined) return undefined;
  return { transport: transport.toUpperCase(), host, port, params, branch: params.get('branch') };
}

function parseAny(text: string): Via | undefined {
  const match = SENT.exec(text);
  const transport = match?.[1];
  const host = match?.[2];
  if (match === null || transport === undefined || host === undefined) return undefined;
  const port = match[3] === undefined ? undefined : parseDecimal(match[3], 65_535);
  if (match[3] !== undefined && port === undefined) return undefined;
  const params = parseParams(text, match[0].length);
  if (params === undefined) return undefined;
  return { transport: transport.toUpperCase(), host, port, params, branch: params.get('branch') };
}

export const formatVia = (via: Omit<Via, 'branch'>): string =>
  `SIP/2.0/${via.transport} ${formatHostPort(via.host, via.port)}${formatParams(via.params)}`;

/** Comparable form of `sent-by`: host in lower case, default port written out. */
export const sentBy = (via: Via): string =>
  `${via.host.toLowerCase()}:${via.port ?? (via.transport === 'TLS' || via.transport === 'WSS' ? 5061 : 5060)}`;
