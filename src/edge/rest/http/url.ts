/** Addresses as clients write them, and the one form under which routes are mounted. */

/** `POST …/Call` needs its slash (spec Errors: Make call); every other route takes both forms. */
const CALL_COLLECTION = /^\/api\/v1\/Account\/[^/]+\/Call\/?$/;

/** Numbers in Plivo's form are under `/v1` alone: the spec gives the same words under `/api/v1` another answer. */
const PLIVO_NUMBERS = /^\/v1\/Account\/[^/]+\/(Phone)?Number(\/|$)/;

/**
 * The path that the router sees: `/v1/…` is `/api/v1/…` (spec: `resource_uri`; dialect §0.2 rule 6), and a trailing
 * slash does not matter but for placing calls.
 */
export function canonicalUrl(method: string, url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  const query = end === -1 ? '' : url.slice(end);
  return canonicalPath(method, path) + query;
}

export function canonicalPath(method: string, path: string): string {
  const full = path.startsWith('/v1/') && !PLIVO_NUMBERS.test(path) ? `/api${path}` : path;
  if (CALL_COLLECTION.test(full)) {
    return method === 'POST' || full.endsWith('/') ? full : `${full}/`;
  }
  // More than one: Plivo's client reads an account at `…/Account/<id>//`.
  let end = full.length;
  while (end > 1 && full[end - 1] === '/') end -= 1;
  return full.slice(0, end);
}

/** `/a/{b}` in the router's notation. A parameter before a dot ends at the dot. */
export const routerPath = (method: string, path: string): string =>
  canonicalPath(method, path)
    .replaceAll(/\{(\w+)\}(?=\.)/g, ':$1(^[^.]+)')
    .replaceAll(/\{(\w+)\}/g, ':$1');

/** Matches the canonical paths that a documented path stands for. */
export const pathPattern = (method: string, path: string): RegExp =>
  new RegExp(
    `^${canonicalPath(method, path)
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  );
