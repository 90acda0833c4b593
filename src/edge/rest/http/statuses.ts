/** Lists every error status of a route: those of the gate, the schemas and the store, and those that the route declares. */
import { takesKeys } from './once.ts';
import type { Route } from './route.ts';

/** Audiences that need no credentials. */
const OPEN: ReadonlySet<Route['audience']> = new Set(['public', 'anyone']);
/** Audiences of account routes. They can refuse the account in the path, an inactive account or a missing permission. */
const OF_ACCOUNTS: ReadonlySet<Route['audience']> = new Set([
  'account',
  'accountOrAccessToken',
  'caller',
  'callerOrAccessToken',
  'link',
]);

export const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'A field, parameter or header is invalid; the body names it',
  401: 'Missing or wrong credentials',
  402: 'The balance or the daily spend limit is too low',
  403: 'The client is not allowed to do this',
  404: 'The object does not exist',
  409: 'Conflicts with an existing object, or the Idempotency-Key was used with another request',
  413: 'The body is too large',
  415: 'The body is not JSON',
  416: 'The range is outside the file',
  429: 'Too many requests or calls; Retry-After says when to retry',
  500: 'Internal error',
  501: 'Not available on this node',
  502: 'The call counter is unavailable',
  503: 'Temporarily unavailable; Retry-After says when to retry',
  507: 'The disk is full',
};

export function refusalStatuses(route: Route): readonly number[] {
  const statuses = new Set<number>([500, 503, ...(route.alsoRefuses ?? [])]);
  const ofAccounts = OF_ACCOUNTS.has(route.audience);
  const named = Object.keys(
    (route.params as { properties?: object } | undefined)?.properties ?? {},
  );
  if (!OPEN.has(route.audience)) statuses.add(401).add(429);
  // 403 also applies to the roles of console users.
  if (!OPEN.has(route.audience) && route.audience !== 'guest') statuses.add(403);
  if (ofAccounts || route.audience === 'admin' || named.length > 0 || route.query !== undefined) {
    statuses.add(400);
  }
  const objects = ofAccounts ? named.filter((name) => name !== 'auth_id') : named;
  if (objects.length > 0 || route.unknownAccountStatus !== undefined) statuses.add(404);
  if (takesKeys(route) || route.ownKeys) statuses.add(409);
  if (route.method !== 'GET') statuses.add(400).add(413).add(415).add(507);
  return [...statuses].sort((a, b) => a - b);
}
