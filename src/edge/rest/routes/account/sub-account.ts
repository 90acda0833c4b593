import type { AccountId } from '../../../../base/ids.ts';
import { ok } from '../../../../base/result.ts';
import type { RouteNeeds } from '../../deps.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import {
  SubAccountCreateBody,
  SubAccountSchema,
  SubAccountUpdateBody,
  showSubAccount,
  subAccountPatch,
} from '../../wire/sub-account.ts';

const ROOT = '/api/v1/accounts/{auth_id}/sub-accounts/';
const common = { tag: 'Sub-accounts', errors: 'plain', mainAccountOnly: true } as const;
export const accountParams = Type.Object({ auth_id: accountIdText() });
export const subAccountParams = Type.Object({
  auth_id: accountIdText(),
  sub_auth_id: accountIdText(),
});
/** Common part of the routes that create a sub-account. */
export const creation = {
  method: 'POST',
  credential: true,
  status: 201,
  params: accountParams,
  body: SubAccountCreateBody,
} as const;
const PAGE_SIZE_DEFAULT = 20;
const PAGE_SIZE_MAX = 100;

/** Finds the sub-account in the path, which must belong to the account. */
export async function findSubAccount(
  { accounts }: RouteNeeds,
  accountId: AccountId,
  subAuthId: AccountId,
) {
  const found = await accounts.get(subAuthId);
  return found?.parentAuthId === accountId ? found : undefined;
}

const TokensSchema = Type.Object({
  access_token: Type.String(),
  token_type: Type.String(),
  expires_in: Type.Integer(),
});

const create = accountRoute({
  ...common,
  ...creation,
  path: ROOT,
  summary: 'Create a sub-account. Only this response shows its token',
  reply: Type.Object({
    message: Type.String(),
    sub_account: Type.Object({ ...SubAccountSchema.properties, auth_token: Type.String() }),
    auth_credentials: Type.Object({ auth_id: accountIdText(), auth_token: Type.String() }),
    tokens: TokensSchema,
  }),
  async run(needs, { accountId, body }) {
    const created = await needs.accounts.createSubAccountWithAccess(accountId, {
      ...subAccountPatch(body),
      name: body.name,
    });
    if (!created.ok) return refused(created.error);
    const { account, authToken, accessToken, expiresInMs } = created.value;
    return ok({
      message: 'sub-account created',
      sub_account: {
        ...showSubAccount(account, needs.settings.requestsPerSecond),
        auth_token: authToken,
      },
      auth_credentials: { auth_id: account.authId, auth_token: authToken },
      tokens: {
        access_token: accessToken,
        token_type: 'bearer',
        expires_in: expiresInMs / 1000,
      },
    });
  },
});

const list = accountRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List sub-accounts',
  params: accountParams,
  query: Type.Object({
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
    size: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT }),
    ),
  }),
  reply: Type.Object({
    sub_accounts: Type.Array(SubAccountSchema),
    total: Type.Integer(),
    page: Type.Integer(),
    size: Type.Integer(),
  }),
  async run(needs, { accountId, query }) {
    const size = query.size ?? PAGE_SIZE_DEFAULT;
    const page = query.page ?? 1;
    const found = await needs.accounts.list(
      { parentAuthId: accountId },
      { limit: size, offset: (page - 1) * size },
    );
    return ok({
      sub_accounts: found.items.map((account) =>
        showSubAccount(account, needs.settings.requestsPerSecond),
      ),
      total: found.total,
      page,
      size,
    });
  },
});

const get = accountRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}{sub_auth_id}`,
  summary: 'Get a sub-account',
  params: subAccountParams,
  reply: SubAccountSchema,
  async run(needs, { accountId, params: path }) {
    const found = await findSubAccount(needs, accountId, path.sub_auth_id);
    if (found === undefined) return refused({ kind: 'unknownAccount' });
    return ok(showSubAccount(found, needs.settings.requestsPerSecond));
  },
});

const update = accountRoute({
  ...common,
  method: 'PUT',
  path: `${ROOT}{sub_auth_id}`,
  summary: 'Update a sub-account',
  params: subAccountParams,
  body: SubAccountUpdateBody,
  reply: SubAccountSchema,
  async run(needs, { accountId, params: path, body }) {
    const found = await findSubAccount(needs, accountId, path.sub_auth_id);
    if (found === undefined) return refused({ kind: 'unknownAccount' });
    return answered(await needs.accounts.patch(found.authId, subAccountPatch(body)), (account) =>
      showSubAccount(account, needs.settings.requestsPerSecond),
    );
  },
});

const remove = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}{sub_auth_id}`,
  summary: 'Delete a sub-account',
  params: subAccountParams,
  reply: Type.Object({ message: Type.String() }),
  run: async ({ accounts }, { accountId, params: path }) =>
    answered(await accounts.removeSubAccount(accountId, path.sub_auth_id), () => ({
      message: 'sub-account deleted',
    })),
});

export const subAccountRoutes: readonly Route[] = [create, list, get, update, remove];
