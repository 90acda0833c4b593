/** Checks in every REST test that the API description lists each returned status. */
import { refusalStatuses } from '../../src/edge/rest/http/statuses.ts';
import { canonicalPath, pathPattern } from '../../src/edge/rest/http/url.ts';
import { ROUTES } from '../../src/edge/rest/routes.ts';

/** Ignores failures that a test injects into the store, such as a conflict or full disk on a read. */
const isOfABrokenStore = (method: string, status: number): boolean =>
  method === 'GET' && (status === 409 || status === 507);

const KNOWN = ROUTES.map((route) => ({
  method: route.method as string,
  pattern: pathPattern(route.method, route.path),
  statuses: new Set(refusalStatuses(route)),
}));

/** Throws if a route returned an error status that its description lacks. */
export function expectDocumented(method: string, url: string, status: number): void {
  if (status < 400 || isOfABrokenStore(method, status)) return;
  const path = canonicalPath(method, url.split('?', 1)[0] ?? '');
  const routes = KNOWN.filter((route) => route.method === method && route.pattern.test(path));
  if (routes.length === 0 || routes.some(({ statuses }) => statuses.has(status))) return;
  throw new Error(`${method} ${path} returned ${status}, which the API description does not list`);
}
