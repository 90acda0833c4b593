/** Normalizes the URLs of clients to the form under which routes are mounted. */

/** `POST …/Call` requires its slash (spec Errors: Make call). All other routes accept both forms. */
const CALL_COLLECTION = /^\/api\/v1\/Account\/[^/]+\/Call\/?$/;

/** Plivo's number routes exist under `/v1` only: under `/api/v1` the spec defines another response for the same path. */
const PLIVO_NUMBERS = /^\/v1\/Account\/[^/]+\/(Phone)?Number(\/|$)/;

/** The vendor's clients read call records with `account` in the path. */
const CALL_RECORDS = /^\/api\/v1\/account\/(?=[^/]+\/cdr(\/|$))/;

/**
 * Returns the path for the router. `/v1/…` equals `/api/v1/…` (spec: `resource_uri`; dialect §0.2 rule 6). A trailing slash
 * matters only for placing calls.
 */
export function canonicalUrl(method: string, url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  const query = end === -1 ? '' : url.slice(end);
  return canonicalPath(method, path) + query;
}

export function canonicalPath(method: string, path: string): string {
  const prefixed = path.startsWith('/v1/') && !PLIVO_NUMBERS.test(path) ? `/api${path}` : path;
  const full = prefixed.replace(CALL_RECORDS, '/api/v1/Account/');
  if (CALL_COLLECTION.test(full)) {
    return method === 'POST' || full.endsWith('/') ? full : `${full}/`;
  }
  // Removes several slashes: Plivo's client reads an account at `…/Account/<id>//`.
  let end = full.length;
  while (end > 1 && full[end - 1] === '/') end -= 1;
  return full.slice(0, end);
}

/** Converts `/a/{b}` to the router's notation. A parameter before a dot ends at the dot. */
export const routerPath = (method: string, path: string): string =>
  canonicalPath(method, path)
    .replaceAll(/\{(\w+)\}(?=\.)/g, ':$1(^[^.]+)')
    .replaceAll(/\{(\w+)\}/g, ':$1');

/** Returns an expression that matches the canonical paths of a documented path. */
export const pathPattern = (method: string, path: string): RegExp =>
  new RegExp(
    `^${canonicalPath(method, path)
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  );
