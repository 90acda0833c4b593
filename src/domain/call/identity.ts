/** Immutable properties of a call. */
import type { AccountId, CallUuid, EndpointId, TrunkId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { Cdr } from '../cdr/types.ts';

/** Identity of one leg. Each leg has a separate CDR. */
export interface CallIdentity {
  readonly callUuid: CallUuid;
  /** Main account, which pays for the call and whose limits apply. */
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Country of the account (ISO 3166-1 alpha-2). Selects the call-progress tones. */
  readonly country: string;
  readonly facts: CallFacts;
  readonly context: Cdr['context'];
  /** UUID of the A leg; defined on B legs only. */
  readonly parentCallUuid: CallUuid | undefined;
  readonly endpointId: EndpointId | undefined;
  /** Temporary login with which the endpoint placed the call. */
  readonly phoneLogin?: string | undefined;
  readonly trunkId: TrunkId | undefined;
  readonly terminatedTo: string | undefined;
  /** Campaign that placed the call, if any. */
  readonly campaignId?: string | undefined;
  /** Caller identity of an inbound call, for calls that follow from it. */
  readonly caller?: CallerPreference | undefined;
}

/** Caller ID preferences of the caller. */
export interface CallerPreference {
  /** Privacy: only trusted networks may learn the caller's identity (RFC 3323 §4.1). */
  readonly hidden: boolean;
  /** Number or name of a hidden caller, sent to trusted peers only; undefined if unknown. */
  readonly asserted?: string | undefined;
  /** Number of the account that the phone asks to present, in E.164 digits. */
  readonly presented?: string | undefined;
}

/** Price of the leg. Streams are billed at their separate price. */
export interface CallPrice {
  readonly currency: string;
  readonly perMinute: Micros;
  readonly pulseMs: number;
  readonly streamPerMinute: Micros;
  readonly streamPulseMs: number;
}
