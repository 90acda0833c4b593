import { DAY_MS, daysOf } from '../../../base/duration.ts';
import { unitsFromMicros } from '../../../base/money.ts';
import { isoMicros } from '../../../base/time-format.ts';
import type { Account, AccountPatch } from '../../../domain/account/types.ts';
import type { Balance, BalancePatch } from '../../../domain/ledger/types.ts';
import {
  flag,
  hinted,
  nullableAccountId,
  nullableAppId,
  nullableHttpUrl,
  nullableInteger,
  nullableNumber,
  nullableText,
  oneOf,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import {
  amountField,
  amountOf,
  callerIdField,
  callerIdPatch,
  currencyField,
} from '../http/values.ts';
import { BalanceSchema, showBalance } from './ledger.ts';
import { defined } from './list.ts';
import { isMasked, showMasked } from './masked-url.ts';

const NAME_MAX = 200;
/** Maximum limit of an account for concurrent calls or calls per second. */
const LIMIT_MAX = 1_000_000;
const RETENTION_DAYS_MAX = 36_500;

const limit = () => Type.Integer({ minimum: 0, maximum: LIMIT_MAX });
const clearable = <T>(schema: object, hint: string) =>
  hinted(Type.Unsafe<T | null>({ ...schema }), hint);

const EMAIL = '[^\\s@,]+@[^\\s@,]+\\.[^\\s@,]+';
const nullableAddresses = () =>
  hinted(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: `^$|^${EMAIL}(?:, *${EMAIL}){0,9}$`,
    }),
    'must be an e-mail address, or up to 10 separated by commas',
  );

/** Fields of one balance that can be set. */
const balanceFields = {
  credit_limit: Type.Optional(amountField()),
  credit_limit_type: Type.Optional(oneOf(['soft', 'hard'])),
  is_postpaid: Type.Optional(flag()),
  low_balance_threshold: Type.Optional(amountField()),
};
export const BalancePatchBody = Type.Object(balanceFields);

/** Fields of an account and its balance that the operator can set; null clears. */
const fields = {
  concurrent_calls_limit: Type.Optional(limit()),
  cps_limit: Type.Optional(limit()),
  country: Type.Optional(
    hinted(Type.String({ pattern: '^[A-Z]{2}$' }), 'must be an ISO 3166-1 alpha-2 code'),
  ),
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  ...balanceFields,
  low_balance_url: Type.Optional(nullableHttpUrl()),
  low_balance_email: Type.Optional(nullableAddresses()),
  status: Type.Optional(oneOf(['active', 'suspended', 'closed'])),
  is_partner: Type.Optional(flag()),
  partner_auth_id: Type.Optional(nullableAccountId()),
  limit_transfer_enabled: Type.Optional(flag()),
  barred_prefixes: Type.Optional(
    Type.Array(hinted(Type.String({ pattern: '^[0-9]{1,15}$' }), 'must be 1 to 15 digits'), {
      maxItems: 1000,
    }),
  ),
  barred_countries: Type.Optional(
    Type.Array(
      hinted(Type.String({ pattern: '^[A-Z]{2}$' }), 'must be an ISO 3166-1 alpha-2 code'),
      { maxItems: 300 },
    ),
  ),
  daily_spend_limit: Type.Optional(
    clearable<number>({ type: ['number', 'null'], minimum: 0 }, 'must be an amount or null'),
  ),
  default_endpoint_app: Type.Optional(nullableAppId()),
  default_caller_id: Type.Optional(callerIdField()),
  email: Type.Optional(Type.String({ maxLength: 254 })),
  phone: Type.Optional(Type.String({ maxLength: 32 })),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  cdr_retention_days: Type.Optional(
    clearable<number>(
      { type: ['integer', 'null'], minimum: 1, maximum: RETENTION_DAYS_MAX },
      'must be a number of days or null',
    ),
  ),
  recording_retention_days: Type.Optional(
    clearable<number>(
      { type: ['integer', 'null'], minimum: 1, maximum: RETENTION_DAYS_MAX },
      'must be a number of days or null',
    ),
  ),
};

const accountName = () =>
  hinted(
    Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: '\\S' }),
    `must have 1 to ${NAME_MAX} characters`,
  );

export const AccountCreateBody = Type.Object({
  name: accountName(),
  currency: Type.Optional(currencyField()),
  ...fields,
});
export const AccountPatchBody = Type.Object({ name: Type.Optional(accountName()), ...fields });

type Fields = Static<typeof AccountPatchBody>;

const emptyIsNull = (text: string | null | undefined) => (text === '' ? null : text);

const daysInMs = (days: number | null | undefined): number | null | undefined =>
  typeof days === 'number' ? days * DAY_MS : days;
const inDays = (ms: number | undefined): number | null => (ms === undefined ? null : daysOf(ms));

