/** Requests of the REST API to place calls. */
import type { AccountId, CallUuid, RequestUuid } from '../../base/ids.ts';
import type { CallbackTarget } from '../callback/types.ts';

export type Destination =
  /** E.164 or national digits without `+`, spaces and dashes. */
  | { readonly kind: 'number'; readonly number: string }
  /** `sip:user@host[:port][;transport=…]` as typed. */
  | { readonly kind: 'sip'; readonly uri: string };

/** Keypad digits with pauses (`w` 0.5 s, `W` 1 s), sent after the answer. `toneMs` is the length of each tone. */
export interface DigitString {
  readonly digits: string;
  readonly toneMs: number;
}

/** Answering machine detection (spec "Make call", `machine_detection*`); times in ms. */
export interface MachineDetectionRequest {
  /** `hangup` ends the call if a machine answered. */
  readonly mode: 'detect' | 'hangup';
  /** Target for asynchronous results: the document is fetched immediately. Undefined: the document waits for the result. */
  readonly callback: CallbackTarget | undefined;
  readonly totalMs: number;
  readonly maximumSpeechMs: number;
  readonly initialSilenceMs: number;
  readonly maximumWords: number;
  readonly initialGreetingMs: number;
  /** The request sets neither the greeting nor the number of words: the detector's own rules apply. */
  readonly adaptive?: boolean | undefined;
}

export interface PlaceCallsRequest {
  /** Main account, which pays for the calls and whose limits apply. */
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Caller ID, digits without `+`. */
  readonly from: string;
  /** 1 to 1000 destinations. */
  readonly destinations: readonly Destination[];
  readonly answer: CallbackTarget;
  readonly ring: CallbackTarget | undefined;
  readonly hangup: CallbackTarget | undefined;
  readonly fallback: CallbackTarget | undefined;
  readonly machineDetection: MachineDetectionRequest | undefined;
  /** Caller name, at most 50 characters. Undefined: the name of the caller ID. */
  readonly callerName: string | undefined;
  readonly sendDigits: DigitString | undefined;
  readonly sendOnPreanswer: boolean;
  /** Maximum duration after the answer, in ms; at most 24 h. */
  readonly timeLimitMs: number;
  /** Time limit for ringing in ms, counted from the first 18x. Undefined: only `ringTimeoutMs` applies. */
  readonly hangupOnRingMs: number | undefined;
  /** Time limit until the answer, in ms. Undefined: the service's default. */
  readonly ringTimeoutMs: number | undefined;
  /** Custom SIP header fields, without their prefix. */
  readonly sipHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** Optional `Idempotency-Key`. A repeated key of the same account returns the first request's result. */
  readonly idempotencyKey: string | undefined;
}

export interface PlacedCalls {
  /** Equals the call UUID for a single destination; otherwise a batch ID. */
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
  /** The account's queue of bulk destinations is full. */
  | { readonly kind: 'queueFull'; readonly retryAfterMs: number }
  /** The service is draining, or this node is full. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number }
  | { readonly kind: 'accountInactive' }
  /** The idempotency key was used with a different request. */
  | { readonly kind: 'idempotencyConflict' };
