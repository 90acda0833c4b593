import type { ErrorFamily } from './error-body.ts';
import { type Failure, failure, INVALID_TOKEN, MISSING_ACCOUNT_ID, NOT_FOUND } from './failure.ts';
import type { Route } from './route.ts';
import { pathPattern } from './url.ts';

/** Paths without a route that have a specific response. The first match wins. */
const QUIRKS: ReadonlyArray<{ readonly path: RegExp; readonly failure: Failure }> = [
  // Spec Errors, Number attach: a bare 401 when the path uses `/Number/` instead of `numbers`.
  {
    path: /^\/api\/v1\/[Aa]ccount\/[^/]+\/Number(\/|$)/,
    failure: { ...INVALID_TOKEN, bare: true },
  },
  // Spec Authentication 8: a lowercase path of the call operation gives 401. (The correct case with its slash is a route.)
  {
    path: /^\/api\/v1\/(account\/[^/]+\/[cC]all|Account\/[^/]+\/call)(\/|$)/,
    failure: INVALID_TOKEN,
  },
  // Spec Errors, Transactions: missing account id in the path.
  {
    path: /^\/api\/v1\/[Aa]ccount\/transactions(\/|$)/,
    failure: MISSING_ACCOUNT_ID,
  },
];

/** Error family of an unknown path, by words in the path. */
const FAMILIES: ReadonlyArray<readonly [RegExp, ErrorFamily]> = [
  [/^\/admin\//, 'admin'],
  [/\/transactions/, 'ledger'],
  [/\/export\//, 'export'],
  [/\/Endpoint/, 'endpoint'],
  [/\/(Call|call|Application|Recording|Conference|Subaccount|campaigns?)(\/|$)/, 'resource'],
];

export const familyOfPath = (path: string): ErrorFamily =>
  FAMILIES.find(([pattern]) => pattern.test(path))?.[1] ?? 'plain';

/** Returns the failure for a request that matches no route. */
export function unmatchedFailure(method: string, path: string, routes: readonly Route[]): Failure {
  const quirk = QUIRKS.find((row) => row.path.test(path));
  if (quirk !== undefined) return quirk.failure;
  const allowed = new Set(
    routes
      .filter(
        (route) => route.method !== method && pathPattern(route.method, route.path).test(path),
      )
      .map((route) => route.method),
  );
  if (allowed.size === 0) return NOT_FOUND;
  return failure(405, 'method not allowed', { headers: { allow: [...allowed].join(', ') } });
}
