import { err, ok, type Result } from '../../base/result.ts';
import type {
  Account,
  CapacityResource,
  CapacityTransfer,
  NetAllocation,
  TransferRequest,
} from './types.ts';

export type TransferRefusal =
  | { readonly kind: 'notAPartner' }
  | { readonly kind: 'transferNotEnabled' }
  | { readonly kind: 'unknownCustomer' }
  | { readonly kind: 'notYourCustomer' }
  | { readonly kind: 'customerIsPartner' }
  | { readonly kind: 'notEnoughCapacity'; readonly available: number };

export interface TransferState {
  readonly partner: Account | undefined;
  readonly customer: Account | undefined;
  readonly allocated: NetAllocation;
}

/**
 * Checks the preconditions of a transfer (spec: Partner capacity allocation, rules 1, 2 and 5). Pure: runs inside the
 * transaction.
 */
export function decideTransfer(
  request: TransferRequest,
  state: TransferState,
  nowUs: number,
): Result<CapacityTransfer, TransferRefusal> {
  const parties = checkParties(state);
  if (!parties.ok) return parties;
  const { partner, customer } = parties.value;
  const partnerLimit = limitOf(partner, request.resource);
  const customerLimit = limitOf(customer, request.resource);
  const allocated =
    request.resource === 'cps' ? state.allocated.cps : state.allocated.concurrentCalls;
  const available =
    request.operation === 'transfer' ? partnerLimit : Math.min(allocated, customerLimit);
  if (request.slots > available) return err({ kind: 'notEnoughCapacity', available });
  const toCustomer = request.operation === 'transfer' ? request.slots : -request.slots;
  return ok({
    ...request,
    partnerRemaining: partnerLimit - toCustomer,
    customerEffective: customerLimit + toCustomer,
    createdUs: nowUs,
  });
}

const limitOf = (account: Account, resource: CapacityResource): number =>
  resource === 'cps' ? account.cpsLimit : account.concurrentCallsLimit;

/** Checks that partner and customer exist and belong together. Used for transfers and for the allocation view. */
export function checkParties(
  state: Pick<TransferState, 'partner' | 'customer'>,
): Result<{ readonly partner: Account; readonly customer: Account }, TransferRefusal> {
  const { partner, customer } = state;
  if (!partner?.isPartner || partner.status !== 'active') return err({ kind: 'notAPartner' });
  if (!partner.limitTransferEnabled) return err({ kind: 'transferNotEnabled' });
  if (customer === undefined) return err({ kind: 'unknownCustomer' });
  if (customer.partnerAuthId !== partner.authId) return err({ kind: 'notYourCustomer' });
  if (customer.isPartner) return err({ kind: 'customerIsPartner' });
  return ok({ partner, customer });
}
