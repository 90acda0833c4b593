import type { SipResponse } from '../message.ts';

const MS_PER_SECOND = 1000;

/**
 * Retry-After of a 503 (RFC 3261 §21.5.4) in milliseconds, ignoring comment and parameters. Undefined if absent or for
 * other responses.
 */
export function retryAfterMs(response: SipResponse): number | undefined {
  if (response.status !== 503) return undefined;
  const seconds = /^\d{1,9}/.exec(response.header('retry-after') ?? '')?.[0];
  return seconds === undefined ? undefined : Number(seconds) * MS_PER_SECOND;
}
