import type { AccountId, CallUuid } from '../../base/ids.ts';
export type HttpMethod = 'GET' | 'POST';
export type CallbackParameters = ReadonlyArray<readonly [name: string, value: string]>;

/** What the customer configured: where to call, how, and whose token signs it. */
export interface CallbackTarget {
  /** As typed by the customer, URL fragment with `#ct=…` overrides included. */
  readonly url: string;
  readonly method: HttpMethod;
}

/** A notification that is kept until it is acknowledged (2xx) or given up, across restarts. */
export interface StoredNotification {
  readonly id: string;
  readonly accountId: AccountId;
  /**
   * What it tells of: a call's uuid, a conference's, a campaign's id, or `balance:<id>`. Those of one subject are
   * delivered in order.
   */
  readonly subject: string;
  readonly event: string;
  readonly target: CallbackTarget;
  readonly parameters: CallbackParameters;
  /** Sent as it is in place of the parameters, by POST, and signed itself (dialect §3.11, webhooks). */
  readonly json?: string | undefined;
  readonly createdUs: number;
  readonly attempts: number;
}

/** A notification before it has an identity. */
export type NotificationDraft = Omit<StoredNotification, 'id' | 'createdUs' | 'attempts'>;

/** Told once, in JSON: by POST as the body, by GET as the query. */
export interface JsonEvent {
  readonly accountId: AccountId;
  readonly callUuid: CallUuid;
  readonly name: string;
  readonly target: CallbackTarget;
  readonly body: Readonly<Record<string, string | number | boolean | null>>;
}

/** One HTTP request as it went over the wire, for the call's log. */
export interface CallbackAttempt {
  readonly event: string;
  readonly url: string;
  readonly method: HttpMethod;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
  /** The exact string that was signed (Plivo V3 form). Never the token. */
  readonly signedString: string;
  /** Of its trace, where there is one. */
  readonly spanId?: string | undefined;
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
