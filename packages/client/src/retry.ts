/** Decides which requests are retried and when. */
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

const FIRST_WAIT_MS = 250;
/** Maximum wait in ms. A longer `Retry-After` makes the error final. */
const LONGEST_WAIT_MS = 30_000;

/** Statuses of requests that were refused before execution: rate limit or overload. */
const REFUSED_UNDONE: ReadonlySet<number> = new Set([429, 503]);
/** Statuses from a proxy that lost the service. The request may have been executed. */
const MAYBE_DONE: ReadonlySet<number> = new Set([502, 504]);

/**
 * Returns the wait in ms before the next attempt after `attempt` (from 1), or undefined if the error is final.
 * `isRepeatable`: the request is idempotent.
 */
export function waitBefore(
  error: unknown,
  attempt: number,
  isRepeatable: boolean,
  random: () => number,
): number | undefined {
  if (!mayRepeat(error, isRepeatable)) return undefined;
  const reported = error instanceof ApiError ? error.retryAfterMs : undefined;
  const own = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + random());
  const waitMs = Math.max(reported ?? 0, own);
  return waitMs > LONGEST_WAIT_MS ? undefined : waitMs;
}

function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ApiError) {
    return REFUSED_UNDONE.has(error.status) || (isRepeatable && MAYBE_DONE.has(error.status));
  }
  if (error instanceof ConnectionError) return isRepeatable || neverArrived(error);
  return error instanceof TimeoutError && isRepeatable;
}

/** Returns true if the request never reached a server. */
function neverArrived({ cause }: ConnectionError): boolean {
  const { code } = (cause ?? {}) as { readonly code?: string };
  return code === 'ECONNREFUSED';
}
