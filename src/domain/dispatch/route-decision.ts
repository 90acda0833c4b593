/** Question and result of a route test. */
import type { AccountId } from '../../base/ids.ts';
import type { CallPrice } from '../call/call.ts';

export interface RouteQuestion {
  readonly accountId: AccountId;
  readonly from: string;
  readonly to: string;
}

export interface CarrierChoice {
  readonly name: string;
  /** Order of attempts, from 1; undefined if the carrier is excluded. */
  readonly rank: number | undefined;
  /** Reason why the carrier is excluded, or tried last. */
  readonly why: string | undefined;
  readonly prefix: string | undefined;
  readonly priority: number;
  readonly cost: number | undefined;
  readonly weight: number | undefined;
  /** Number as written in the request URI. */
  readonly number: string;
}

export interface RouteDecision {
  /** Called number: E.164 digits, or a special number as dialled. */
  readonly to: string;
  readonly country: string | undefined;
  /** Presented caller ID; undefined if the account may not present it. */
  readonly callerId: string | undefined;
  readonly price: CallPrice | undefined;
  /** Reason why the call would be refused. */
  readonly refusal: string | undefined;
  /** Carriers in order of attempts, followed by excluded ones. */
  readonly carriers: readonly CarrierChoice[];
}
