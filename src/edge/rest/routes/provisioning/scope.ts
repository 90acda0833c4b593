import { bracketed } from '../../../../base/host.ts';
import type { AccountId, AppId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, invalidField } from '../../http/failure.ts';
import type { AccountInput } from '../../http/route.ts';

/** Hides resources of others from a sub-account: they count as unknown. */
export const visibleTo = <T extends { readonly subAccount: AccountId | undefined }, E>(
  found: Result<T, E>,
  subAccount: AccountId | undefined,
  refusal: E,
): Result<T, E> =>
  found.ok && subAccount !== undefined && found.value.subAccount !== subAccount
    ? err(refusal)
    : found;

/**
 * Returns the sub-account of a new resource: from the path or credentials, else from the body. It must belong to the account.
 */
export async function subAccountFor(
  { accounts }: Pick<RouteNeeds, 'accounts'>,
  { principal, subAccount }: Pick<AccountInput, 'principal' | 'subAccount'>,
  named: AccountId | undefined,
): Promise<Result<AccountId | undefined, Failure>> {
  if (named === undefined || named === '' || named === subAccount) return ok(subAccount);
  const access = await accounts.authorize(principal, named);
  if (!access.ok || access.value.account.parentAuthId === undefined) {
    return err(invalidField('sub_account', 'is not a sub-account of this account'));
  }
  return ok(named);
}

/** Returns the sub-account whose objects are listed. A sub-account that names another gets an error. */
export const listedSubAccount = (
  subAccount: AccountId | undefined,
  filter: readonly [field: string, value: AccountId | undefined],
): Result<AccountId | undefined, Failure> => {
  const [field, named] = filter;
  if (subAccount === undefined || named === undefined || named === subAccount) {
    return ok(subAccount ?? named);
  }
  return err(invalidField(field, 'is not the account of the credentials'));
};

/** Returns whether the application in a body is unknown or hidden from the client. */
export async function hidesApplication(
  { provisioning }: Pick<RouteNeeds, 'provisioning'>,
  { accountId, subAccount }: Pick<AccountInput, 'accountId' | 'subAccount'>,
  appId: AppId | undefined,
): Promise<boolean> {
  if (appId === undefined) return false;
  const found = await provisioning.applications.get(accountId, appId);
  return !visibleTo(found, subAccount, { kind: 'unknownApplication' } as const).ok;
}

/** Default port of a SIP URI without a port (RFC 3261 §19.1.2). */
const SIP_PORT = 5060;

/** Returns host and port of the registrar for `sip_uri`. The port is omitted if it is the default. */
export function registrarOf({
  settings,
  operations,
}: Pick<RouteNeeds, 'settings' | 'operations'>): string {
  const { registrarHost: host } = settings;
  const port = operations.sipPort();
  const written = bracketed(host);
  return port === SIP_PORT ? written : `${written}:${port}`;
}
