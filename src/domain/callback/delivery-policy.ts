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

/** 4xx is not retried on notifications (dialect §6): the customer has said no. */
const POLICY: CallbackPolicy = {
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  readTimeoutMs: NOTIFICATION_READ_TIMEOUT_MS,
  stallTimeoutMs: NOTIFICATION_READ_TIMEOUT_MS,
  totalMs: TOTAL_MS,
  retries: RETRIES,
  backoffMs: BACKOFF_MS,
  retryOn: new Set(['connect', 'read', '5xx']),
};

/** Fewer attempts, further apart (dialect §3.11). */
const JSON_POLICY: CallbackPolicy = {
  ...POLICY,
  retries: JSON_RETRIES,
  backoffMs: JSON_BACKOFF_MS,
};

/** How a notification is delivered, before the options of its URL. */
export const deliveryPolicy = ({ json }: Pick<StoredNotification, 'json'>): CallbackPolicy =>
  json === undefined ? POLICY : JSON_POLICY;

/** A server that cannot be reached, or fails, will fail for what waits behind as well; one that says no (4xx) will not. */
export const leavesBacklog = (
  { json }: Pick<StoredNotification, 'json'>,
  { cause, retryReason }: ExchangeFailure,
): boolean =>
  json !== undefined &&
  (cause === 'timeout' || (retryReason !== undefined && retryReason !== '4xx'));

/** One attempt. Each of a notification bears the same key: one may arrive twice when a node dies before it could note the answer. */
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
