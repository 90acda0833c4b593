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
}

/** One HTTP exchange with a customer's server, through the egress guard (redirects too). No retries here. */
export interface HttpCaller {
  send(request: HttpRequest, signal?: AbortSignal): Promise<Result<HttpResponse, HttpFailure>>;
}

export interface CallbackLease {
  /** Resolves while this node may send. Rejects with the signal's reason when it is aborted first. */
  held(signal: AbortSignal): Promise<void>;
}

/** Of an account, its campaigns' JSON apart; with a subject: of that campaign. */
export interface PendingOf {
  readonly accountId: AccountId;
  readonly subject: string | undefined;
}

/** The delivery queue of notifications. `CallStore.settle` writes the hangup notification into the same table. */
export interface NotificationStore {
  /** Keeps nothing when this node was declared dead: its calls, and what they have to report, are another node's. */
  put(notification: StoredNotification): Promise<void>;
  /** Takes up those whose node's life is over: they are the asking node's from now on. How many. */
  adopt(): Promise<number>;
  /** In the order in which they were stored; of all without `of`. */
  listPending(limit: number, of?: PendingOf): Promise<readonly StoredNotification[]>;
  recordAttempt(id: string, attempts: number): Promise<void>;
  /** Delivered or given up: it leaves the delivery queue. */
  remove(id: string): Promise<void>;
  /** All of a lane that came into being until then; how many. */
  removeUntil(of: PendingOf, createdUs: number): Promise<number>;
}

/** The account token that signs callbacks of `accountId`, and its parent's when there is one. */
export interface SigningTokens {
  tokensOf(
    accountId: AccountId,
  ): Promise<{ readonly own: string; readonly parent: string | undefined } | undefined>;
}
