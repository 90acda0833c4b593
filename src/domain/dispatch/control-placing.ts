/** Calls that a REST client has placed. */
import type { AccountId, CallUuid, RequestUuid } from '../../base/ids.ts';
import type { CallbackTarget } from '../callback/types.ts';

export type Destination =
  /** E.164 or national digits without `+`, spaces and dashes. */
  | { readonly kind: 'number'; readonly number: string }
  /** `sip:user@host[:port][;transport=…]` as typed. */
  | { readonly kind: 'sip'; readonly uri: string };

/** Keypad digits with waits (`w` 0.5 s, `W` 1 s), sent after connect; `toneMs` is the length of each tone. */
export interface DigitString {
  readonly digits: string;
  readonly toneMs: number;
}

/** Spec "Make call", `machine_detection*`; times in milliseconds. */
export interface MachineDetectionRequest {
  /** `hangup` ends the call when a machine answered. */
  readonly mode: 'detect' | 'hangup';
  /** Asynchronous when set: the document is fetched at once and the result is told here. */
  readonly callback: CallbackTarget | undefined;
  readonly totalMs: number;
  readonly maximumSpeechMs: number;
  readonly initialSilenceMs: number;
  readonly maximumWords: number;
  readonly initialGreetingMs: number;
}

export interface PlaceCallsRequest {
  /** Main account: money and limits. */
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Caller id, digits without `+`. */
  readonly from: string;
  /** 1 to 1000. */
  readonly destinations: readonly Destination[];
  readonly answer: CallbackTarget;
  readonly ring: CallbackTarget | undefined;
  readonly hangup: CallbackTarget | undefined;
  readonly fallback: CallbackTarget | undefined;
  readonly machineDetection: MachineDetectionRequest | undefined;
  /** Undefined: the caller id's own name. At most 50 characters. */
  readonly callerName: string | undefined;
  readonly sendDigits: DigitString | undefined;
  readonly sendOnPreanswer: boolean;
  /** After the answer; at most a day. */
  readonly timeLimitMs: number;
  /** From the first 18x; undefined: no limit of its own. */
  readonly hangupOnRingMs: number | undefined;
  /** Undefined: the service's default. */
  readonly ringTimeoutMs: number | undefined;
  /** Custom SIP headers without their prefix. */
  readonly sipHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** Optional `Idempotency-Key`: the same key of the same account answers the first request again. */
  readonly idempotencyKey: string | undefined;
}

export interface PlacedCalls {
  /** Equals the call UUID when there is one destination; a batch id otherwise. */
  readonly requestUuid: RequestUuid;
  /** One per destination, in order. */
  readonly callUuids: readonly CallUuid[];
}

export type PlaceCallsRefusal =
  | { readonly kind: 'insufficientFunds' }
  | { readonly kind: 'dailySpendLimit' }
  | {
      readonly kind: 'concurrency' | 'cps';
      readonly limit: number;
      readonly retryAfterMs: number;
    }
  /** The queue of bulk destinations of this account is full. */
  | { readonly kind: 'queueFull'; readonly retryAfterMs: number }
  /** The service drains, or this node is full. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number }
  | { readonly kind: 'accountInactive' }
  /** The same idempotency key with another request. */
  | { readonly kind: 'idempotencyConflict' };
