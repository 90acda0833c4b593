import type { AccountId, AppId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, invalidField } from '../../http/failure.ts';
import type { AccountInput } from '../../http/route.ts';

/** A sub-account sees its own resources only; to others they do not exist. */
export const visibleTo = <T extends { readonly subAccount: AccountId | undefined }, E>(
  found: Result<T, E>,
  subAccount: AccountId | undefined,
  refusal: E,
): Result<T, E> =>
  found.ok && subAccount !== undefined && found.value.subAccount !== subAccount
    ? err(refusal)
    : found;

/**
 * The sub-account that a new resource belongs to: the one that the path or the credentials say, else the one that the
 * body names, which must be the account's own.
 */
export async function subAccountFor(
  { accounts }: Pick<RouteNeeds, 'accounts'>,
  { principal, subAccount }: Pick<AccountInput, 'principal' | 'subAccount'>,
  named: AccountId | undefined,
): Promise<Result<AccountId | undefined, Failure>> {
  if (named === undefined || named === '' || named === subAccount) return ok(subAccount);
  const access = await accounts.authorize(principal, named);
  if (!access.ok || access.value.account.parentAuthId === undefined) {
    return err(invalidField('sub_account', 'is no sub-account of this account'));
  }
  return ok(named);
}

/** The sub-account whose objects a list is asked for; a sub-account that names another is told so. */
export const listedSubAccount = (
  subAccount: AccountId | undefined,
  filter: readonly [field: string, value: AccountId | undefined],
): Result<AccountId | undefined, Failure> => {
  const [field, named] = filter;
  if (subAccount === undefined || named === undefined || named === subAccount) {
    return ok(subAccount ?? named);
  }
  return err(invalidField(field, 'is another account than the one that asks'));
};

/** Whether an application that a body names is none that the one who asks can see. */
export async function hidesApplication(
  { provisioning }: Pick<RouteNeeds, 'provisioning'>,
  { accountId, subAccount }: Pick<AccountInput, 'accountId' | 'subAccount'>,
  appId: AppId | undefined,
): Promise<boolean> {
  if (appId === undefined) return false;
  const found = await provisioning.applications.get(accountId, appId);
  return !visibleTo(found, subAccount, { kind: 'unknownApplication' } as const).ok;
}

/** RFC 3261 §19.1.2: where a SIP URI leads that names no port. */
const SIP_PORT = 5060;

/** Where phones register, as it stands in their `sip_uri`: the port only where it takes one to find it. */
export function registrarOf({
  settings,
  operations,
}: Pick<RouteNeeds, 'settings' | 'operations'>): string {
  const { registrarHost: host } = settings;
  const port = operations.sipPort();
  const written = host.includes(':') ? `[${host}]` : host;
  return port === SIP_PORT ? written : `${written}:${port}`;
}
