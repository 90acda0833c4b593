import { isoMicros } from '../../../base/time-format.ts';
import {
  PERMISSIONS,
  type Permission,
  type Permissions,
  permits,
} from '../../../domain/account/account.ts';
import type { Account, AccountPatch } from '../../../domain/account/types.ts';
import { apiId, flag, hinted, type Static, Type, timestamp } from '../http/schema.ts';
import { defined } from './list.ts';

const RATE_LIMIT_MAX = 100_000;

const subAccountName = () =>
  hinted(
    Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
    'must have 1 to 200 characters',
  );
const subAccountDetails = {
  email: Type.Optional(Type.String({ maxLength: 254 })),
  phone: Type.Optional(Type.String({ maxLength: 32 })),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  enabled: Type.Optional(flag()),
  permissions: Type.Optional(
    Type.Unsafe<Permissions>({
      type: 'object',
      properties: Object.fromEntries(PERMISSIONS.map((name) => [name, { type: 'boolean' }])),
      propertyNames: { enum: [...PERMISSIONS] },
      description: 'replaces all permissions; absent ones are granted',
    }),
  ),
  rate_limit: Type.Optional(
    hinted(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        minimum: 1,
        maximum: RATE_LIMIT_MAX,
        description: "requests per second; null: the parent's limit",
      }),
      `must be a whole number from 1 to ${RATE_LIMIT_MAX}`,
    ),
  ),
};

export const SubAccountSchema = Type.Object({
  id: Type.String(),
  auth_id: Type.String(),
  parent_account_id: Type.String(),
  parent_auth_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  phone: Type.String(),
  description: Type.String(),
  permissions: Type.Unsafe<Record<Permission, boolean>>({
    type: 'object',
    additionalProperties: { type: 'boolean' },
  }),
  rate_limit: Type.Integer({ description: 'requests per second' }),
  enabled: Type.Boolean(),
  is_active: Type.Boolean(),
  email_verified: Type.Boolean(),
  account: Type.String(),
  resource_uri: Type.String(),
  created: timestamp(),
  modified: timestamp(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export function showSubAccount(
  account: Account,
  requestsPerSecond: number,
): Static<typeof SubAccountSchema> {
  const parent = account.parentAuthId ?? '';
  const active = account.status === 'active';
  const createdAt = isoMicros(account.createdUs);
  const updatedAt = isoMicros(account.updatedUs);
  return {
    id: account.authId,
    auth_id: account.authId,
    parent_account_id: parent,
    parent_auth_id: parent,
    name: account.name,
    email: account.email,
    phone: account.phone,
    description: account.description,
    permissions: Object.fromEntries(
      PERMISSIONS.map((name) => [name, permits(account, name)]),
    ) as Record<Permission, boolean>,
    rate_limit: account.rateLimit ?? requestsPerSecond,
    enabled: active,
    is_active: active,
    email_verified: false,
    account: `/v1/Account/${parent}/`,
    resource_uri: `/v1/Account/${parent}/Subaccount/${account.authId}/`,
    created: createdAt,
    modified: updatedAt,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

export const SubAccountCreateBody = Type.Object({ name: subAccountName(), ...subAccountDetails });
export const SubAccountUpdateBody = Type.Object({
  name: Type.Optional(subAccountName()),
  ...subAccountDetails,
});

export const subAccountPatch = (body: Static<typeof SubAccountUpdateBody>): AccountPatch => ({
  ...defined({
    name: body.name,
    email: body.email,
    phone: body.phone,
    description: body.description,
    permissions: body.permissions,
    status:
      body.enabled === undefined
        ? undefined
        : body.enabled
          ? ('active' as const)
          : ('suspended' as const),
  }),
  ...(body.rate_limit !== undefined && { rateLimit: body.rate_limit ?? undefined }),
});

export const PlivoSubAccountSchema = Type.Object({
  api_id: Type.Optional(apiId()),
  account: Type.String(),
  auth_id: Type.String(),
  auth_token: Type.String({ description: 'shown only at creation, otherwise empty' }),
  created: timestamp(),
  modified: timestamp(),
  enabled: Type.Boolean(),
  name: Type.String(),
  resource_uri: Type.String(),
});

export const showPlivoSubAccount = (account: Account): Static<typeof PlivoSubAccountSchema> => ({
  account: `/v1/Account/${account.parentAuthId ?? ''}/`,
  auth_id: account.authId,
  auth_token: '',
  created: isoMicros(account.createdUs),
  modified: isoMicros(account.updatedUs),
  enabled: account.status === 'active',
  name: account.name,
  resource_uri: `/v1/Account/${account.parentAuthId ?? ''}/Subaccount/${account.authId}/`,
});
