import type { CallbackParameters } from './types.ts';

/**
 * Encodes `application/x-www-form-urlencoded` in the form that all frameworks decode alike: a space is %20, never
 * `+`. A lone surrogate has no UTF-8 form and becomes U+FFFD.
 */
export function formEncode(parameters: CallbackParameters): string {
  return parameters.map(encodePair).join('&');
}

const encodePair = (pair: CallbackParameters[number]): string =>
  `${encode(pair[0])}=${encode(pair[1])}`;

/** Appends parameters to the query of a URL without fragment. */
export function withQuery(url: string, parameters: CallbackParameters): string {
  if (parameters.length === 0) return url;
  const last = url.charAt(url.length - 1);
  const joint = !url.includes('?') ? '?' : last === '?' || last === '&' ? '' : '&';
  return `${url}${joint}${formEncode(parameters)}`;
}

/**
 * Returns a URL with path and query as in the request line, so that signatures cover what the server receives. Keeps
 * scheme, host and port as configured. Removes the fragment.
 */
export function asSent(url: string): string {
  const [, origin = '', path = '', query = ''] =
    /^([a-z]+:\/\/[^/?#\\]*)([^?#]*)([^#]*)/is.exec(url) ?? [];
  const sent = path === '' ? '' : (URL.parse(url)?.pathname ?? path);
  return `${origin}${sent}${query.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)}`;
}

/** Decodes a query string as a server does: `+` and %XX are decoded, malformed escapes stay unchanged. */
export function decodeQuery(query: string): CallbackParameters {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals < 0
        ? ([decode(part), ''] as const)
        : ([decode(part.slice(0, equals)), decode(part.slice(equals + 1))] as const);
    });
}

/** Text that needs no encoding, which is the common case. */
const UNRESERVED = /^[A-Za-z0-9_.~-]*$/;

const encode = (text: string): string =>
  UNRESERVED.test(text) ? text : encodeURIComponent(text.toWellFormed());

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
