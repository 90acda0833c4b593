/** What the test of a route is asked, and what it tells. */
import type { AccountId } from '../../base/ids.ts';
import type { CallPrice } from '../call/call.ts';

export interface RouteQuestion {
  readonly accountId: AccountId;
  readonly from: string;
  readonly to: string;
}

export interface CarrierChoice {
  readonly name: string;
  /** 1 is tried first; undefined: takes no part. */
  readonly rank: number | undefined;
  /** Why it takes no part, or is tried after all others. */
  readonly why: string | undefined;
  readonly prefix: string | undefined;
  readonly priority: number;
  readonly cost: number | undefined;
  readonly weight: number | undefined;
  /** As it stands in the request URI. */
  readonly number: string;
}

export interface RouteDecision {
  /** As it is called: E.164 digits, or a special number as dialled. */
  readonly to: string;
  readonly country: string | undefined;
  /** As it is presented; undefined: the account may not present it. */
  readonly callerId: string | undefined;
  readonly price: CallPrice | undefined;
  /** Why there would be no call. */
  readonly refusal: string | undefined;
  /** In the order in which they are tried, then those that take no part. */
  readonly carriers: readonly CarrierChoice[];
}
