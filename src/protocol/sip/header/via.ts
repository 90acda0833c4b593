/** Via (RFC 3261 §20.42, RFC 3581). */
import { formatHostPort } from '../uri.ts';
import { formatParams, type Params, parseDecimal, parseParams } from './text.ts';

/** Branches of RFC 3261 begin with it (§8.1.1.7). */
export const MAGIC_COOKIE = 'z9hG4bK';

export interface Via {
  /** Upper case: `UDP`, `TCP`, `TLS`, `WS`, `WSS`, or whatever else was written. */
  readonly transport: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
  readonly branch: string | undefined;
}

const SENT =
  /^SIP[ \t]*\/[ \t]*[0-9]+\.[0-9]+[ \t]*\/[ \t]*([A-Za-z0-9\-.!%*_+`'~]+)[ \t]+(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?:[ \t]*:[ \t]*([0-9]+))?[ \t]*/i;

/** One via-parm. Undefined when malformed. */
export function parseVia(text: string): Via | undefined {
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

/** `sent-by` in a form that can be compared: host in lower case, the default port written out. */
export const sentBy = (via: Via): string =>
  `${via.host.toLowerCase()}:${via.port ?? (via.transport === 'TLS' || via.transport === 'WSS' ? 5061 : 5060)}`;