/** null clears a field, absent keeps it. */
const cleared = <K extends string, T>(key: K, value: T | null | undefined) =>
  (value === undefined ? {} : { [key]: value ?? undefined }) as { readonly [Key in K]?: T };

export const accountPatch = (body: Fields): AccountPatch => ({
  ...defined({
    name: body.name,
    concurrentCallsLimit: body.concurrent_calls_limit,
    cpsLimit: body.cps_limit,
    country: body.country,
    timezone: body.timezone,
    status: body.status,
    isPartner: body.is_partner,
    limitTransferEnabled: body.limit_transfer_enabled,
    barredPrefixes: body.barred_prefixes,
    barredCountries: body.barred_countries,
    email: body.email,
    phone: body.phone,
    description: body.description,
  }),
  ...(isMasked(body.low_balance_url)
    ? {}
    : cleared('lowBalanceUrl', emptyIsNull(body.low_balance_url))),
  ...cleared('lowBalanceEmail', emptyIsNull(body.low_balance_email)),
  ...cleared('partnerAuthId', body.partner_auth_id),
  ...cleared('defaultEndpointApp', body.default_endpoint_app),
  ...(body.default_caller_id !== undefined && {
    defaultCallerId: callerIdPatch(body.default_caller_id).callerId,
  }),
  ...cleared('cdrRetentionMs', daysInMs(body.cdr_retention_days)),
  ...cleared('recordingRetentionMs', daysInMs(body.recording_retention_days)),
  ...cleared(
    'dailySpendLimit',
    typeof body.daily_spend_limit === 'number'
      ? amountOf(body.daily_spend_limit)
      : body.daily_spend_limit,
  ),
});

/** Fields of a new main account, without its credit terms. */
export const newAccountFields = (body: Static<typeof AccountCreateBody>) => ({
  ...accountPatch(body),
  name: body.name,
  ...(body.currency !== undefined && { currency: body.currency }),
});

export const balancePatch = (body: Fields): BalancePatch =>
  defined({
    creditLimit: body.credit_limit === undefined ? undefined : amountOf(body.credit_limit),
    creditLimitType: body.credit_limit_type,
    isPostpaid: body.is_postpaid,
    lowBalanceThreshold:
      body.low_balance_threshold === undefined ? undefined : amountOf(body.low_balance_threshold),
  });

export const AccountSchema = Type.Object({
  auth_id: Type.String(),
  name: Type.String(),
  parent_auth_id: nullableText(),
  status: Type.String(),
  currency: Type.String(),
  country: Type.String(),
  timezone: Type.String(),
  concurrent_calls_limit: Type.Integer(),
  cps_limit: Type.Integer(),
  is_partner: Type.Boolean(),
  partner_auth_id: nullableText(),
  limit_transfer_enabled: Type.Boolean(),
  barred_prefixes: Type.Array(Type.String()),
  barred_countries: Type.Array(Type.String()),
  daily_spend_limit: nullableNumber(),
  default_endpoint_app: nullableAppId(),
  default_caller_id: nullableText(),
  low_balance_url: nullableText(),
  low_balance_email: nullableText(),
  email: Type.String(),
  phone: Type.String(),
  description: Type.String(),
  cdr_retention_days: nullableInteger(),
  recording_retention_days: nullableInteger(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const AccountWithBalancesSchema = Type.Object({
  ...AccountSchema.properties,
  balances: Type.Array(BalanceSchema),
});

export const showAccount = (account: Account): Static<typeof AccountSchema> => ({
  auth_id: account.authId,
  name: account.name,
  parent_auth_id: account.parentAuthId ?? null,
  status: account.status,
  currency: account.currency,
  country: account.country,
  timezone: account.timezone,
  concurrent_calls_limit: account.concurrentCallsLimit,
  cps_limit: account.cpsLimit,
  is_partner: account.isPartner,
  partner_auth_id: account.partnerAuthId ?? null,
  limit_transfer_enabled: account.limitTransferEnabled,
  barred_prefixes: [...account.barredPrefixes],
  barred_countries: [...account.barredCountries],
  daily_spend_limit:
    account.dailySpendLimit === undefined ? null : unitsFromMicros(account.dailySpendLimit),
  default_endpoint_app: account.defaultEndpointApp ?? null,
  default_caller_id: account.defaultCallerId ?? null,
  low_balance_url: showMasked(account.lowBalanceUrl),
  low_balance_email: account.lowBalanceEmail ?? null,
  email: account.email,
  phone: account.phone,
  description: account.description,
  cdr_retention_days: inDays(account.cdrRetentionMs),
  recording_retention_days: inDays(account.recordingRetentionMs),
  created_at: isoMicros(account.createdUs),
  updated_at: isoMicros(account.updatedUs),
});

export const showAccountWithBalances = (
  account: Account,
  balances: readonly Balance[],
): Static<typeof AccountWithBalancesSchema> => ({
  ...showAccount(account),
  balances: balances.map(showBalance),
});
