/** Webhook signatures of dialect §4. The strings are built here; HMAC comes from base/hash. */
import { hmacSha256 } from '../../base/hash.ts';
import { digits, type Random } from '../../base/ids.ts';
import { decodeQuery } from './form.ts';
import type { CallbackParameters, HttpMethod } from './types.ts';

export interface SignedRequest {
  readonly method: HttpMethod;
  /** As configured by the customer, without fragment; of a GET with the callback's parameters in its query. */
  readonly url: string;
  /** Form parameters of the body; none in a GET. */
  readonly bodyParameters: CallbackParameters;
}

/** The tokens that sign: the owner's, and its parent's when a sub-account owns the call. */
export interface CallbackTokens {
  readonly own: string;
  readonly parent: string | undefined;
}

/** 20 random decimal digits. */
export const signatureNonce = (random: Random): string => digits(random, 20);

/**
 * The string of Plivo's V3 signature (dialect §4.2): base URL, sorted decoded query, sorted body pairs without separators, nonce.
 * The dot before the body pairs stands only behind a query, as the SDK's validator has it.
 */
export function plivoV3String(request: SignedRequest, nonce: string): string {
  const { base, query } = splitUrl(request.url);
  const q = sorted(decodeQuery(query))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const body = sorted(request.bodyParameters)
    .map(([name, value]) => name + value)
    .join('');
  if (request.bodyParameters.length === 0) return `${base}${q === '' ? '' : `?${q}`}.${nonce}`;
  return `${base}?${q}${q === '' ? '' : '.'}${body}.${nonce}`;
}

/** Vobiz's V3 signs the URL without its query alone (dialect §4.1). */
const vobizV3String = (url: string, nonce: string): string => `${splitUrl(url).base}.${nonce}`;

/** V2 is the same in both families. */
const v2String = (url: string, nonce: string): string => `${splitUrl(url).base}${nonce}`;

const sign = (token: string, text: string): string => hmacSha256(token, text).toString('base64');

/**
 * The signature headers of one request under each configured prefix: V2, V3 and their main-account twins.
 * A prefix that names Vobiz gets Vobiz's V3, any other one Plivo's.
 */
export function signatureHeaders(
  request: SignedRequest,
  tokens: CallbackTokens,
  prefixes: readonly string[],
  nonce: string,
): Record<string, string> {
  const { own, parent } = tokens;
  const v2 = v2String(request.url, nonce);
  const ownV2 = sign(own, v2);
  const mainV2 = parent === undefined ? ownV2 : sign(parent, v2);
  const headers: Record<string, string> = {};
  for (const prefix of prefixes) {
    const isVobiz = /vobiz/i.test(prefix);
    const v3 = isVobiz ? vobizV3String(request.url, nonce) : plivoV3String(request, nonce);
    const ownV3 = sign(own, v3);
    const mainInfix = isVobiz ? 'MA' : 'Ma';
    headers[`${prefix}-V2`] = ownV2;
    headers[`${prefix}-V2-Nonce`] = nonce;
    headers[`${prefix}-V3`] = ownV3;
    headers[`${prefix}-V3-Nonce`] = nonce;
    headers[`${prefix}-${mainInfix}-V2`] = mainV2;
    headers[`${prefix}-${mainInfix}-V3`] = parent === undefined ? ownV3 : sign(parent, v3);
  }
  return headers;
}

/** Of a JSON body (dialect §3.11): HMAC-SHA256 of its bytes, in hex. */
export const bodySignatureHeader = (
  body: string,
  tokens: Pick<CallbackTokens, 'own'>,
): Record<string, string> => ({
  'X-VoBiz-Signature': `sha256=${hmacSha256(tokens.own, body).toString('hex')}`,
});

/** Headers of a WebSocket upgrade: signed as a GET of the http(s) form of the URL (dialect §1.4). */
export const upgradeSignatureHeaders = (
  url: string,
  tokens: CallbackTokens,
  prefixes: readonly string[],
  nonce: string,
): Record<string, string> =>
  signatureHeaders(
    { method: 'GET', url: url.replace(/#.*$/s, '').replace(/^ws/i, 'http'), bodyParameters: [] },
    tokens,
    prefixes,
    nonce,
  );

/**
 * `scheme://host[:port]/path` and the query. The text is taken as configured (an explicit port stays); user information is
 * dropped, as it is not part of the URL that the customer's server sees, and an empty path is `/` for the same reason.
 */
function splitUrl(url: string): { readonly base: string; readonly query: string } {
  const mark = url.indexOf('?');
  const whole = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const match = /^([a-z]+:\/\/)(?:[^/]*@)?([^/]*)(\/.*)?$/is.exec(whole);
  if (match === null) return { base: whole, query };
  const [, scheme = '', host = '', path = '/'] = match;
  return { base: `${scheme}${host}${path}`, query };
}

/** By name, then value, in the order of UTF-16 units. */
const sorted = (pairs: CallbackParameters): CallbackParameters =>
  [...pairs].sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)));

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
