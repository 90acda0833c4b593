import type { AccountId, CallUuid } from '../../base/ids.ts';
export type HttpMethod = 'GET' | 'POST';
export type CallbackParameters = ReadonlyArray<readonly [name: string, value: string]>;

/** A configured callback URL and method. */
export interface CallbackTarget {
  /** URL as entered by the customer, including a fragment with `#ct=…` options. */
  readonly url: string;
  readonly method: HttpMethod;
}

/** A notification that is stored until it is acknowledged (2xx) or abandoned, across restarts. */
export interface StoredNotification {
  readonly id: string;
  readonly accountId: AccountId;
  /**
   * Ordering key: the UUID of a call or conference, the ID of a campaign, or `balance:<id>`. Notifications of one
   * subject are delivered in order.
   */
  readonly subject: string;
  readonly event: string;
  readonly target: CallbackTarget;
  readonly parameters: CallbackParameters;
  /** JSON body, sent by POST instead of the parameters and signed (dialect §3.11, webhooks). */
  readonly json?: string | undefined;
  readonly createdUs: number;
  readonly attempts: number;
}

/** A notification that has no ID yet. */
export type NotificationDraft = Omit<StoredNotification, 'id' | 'createdUs' | 'attempts'>;

/** A JSON event that is sent once: by POST as the body, by GET as the query. */
export interface JsonEvent {
  readonly accountId: AccountId;
  readonly callUuid: CallUuid;
  readonly name: string;
  readonly target: CallbackTarget;
  readonly body: Readonly<Record<string, string | number | boolean | null>>;
}

/** One HTTP request as sent, for the call log. */
export interface CallbackAttempt {
  readonly event: string;
  readonly url: string;
  readonly method: HttpMethod;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
  /** Exact text that was signed (Plivo V3 form). Never contains the token. */
  readonly signedString: string;
  /** Span ID of the trace, if there is one. */
  readonly spanId?: string | undefined;
  /** True if the request was aborted before it was sent. */
  readonly isUnsent?: boolean | undefined;
}

export type DocumentFailure = {
  readonly kind: 'unreachable' | 'badStatus' | 'tooLarge' | 'refusedAddress' | 'invalidUrl';
  readonly detail: string;
};

export interface FetchedDocument {
  readonly body: string;
  readonly contentType: string;
  readonly url: string;
}

/** Parts of a request that a replay sends again. */
export interface DeliveryRequest {
  readonly url: string;
  readonly parameters: CallbackParameters;
  /** JSON body, sent instead of form parameters. */
  readonly json: string | undefined;
  readonly signs: 'url' | 'body' | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

export interface Delivery {
  readonly id: string;
  readonly accountId: AccountId;
  /** Time of the answer, microseconds UTC. */
  readonly atUs: number;
  readonly attempt: Omit<CallbackAttempt, 'spanId' | 'isUnsent'>;
  /** Whether the status is 2xx. */
  readonly isDelivered: boolean;
  readonly callUuid: string | undefined;
  readonly requestBody: string;
  readonly responseBody: string;
  readonly request: DeliveryRequest;
  /** ID of the delivery that was replayed. */
  readonly replayOf: string | undefined;
}

export interface DeliveryFilter {
  readonly callUuid?: string | undefined;
  readonly event?: string | undefined;
  readonly isDelivered?: boolean | undefined;
  /** Part of the URL, or the call UUID. */
  readonly search?: string | undefined;
}
