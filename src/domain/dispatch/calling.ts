/** Checks before a call is placed for an account: status, destination, caller ID and balance. */
import { type Micros, priceOf } from '../../base/money.ts';
import { err } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import { canSpend } from '../ledger/ledger.ts';
import type { PlaceCallsRequest } from './control.ts';
import type { Calling, Destinations, Destined } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';
import type { Placement, Planned } from './placement.ts';

/** Returns the calling account. Undefined if the account or its sub-account is not active. */
export async function callingOf(
  { accounts }: Pick<DispatchNeeds, 'accounts'>,
  request: Pick<PlaceCallsRequest, 'accountId' | 'subAccount'>,
): Promise<Calling | undefined> {
  const owner = await accounts.get(request.accountId);
  const account = request.subAccount === undefined ? owner : await accounts.get(request.subAccount);
  if (owner?.status !== 'active' || account?.status !== 'active') return undefined;
  return { owner, account };
}

/** Returns destination and price of a call. Does not check the caller ID. */
export async function destinedOf(
  destinations: Destinations,
  { calling, destination }: Pick<Placement, 'calling' | 'destination'>,
): Promise<Planned> {
  if (destination.kind === 'number') return destinations.number(calling, destination.number);
  return destinations.sip(calling, destination.uri, { endpoints: false });
}

/** Refuses a plan whose caller ID the account may not present. */
export function withCallerId(
  { callerId, request }: Pick<Placement, 'callerId' | 'request'>,
  destined: Planned,
): Planned {
  if (callerId !== undefined) return destined;
  const detail = `${request.from} is not a caller ID of this account`;
  return err({ cause: 'unknownCallerId', source: 'Platform', detail });
}

/** Returns the plan of a call: destination, price and caller ID. */
export const planOf = async (destinations: Destinations, placement: Placement): Promise<Planned> =>
  withCallerId(placement, await destinedOf(destinations, placement));

/** Returns whether the balance covers the first pulse, which is reserved when the call begins. */
export async function canPay(
  { ledger }: Pick<DispatchNeeds, 'ledger'>,
  owner: Account,
  { price }: Pick<Destined, 'price'>,
): Promise<boolean> {
  const balance = await ledger.balance(owner.authId, price.currency);
  const firstPulse: Micros = priceOf(price.pulseMs, price.perMinute);
  return balance.ok && canSpend(balance.value, firstPulse);
}
