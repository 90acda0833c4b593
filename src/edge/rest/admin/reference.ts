/** Checks that objects named in the body of an operator request exist and belong to the account. */

import type { AccountId, AppId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Account } from '../../../domain/account/types.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, failure, invalidField, notFound } from '../http/failure.ts';

/** Finds the account of a path that requires money and limits: it must be a main account. */
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

/** Returns undefined if the field is empty or names a main account, otherwise the failure. */
export async function wrongOwner(
  { accounts }: Pick<RouteNeeds, 'accounts'>,
  authId: AccountId | undefined,
): Promise<Failure | undefined> {
  if (authId === undefined) return undefined;
  const account = await accounts.get(authId);
  const isMain = account !== undefined && account.parentAuthId === undefined;
  return isMain ? undefined : invalidField('account_id', 'is not a main account');
}

/** Rejects a default application for a new account, which has no applications yet. */
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
    : invalidField('default_endpoint_app', 'is not an application of this account');
}
