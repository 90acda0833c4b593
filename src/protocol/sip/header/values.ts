/** Small header values: media types, option tags, delta-seconds, dates. */
import { isToken, NO_PARAMS, type Params, parseDecimal, parseParams } from './text.ts';

/** Upper bound of delta-seconds in Expires and similar fields: 32 bits (RFC 3261 §20.19). */
const MAX_DELTA_SECONDS = 2 ** 32 - 1;

export const parseDeltaSeconds = (text: string): number | undefined =>
  parseDecimal(text, MAX_DELTA_SECONDS);

export interface MediaType {
  /** Type and subtype in lower case, `type/subtype`. */
  readonly essence: string;
  readonly params: Params;
}

/** Most frequent values in their usual spelling, which skip parsing. */
const USUAL_TYPES: ReadonlySet<string> = new Set(['application/sdp', 'application/dtmf-relay']);

/** Parses Content-Type or one Accept range (§20.1, §20.15). */
export function parseMediaType(text: string): MediaType | undefined {
  if (USUAL_TYPES.has(text)) return { essence: text, params: NO_PARAMS };
  const semicolon = text.indexOf(';');
  const essence = (semicolon === -1 ? text : text.slice(0, semicolon))
    .replace(/[ \t]*\/[ \t]*/, '/')
    .trim()
    .toLowerCase();
  const params = semicolon === -1 ? NO_PARAMS : parseParams(text, semicolon);
  const [type = '', subtype = '', more] = essence.split('/');
  if (params === undefined || more !== undefined || !isToken(type) || !isToken(subtype)) {
    return undefined;
  }
  return { essence, params };
}

export interface TokenWithParams {
  readonly token: string;
  readonly params: Params;
}

/** Parses `token *(;param)`: Event, Subscription-State, Content-Disposition, Session-Expires, Reason. */
export function parseTokenWithParams(text: string): TokenWithParams | undefined {
  const semicolon = text.indexOf(';');
  const token = (semicolon === -1 ? text : text.slice(0, semicolon)).trim();
  const params = semicolon === -1 ? NO_PARAMS : parseParams(text, semicolon);
  return params === undefined || !isToken(token) ? undefined : { token, params };
}

const SIP_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/i;

/** Returns whether the text is an rfc1123-date; its time zone is always GMT (§20.17). */
export const isSipDate = (text: string): boolean => SIP_DATE.test(text);
