/** Validates the signatures of callbacks, with the Web Crypto API. */

type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;
type Pairs = readonly (readonly [name: string, value: string])[];

/**
 * Tells whether a callback was signed with the account's token.
 *
 * @param headers header fields of the request, as `Headers` or as in Node's `request.headers`
 * @param url URL as configured, with its query and without fragment; behind a proxy, with the public host. For the
 *   upgrade of a WebSocket, write `https` for `wss` and `http` for `ws`
 * @param parameters form of the body, as pairs or `URLSearchParams`; empty for GET
 */
export async function isSigned(
  headers: HeaderSource,
  url: string,
  authToken: string,
  parameters: Pairs | URLSearchParams = [],
): Promise<boolean> {
  const signature = field(headers, 'X-Plivo-Signature-V3');
  const nonce = field(headers, 'X-Plivo-Signature-V3-Nonce');
  if (signature === '' || nonce === '') return false;
  const digest = await hmac(authToken, signedText(url, [...parameters], nonce));
  return isEqual(btoa(String.fromCharCode(...digest)), signature);
}

/** Tells whether a JSON event of campaigns, alarms or balances was signed with the account's token. */
export async function isSignedBody(
  headers: HeaderSource,
  body: string,
  authToken: string,
): Promise<boolean> {
  const digest = await hmac(authToken, body);
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return isEqual(`sha256=${hex}`, field(headers, 'X-VoBiz-Signature'));
}

function field(headers: HeaderSource, name: string): string {
  if (typeof headers['get'] === 'function') return headers['get'](name) ?? '';
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase());
  return typeof found?.[1] === 'string' ? found[1] : '';
}

async function hmac(token: string, text: string): Promise<Uint8Array> {
  const bytes = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes.encode(token), algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)));
}

/** Compares in a time that does not depend on the position of the first difference. */
function isEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i += 1) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

function signedText(url: string, form: Pairs, nonce: string): string {
  const [whole = '', query = ''] = url.split(/\?(.*)/s);
  const [, scheme = '', host = '', path = '/'] =
    /^([a-z]+:\/\/)(?:[^/]*@)?([^/]*)(\/.*)?$/is.exec(whole) ?? [];
  const base = `${scheme}${host}${path}`;
  const sorted = ordered([...new URLSearchParams(query)]);
  const pairs = sorted.map(([name, value]) => `${name}=${value}`).join('&');
  if (form.length === 0) return `${base}${pairs === '' ? '' : `?${pairs}`}.${nonce}`;
  const body = ordered(form).flat().join('');
  return `${base}?${pairs}${pairs === '' ? '' : '.'}${body}.${nonce}`;
}

/** Sorts by name, then value, in UTF-16 code unit order. */
const ordered = (pairs: Pairs): Pairs =>
  pairs.toSorted(([a, b], [c, d]) => (a === c ? compare(b, d) : compare(a, c)));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
