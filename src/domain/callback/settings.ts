/** How callbacks are made: dialect §6 "Callback retry". */
export interface CallbackSettings {
  readonly userAgent: string;
  /** Prefixes of the signature headers, e.g. X-Vobiz-Signature; one with "vobiz" in it is computed the Vobiz way. */
  readonly signatureHeaders: readonly string[];
  /** A document of which nothing comes for so long is given up. */
  readonly firstByteMs: number;
  /** Requests about a call carry its trace (W3C Trace Context). */
  readonly traceparent?: boolean;
}

export const CONNECT_TIMEOUT_MS = 2000;
/** A document is waited for longer than an acknowledgement: a caller is on the line, a bot may think. */
export const DOCUMENT_READ_TIMEOUT_MS = 10_000;
export const NOTIFICATION_READ_TIMEOUT_MS = 5000;
/** Spec, Limits: the answer URL has failed after 3 retries or 60 s. */
export const RETRIES = 3;
export const TOTAL_MS = 60_000;
/** Wait before the first, second and third retry; later ones wait as long as the third. */
export const BACKOFF_MS = [500, 1000, 2000] as const;
/** Of JSON notifications (dialect §3.11): three attempts, at about 0, 5 and 30 s. */
export const JSON_RETRIES = 2;
export const JSON_BACKOFF_MS = [5000, 25_000] as const;
/** What a campaign tells waits so long for a server that fails; then it is given up with the next one that is. */
export const MAX_BACKLOG_AGE_MS = 300_000;
export const MAX_REDIRECTS = 3;
/** Dialect §2.0: answer XML has at most 100 KB. One byte beyond tells "too large" from "just fits". */
export const MAX_DOCUMENT_BYTES = 100 * 1024;
/** What a customer answers to a notification is thrown away; it is only read so that the connection can be kept. */
export const MAX_ACKNOWLEDGEMENT_BYTES = 16 * 1024;

/** The request to an `action` waits so long for what was told before it: a caller is on the line. */
export const ORDER_WAIT_MS = 500;

/** Notifications of one account held in memory; beyond, they wait in the store alone. */
export const MAX_QUEUED_PER_ACCOUNT = 1000;
/** … of one campaign. */
export const MAX_QUEUED_PER_CAMPAIGN = 200;
/** Notifications of all accounts held in memory. */
export const MAX_QUEUED = 20_000;
/** Exchanges of one account under way at once. */
export const MAX_DELIVERIES_PER_ACCOUNT = 32;
/** JSON events of one account under way at once; beyond, they are not sent. */
export const MAX_JSON_EVENTS_PER_ACCOUNT = 256;
/** A notification that is older is given up after a restart: it is out of date by then. */
export const MAX_NOTIFICATION_AGE_MS = 24 * 3_600_000;
