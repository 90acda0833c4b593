/** Which requests are sent again, and when. */
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';

const FIRST_WAIT_MS = 250;
/** A service that wants to be left alone for longer is not waited for. */
const LONGEST_WAIT_MS = 30_000;

/** Refused before anything was done: too many requests, or no room. */
const REFUSED_UNDONE: ReadonlySet<number> = new Set([429, 503]);
/** A proxy lost the service: it may have been done. */
const MAYBE_DONE: ReadonlySet<number> = new Set([502, 504]);

/**
 * How long to wait before `attempt` (from 1) is followed by another one, in milliseconds; undefined: the error is final.
 * `isRepeatable`: doing it twice is the same as doing it once.
 */
export function waitBefore(
  error: unknown,
  attempt: number,
  isRepeatable: boolean,
  random: () => number,
): number | undefined {
  if (!mayRepeat(error, isRepeatable)) return undefined;
  const told = error instanceof ApiError ? error.retryAfterMs : undefined;
  const own = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + random());
  const waitMs = Math.max(told ?? 0, own);
  return waitMs > LONGEST_WAIT_MS ? undefined : waitMs;
}

function mayRepeat(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ApiError) {
    return REFUSED_UNDONE.has(error.status) || (isRepeatable && MAYBE_DONE.has(error.status));
  }
  if (error instanceof ConnectionError) return isRepeatable || neverArrived(error);
  return error instanceof TimeoutError && isRepeatable;
}

/** Nobody listened, so nobody did anything. */
function neverArrived({ cause }: ConnectionError): boolean {
  const { code } = (cause ?? {}) as { readonly code?: string };
  return code === 'ECONNREFUSED';
}
