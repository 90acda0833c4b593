import type { AccountId } from '../../base/ids.ts';
import type { Account, AccountPatch } from './types.ts';

export type NewAccount = Pick<Account, 'name'> & AccountPatch & { readonly currency?: string };

/** Values of a new account unless the request sets them. */
export interface AccountDefaults {
  readonly concurrentCallsLimit: number;
  readonly cpsLimit: number;
  readonly currency: string;
  readonly country: string;
}

/** Creates the account object. A sub-account inherits the limits and barred destinations of its parent. */
export function newAccount(
  input: NewAccount,
  parent: Account | undefined,
  made: { readonly authId: AccountId; readonly nowUs: number; readonly defaults: AccountDefaults },
): Account {
  const { authId, nowUs, defaults } = made;
  return {
    authId,
    parentAuthId: parent?.authId,
    status: 'active',
    country: defaults.country,
    timezone: 'UTC',
    concurrentCallsLimit: defaults.concurrentCallsLimit,
    cpsLimit: defaults.cpsLimit,
    isPartner: false,
    partnerAuthId: undefined,
    limitTransferEnabled: false,
    barredPrefixes: [],
    barredCountries: [],
    dailySpendLimit: undefined,
    defaultEndpointApp: undefined,
    defaultCallerId: undefined,
    lowBalanceUrl: undefined,
    lowBalanceEmail: undefined,
    email: '',
    phone: '',
    description: '',
    cdrRetentionMs: undefined,
    recordingRetentionMs: undefined,
    permissions: {},
    rateLimit: undefined,
    ...(parent && inherited(parent)),
    ...input,
    currency: (input.currency ?? parent?.currency ?? defaults.currency).toUpperCase(),
    createdUs: nowUs,
    updatedUs: nowUs,
  };
}

const inherited = (parent: Account) => ({
  currency: parent.currency,
  country: parent.country,
  timezone: parent.timezone,
  concurrentCallsLimit: parent.concurrentCallsLimit,
  cpsLimit: parent.cpsLimit,
  barredPrefixes: parent.barredPrefixes,
  barredCountries: parent.barredCountries,
  dailySpendLimit: parent.dailySpendLimit,
});
