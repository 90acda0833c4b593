/** Checks that what a body of the operator's API names exists and belongs to the account. */

import type { AccountId, AppId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Account } from '../../../domain/account/types.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, failure, invalidField, notFound } from '../http/failure.ts';

/** The account of a path that has money and limits: a main account. */
export async function mainAccount(
  { accounts }: Pick<RouteNeeds, 'accounts'>,
  authId: AccountId,
): Promise<Result<Account, Failure>> {
  const account = await accounts.get(authId);
  if (account === undefined) return err(notFound('account'));
  if (account.parentAuthId === undefined) return ok(account);
  return err(
    failure(409, 'not available to sub-accounts', {
      detail: `It belongs to the main account ${account.parentAuthId}.`,
    }),
  );
}

/** Undefined: the field names a main account, or nothing. */
export async function wrongOwner(
  { accounts }: Pick<RouteNeeds, 'accounts'>,
  authId: AccountId | undefined,
): Promise<Failure | undefined> {
  if (authId === undefined) return undefined;
  const account = await accounts.get(authId);
  const isMain = account !== undefined && account.parentAuthId === undefined;
  return isMain ? undefined : invalidField('account_id', 'is no main account');
}

/** A new account has no application that it could name. */
export async function wrongDefaultApp(
  { provisioning }: Pick<RouteNeeds, 'provisioning'>,
  authId: AccountId | undefined,
  appId: AppId | null | undefined,
): Promise<Failure | undefined> {
  if (appId === undefined || appId === null) return undefined;
  const found =
    authId === undefined ? undefined : await provisioning.applications.get(authId, appId);
  return found?.ok === true
    ? undefined
    : invalidField('default_endpoint_app', 'is no application of this account');
}
