/** What every call that is placed for an account is asked before: who calls, where it goes, who pays. */
import { type Micros, priceOf } from '../../base/money.ts';
import { err } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import { canSpend } from '../ledger/ledger.ts';
import type { PlaceCallsRequest } from './control.ts';
import type { Calling, Destinations, Destined } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';
import type { Placement, Planned } from './placement.ts';

/** Undefined: the account, or its sub-account, is not active. */
export async function callingOf(
  { accounts }: Pick<DispatchNeeds, 'accounts'>,
  request: Pick<PlaceCallsRequest, 'accountId' | 'subAccount'>,
): Promise<Calling | undefined> {
  const owner = await accounts.get(request.accountId);
  const account = request.subAccount === undefined ? owner : await accounts.get(request.subAccount);
  if (owner?.status !== 'active' || account?.status !== 'active') return undefined;
  return { owner, account };
}

export async function planOf(
  destinations: Destinations,
  { calling, callerId, destination, request }: Placement,
): Promise<Planned> {
  if (callerId === undefined) {
    const detail = `${request.from} is no caller id of this account`;
    return err({ cause: 'unknownCallerId', source: 'Platform', detail });
  }
  if (destination.kind === 'number') return destinations.number(calling, destination.number);
  return destinations.sip(calling, destination.uri, { endpoints: false });
}

/** The first pulse, which is held when the call begins. */
export async function canPay(
  { ledger }: Pick<DispatchNeeds, 'ledger'>,
  owner: Account,
  { price }: Pick<Destined, 'price'>,
): Promise<boolean> {
  const balance = await ledger.balance(owner.authId, price.currency);
  const firstPulse: Micros = priceOf(price.pulseMs, price.perMinute);
  return balance.ok && canSpend(balance.value, firstPulse);
}
