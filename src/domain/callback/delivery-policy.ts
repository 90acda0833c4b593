import {
  BACKOFF_MS,
  CONNECT_TIMEOUT_MS,
  JSON_BACKOFF_MS,
  JSON_RETRIES,
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
