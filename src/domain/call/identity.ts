/** What never changes about a call. */
import type { AccountId, CallUuid, EndpointId, TrunkId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { CallFacts } from '../callback/callback.ts';
import type { Cdr } from '../cdr/types.ts';

/** One leg with its own CDR. */
export interface CallIdentity {
  readonly callUuid: CallUuid;
  /** Main account: money and limits. */
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Of the account, ISO 3166-1 alpha-2: its callers know the tones of that country. */
  readonly country: string;
  readonly facts: CallFacts;
  readonly context: Cdr['context'];
  /** UUID of the A leg, on a B leg. */
  readonly parentCallUuid: CallUuid | undefined;
  readonly endpointId: EndpointId | undefined;
  /** The login for a time that the endpoint called with. */
  readonly phoneLogin?: string | undefined;
  readonly trunkId: TrunkId | undefined;
  readonly terminatedTo: string | undefined;
  /** Of a campaign's call. */
  readonly campaignId?: string | undefined;
  /** Of a call that came in: what a call that follows from it shows. */
  readonly caller?: CallerWish | undefined;
}

/** What a caller lets others see of it. */
export interface CallerWish {
  /** Nobody but trusted networks shall see who calls (RFC 3323 §4.1). */
  readonly hidden: boolean;
  /** Number or name of a hidden caller, sent to trusted peers only; undefined if unknown. */
  readonly asserted?: string | undefined;
  /** E.164 digits: the number of its account that a phone asks to be shown as. */
  readonly presented?: string | undefined;
}

/** What the leg costs; streams by their own price. */
export interface CallPrice {
  readonly currency: string;
  readonly perMinute: Micros;
  readonly pulseMs: number;
  readonly streamPerMinute: Micros;
  readonly streamPulseMs: number;
}
