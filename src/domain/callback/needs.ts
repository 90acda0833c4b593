import type { AccountId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { NodeRef } from '../cluster/types.ts';
import type { Delivery, DeliveryFilter, HttpMethod, StoredNotification } from './types.ts';

export interface HttpRequest {
  readonly method: HttpMethod;
  /** Absolute URL without fragment. For GET it already includes the parameters. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Form-encoded body of a POST. */
  readonly body: string | undefined;
  readonly connectTimeoutMs: number;
  /** Timeout for the whole response, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Timeout without received data, in milliseconds. Default: `readTimeoutMs`. */
  readonly stallTimeoutMs?: number | undefined;
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
  /** True if the request was aborted before it was sent. */
  readonly isUnsent?: boolean | undefined;
}

/** Performs one HTTP exchange with a customer's server through the egress guard, including redirects. Does not retry. */
export interface HttpCaller {
  send(request: HttpRequest, signal?: AbortSignal): Promise<Result<HttpResponse, HttpFailure>>;
}

/** Selects notifications: of one account without its campaigns' JSON, or of one campaign if `subject` is set. */
export interface PendingOf {
  readonly accountId: AccountId;
  readonly subject: string | undefined;
}

/** Stored delivery queue of notifications. `CallStore.settle` writes the hangup notification into the same table. */
export interface NotificationStore {
  /**
   * Saves a notification. Saves nothing if this node was declared dead, because its calls then belong to another node. `earlier`:
   * the earlier process that made it; saves nothing if another node has declared it dead and reported the end of the call.
   */
  put(notification: StoredNotification, earlier?: NodeRef): Promise<void>;
  /** Adopts the notifications of ended epochs for this node. Returns their number. */
  adopt(): Promise<number>;
  /** Lists notifications in the order in which they were stored. Without `of`, lists those of all accounts. */
  listPending(limit: number, of?: PendingOf): Promise<readonly StoredNotification[]>;
  recordAttempt(id: string, attempts: number): Promise<void>;
  /** Deletes a delivered or abandoned notification. */
  remove(id: string): Promise<void>;
  /** Deletes the notifications of a lane created up to `createdUs`. Returns their number. */
  removeUntil(of: PendingOf, createdUs: number): Promise<number>;
}

/** Returns the token that signs callbacks of `accountId`, and the parent's token if there is one. */
export interface SigningTokens {
  tokensOf(
    accountId: AccountId,
  ): Promise<{ readonly own: string; readonly parent: string | undefined } | undefined>;
}

/** Latest requests to customers' URLs, of all nodes. */
export interface DeliveryStore {
  /** Adds deliveries, and deletes the oldest above `perAccount` of their accounts. */
  put(deliveries: readonly Delivery[], perAccount: number): Promise<void>;
  /** Returns the deliveries of the account that match, latest first. */
  page(accountId: AccountId, filter: DeliveryFilter, slice: Slice): Promise<Page<Delivery>>;
  get(accountId: AccountId, id: string): Promise<Delivery | undefined>;
  /** Returns duration and success of all deliveries of the account. */
  timings(
    accountId: AccountId,
  ): Promise<readonly { readonly durationMs: number; readonly isDelivered: boolean }[]>;
  /** Deletes up to `limit` deliveries before `beforeUs` (microseconds UTC), or the oldest above `most`. Returns their number. */
  purge(beforeUs: number, most: number, limit: number): Promise<number>;
}
