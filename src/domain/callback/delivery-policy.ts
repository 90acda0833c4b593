import type { ExchangeFailure, ExchangeRequest } from './exchange.ts';
import {
  BACKOFF_MS,
  CONNECT_TIMEOUT_MS,
  JSON_BACKOFF_MS,
  JSON_RETRIES,
  MAX_ACKNOWLEDGEMENT_BYTES,
  NOTIFICATION_READ_TIMEOUT_MS,
  RETRIES,
  TOTAL_MS,
} from './settings.ts';
import type { StoredNotification } from './types.ts';
import type { CallbackPolicy } from './url-options.ts';

/** Retry policy of notifications. A 4xx response is final and is not retried (dialect §6). */
const POLICY: CallbackPolicy = {
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  readTimeoutMs: NOTIFICATION_READ_TIMEOUT_MS,
  stallTimeoutMs: NOTIFICATION_READ_TIMEOUT_MS,
  totalMs: TOTAL_MS,
  retries: RETRIES,
  backoffMs: BACKOFF_MS,
  retryOn: new Set(['connect', 'read', '5xx']),
};

/** Policy of JSON notifications: fewer attempts at longer intervals (dialect §3.11). */
const JSON_POLICY: CallbackPolicy = {
  ...POLICY,
  retries: JSON_RETRIES,
  backoffMs: JSON_BACKOFF_MS,
};

/** Returns the delivery policy of a notification before its URL options are applied. */
export const deliveryPolicy = ({ json }: Pick<StoredNotification, 'json'>): CallbackPolicy =>
  json === undefined ? POLICY : JSON_POLICY;

/**
 * Returns whether the backlog behind a failed notification should be dropped. True for an unreachable or failing
 * server, false for 4xx.
 */
export const leavesBacklog = (
  { json }: Pick<StoredNotification, 'json'>,
  { cause, retryReason }: ExchangeFailure,
): boolean =>
  json !== undefined &&
  (cause === 'timeout' || (retryReason !== undefined && retryReason !== '4xx'));

/**
 * Builds the request of one attempt. All attempts of a notification carry the same key, because a crash can cause a
 * duplicate.
 */
export const deliveryOf = (
  { id, event, accountId, target, parameters, json }: StoredNotification,
  how: { readonly url: string; readonly policy: CallbackPolicy; readonly readTimeoutMs: number },
): ExchangeRequest => ({
  event,
  accountId,
  url: how.url,
  method: target.method,
  parameters,
  headers: { 'Idempotency-Key': id },
  ...(json !== undefined && { json, signs: 'body' as const }),
  connectTimeoutMs: how.policy.connectTimeoutMs,
  readTimeoutMs: how.readTimeoutMs,
  stallTimeoutMs: how.policy.stallTimeoutMs,
  maxResponseBytes: MAX_ACKNOWLEDGEMENT_BYTES,
});
