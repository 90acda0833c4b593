import type { AccountId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { HttpMethod, StoredNotification } from './types.ts';

export interface HttpRequest {
  readonly method: HttpMethod;
  /** Absolute, without fragment. For GET the parameters are already in the query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Form-encoded body of a POST. */
  readonly body: string | undefined;
  readonly connectTimeoutMs: number;
  /** For the whole answer. */
  readonly readTimeoutMs: number;
  /** Until anything comes, at first and in between; default: as long as for the whole answer. */
  readonly stallTimeoutMs?: number;
  readonly maxResponseBytes: number;
  readonly maxRedirects: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly durationMs: number;
}

export type HttpFailureKind =
  | 'connect'
  | 'timeout'
  | 'tooLarge'
  | 'tooManyRedirects'
  | 'refusedAddress'
  | 'protocol'
  | 'aborted';
export interface HttpFailure {
  readonly kind: HttpFailureKind;
  readonly detail: string;
  readonly durationMs: number;
}

/** One HTTP exchange with a customer's server, through the egress guard (redirects too). No retries here. */
export interface HttpCaller {
  send(request: HttpRequest, signal?: AbortSignal): Promise<Result<HttpResponse, HttpFailure>>;
}

/** The delivery queue of notifications. `CallStore.settle` writes the hangup notification into the same table. */
export interface NotificationStore {
  put(notification: StoredNotification): Promise<void>;
  /** The oldest first (`createdUs`, then order of arrival), of one account or of all. */
  listPending(limit: number, accountId?: AccountId): Promise<readonly StoredNotification[]>;
  recordAttempt(id: string, attempts: number): Promise<void>;
  /** Delivered or given up: it leaves the delivery queue. */
  remove(id: string): Promise<void>;
}

/** The account token that signs callbacks of `accountId`, and its parent's when there is one. */
export interface SigningTokens {
  tokensOf(
    accountId: AccountId,
  ): Promise<{ readonly own: string; readonly parent: string | undefined } | undefined>;
}
