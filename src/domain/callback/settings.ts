/** Settings of callbacks (dialect §6 "Callback retry"). */
export interface CallbackSettings {
  readonly userAgent: string;
  /** Prefixes of the signature headers, e.g. X-Vobiz-Signature. A prefix that contains "vobiz" selects Vobiz's computation. */
  readonly signatureHeaders: readonly string[];
  /** Time after which a document request without any response data is abandoned, in milliseconds. */
  readonly firstByteMs: number;
  /** True if requests about a call carry its trace (W3C Trace Context). */
  readonly traceparent?: boolean;
}

export const CONNECT_TIMEOUT_MS = 2000;
/** Read timeout of documents. Longer than for notifications, because a caller is waiting and a bot may need time. */
export const DOCUMENT_READ_TIMEOUT_MS = 10_000;
export const NOTIFICATION_READ_TIMEOUT_MS = 5000;
/** Maximum number of retries and total time, after which the answer URL has failed (spec, Limits: 3 retries or 60 s). */
export const RETRIES = 3;
export const TOTAL_MS = 60_000;
/** Pauses before the first, second and third retry, in milliseconds. Later retries use the third value. */
export const BACKOFF_MS = [500, 1000, 2000] as const;
/** Retries of JSON notifications (dialect §3.11): three attempts at about 0, 5 and 30 s. */
export const JSON_RETRIES = 2;
export const JSON_BACKOFF_MS = [5000, 25_000] as const;
/** Maximum age of a campaign's waiting notifications while its server fails. Older ones are abandoned with the next failure. */
export const MAX_BACKLOG_AGE_MS = 300_000;
export const MAX_REDIRECTS = 3;
/** Maximum size of answer XML: 100 KB (dialect §2.0). One byte more is read to distinguish "too large" from "just fits". */
export const MAX_DOCUMENT_BYTES = 100 * 1024;
/** Maximum size of a notification response. The body is discarded; it is read only to keep the connection open. */
export const MAX_ACKNOWLEDGEMENT_BYTES = 16 * 1024;

/** Maximum wait of an `action` request for earlier notifications. Short, because a caller is waiting. */
export const ORDER_WAIT_MS = 500;

/** Maximum number of notifications per account in memory. More wait in the store. */
export const MAX_QUEUED_PER_ACCOUNT = 1000;
/** Maximum number of notifications per campaign in memory. */
export const MAX_QUEUED_PER_CAMPAIGN = 200;
/** Maximum number of notifications of all accounts in memory. */
export const MAX_QUEUED = 20_000;
/** Maximum number of concurrent exchanges per account. */
export const MAX_DELIVERIES_PER_ACCOUNT = 32;
/** Maximum number of concurrent JSON events per account. Further events are not sent. */
export const MAX_JSON_EVENTS_PER_ACCOUNT = 256;
/** Maximum age of a notification after a restart. Older ones are outdated and abandoned. */
export const MAX_NOTIFICATION_AGE_MS = 24 * 3_600_000;
