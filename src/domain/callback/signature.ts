/** Builds webhook signatures (dialect §4). The HMAC is computed in base/hash. */
import { hmacSha256, hmacSha256Base64 } from '../../base/hash.ts';
import { digits, type Random } from '../../base/ids.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { asSent, decodeQuery } from './form.ts';
import type { CallbackParameters, HttpMethod } from './types.ts';

export interface SignedRequest {
  readonly method: HttpMethod;
  /** URL as configured by the customer, without fragment. For GET it includes the callback's parameters. */
  readonly url: string;
  /** Form parameters of the body. Empty for GET. */
  readonly bodyParameters: CallbackParameters;
}

/** Signing tokens: that of the owner, and that of its parent if a sub-account owns the call. */
export interface CallbackTokens {
  readonly own: string;
  readonly parent: string | undefined;
}

/** Returns 20 random decimal digits. */
export const signatureNonce = (random: Random): string => digits(random, 20);

/** Signed texts of one request, computed once for all tokens and for the log. */
export interface SignedStrings {
  readonly nonce: string;
  /** Text of the V2 signature, the same in both families. */
  readonly v2: string;
  /** Text of Plivo's V3 signature. */
  readonly plivoV3: string;
  /** Text of Vobiz's V3 signature: only the URL without query (dialect §4.1). */
  readonly vobizV3: string;
}

export function signedStrings(request: SignedRequest, nonce: string): SignedStrings {
  const place = splitUrl(request.url);
  return {
    nonce,
    v2: `${place.base}${nonce}`,
    plivoV3: plivoV3(place, request.bodyParameters, nonce),
    vobizV3: `${place.base}.${nonce}`,
  };
}

/**
 * Builds the text of Plivo's V3 signature (dialect §4.2): base URL, sorted decoded query, sorted body pairs without
 * separators, nonce. A dot precedes the body pairs only after a query, as in the SDK's validator.
 */
function plivoV3({ base, query }: Place, parameters: CallbackParameters, nonce: string): string {
  const q = query === '' ? '' : sortedQuery(query);
  if (parameters.length === 0) return `${base}${q === '' ? '' : `?${q}`}.${nonce}`;
  let body = '';
  for (const pair of sorted(parameters)) body += pair[0] + pair[1];
  return `${base}?${q}${q === '' ? '' : '.'}${body}.${nonce}`;
}

/**
 * Adds the signature headers of one request to `headers`, for each configured prefix: V2, V3 and their main-account
 * variants. A prefix that names Vobiz uses Vobiz's V3, any other Plivo's.
 */
export function signatureHeaders(
  signed: SignedStrings,
  tokens: CallbackTokens,
  prefixes: readonly string[],
  headers: Record<string, string> = {},
): Record<string, string> {
  const { own, parent } = tokens;
  const { nonce, v2 } = signed;
  const ownV2 = hmacSha256Base64(own, v2);
  const mainV2 = parent === undefined ? ownV2 : hmacSha256Base64(parent, v2);
  for (const prefix of prefixes) {
    const names = namesOf(prefix);
    const v3 = names.isVobiz ? signed.vobizV3 : signed.plivoV3;
    const ownV3 = hmacSha256Base64(own, v3);
    headers[names.v2] = ownV2;
    headers[names.v2Nonce] = nonce;
    headers[names.v3] = ownV3;
    headers[names.v3Nonce] = nonce;
    headers[names.mainV2] = mainV2;
    headers[names.mainV3] = parent === undefined ? ownV3 : hmacSha256Base64(parent, v3);
  }
  return headers;
}

interface HeaderNames {
  readonly isVobiz: boolean;
  readonly v2: string;
  readonly v2Nonce: string;
  readonly v3: string;
  readonly v3Nonce: string;
  readonly mainV2: string;
  readonly mainV3: string;
}

/** Header names by prefix. Prefixes come from the settings, so there are few. */
const headerNames = new Map<string, HeaderNames>();

function namesOf(prefix: string): HeaderNames {
  const known = headerNames.get(prefix);
  if (known !== undefined) return known;
  const isVobiz = /vobiz/i.test(prefix);
  const main = `${prefix}-${isVobiz ? 'MA' : 'Ma'}`;
  const names = {
    isVobiz,
    v2: `${prefix}-V2`,
    v2Nonce: `${prefix}-V2-Nonce`,
    v3: `${prefix}-V3`,
    v3Nonce: `${prefix}-V3-Nonce`,
    mainV2: `${main}-V2`,
    mainV3: `${main}-V3`,
  };
  headerNames.set(prefix, names);
  return names;
}

/** Returns the signature header of a JSON body (dialect §3.11): HMAC-SHA256 of its bytes, in hex. */
export const bodySignatureHeader = (
  body: string,
  tokens: Pick<CallbackTokens, 'own'>,
): Record<string, string> => ({
  'X-VoBiz-Signature': `sha256=${hmacSha256(tokens.own, body).toString('hex')}`,
});

/** Returns the headers of a WebSocket upgrade, signed as a GET of the http(s) form of the URL (dialect §1.4). */
export const upgradeSignatureHeaders = (
  url: string,
  tokens: CallbackTokens,
  prefixes: readonly string[],
  nonce: string,
): Record<string, string> =>
  signatureHeaders(
    signedStrings(
      { method: 'GET', url: asSent(url).replace(/^ws/i, 'http'), bodyParameters: [] },
      nonce,
    ),
    tokens,
    prefixes,
  );

interface Place {
  readonly base: string;
  readonly query: string;
}

/**
 * Splits a URL into `scheme://host[:port]/path` and query. Keeps the configured text, including an explicit port.
 * Drops user information and writes an empty path as `/`, as the customer's server sees the URL.
 */
function splitUrl(url: string): Place {
  const mark = url.indexOf('?');
  const whole = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  let base = bases.get(whole);
  if (base === undefined) {
    base = baseOf(whole);
    bases.set(whole, base);
  }
  return { base, query };
}

/** Base URLs of recently called URLs. Applications reuse the same URLs. */
const bases = new RecentMap<string>(1000);

function baseOf(whole: string): string {
  const match = /^([a-z]+:\/\/)(?:[^/]*@)?([^/]*)(\/.*)?$/is.exec(whole);
  if (match === null) return whole;
  const [, scheme = '', host = '', path = '/'] = match;
  return `${scheme}${host}${path}`;
}

const sortedQuery = (query: string): string =>
  sorted(decodeQuery(query))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

/** Sorts pairs by name, then value, in UTF-16 code unit order. */
const sorted = (pairs: CallbackParameters): CallbackParameters => pairs.toSorted(inOrder);

const inOrder = (one: CallbackParameters[number], other: CallbackParameters[number]): number =>
  one[0] === other[0] ? order(one[1], other[1]) : order(one[0], other[0]);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
