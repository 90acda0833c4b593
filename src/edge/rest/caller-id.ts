import type { AccountId } from '../../base/ids.ts';
import type { RouteNeeds } from './deps.ts';
import { type Failure, invalidField } from './http/failure.ts';
import { callerIdPatch } from './http/values.ts';

/**
 * Checks a default caller ID: it must be one of the main account's numbers, unless any number is allowed. Returns undefined if
 * it is valid or not set.
 */
export async function wrongCallerId(
  { provisioning, settings }: Pick<RouteNeeds, 'provisioning' | 'settings'>,
  accountId: AccountId | undefined,
  field: 'caller_id' | 'default_caller_id' | 'number',
  value: string | null | undefined,
): Promise<Failure | undefined> {
  const { callerId } = callerIdPatch(value);
  if (callerId === undefined || settings.callerIdPolicy === 'any') return undefined;
  const owned = accountId !== undefined && (await provisioning.callerIds.owns(accountId, callerId));
  return owned ? undefined : invalidField(field, 'is not a number or caller ID of this account');
}
