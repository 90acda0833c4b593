import { ok } from '../../../../base/result.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, apiId, messageReply, sliceQuery, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { MetaSchema, metaOf, sliceOf } from '../../wire/list.ts';
import {
  PlivoSubAccountSchema,
  SubAccountUpdateBody,
  showPlivoSubAccount,
  subAccountPatch,
} from '../../wire/sub-account.ts';
import { accountParams, creation, findSubAccount, subAccountParams } from './sub-account.ts';

/** Path used by Plivo clients (dialect §3.10). */
const ROOT = '/api/v1/Account/{auth_id}/Subaccount/';
const common = { tag: 'Sub-accounts', errors: 'resource', mainAccountOnly: true } as const;

const create = accountRoute({
  ...common,
  ...creation,
  path: ROOT,
  summary: 'Create a sub-account (Plivo form)',
  reply: Type.Object({
    api_id: apiId(),
    auth_id: accountIdText(),
    auth_token: Type.String(),
    message: Type.String(),
  }),
  run: async ({ accounts }, { accountId, body, apiId: id }) =>
    answered(
      await accounts.createSubAccount(accountId, { ...subAccountPatch(body), name: body.name }),
      ({ account, authToken }) => ({
        api_id: id,
        auth_id: account.authId,
        auth_token: authToken,
        message: 'created',
      }),
    ),
});

const list = accountRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List sub-accounts (Plivo form)',
  params: accountParams,
  query: Type.Object(sliceQuery),
  reply: Type.Object({
    api_id: apiId(),
    meta: MetaSchema,
    objects: Type.Array(PlivoSubAccountSchema),
  }),
  async run(needs, { accountId, query, apiId: id }) {
    const slice = sliceOf(query);
    const page = await needs.accounts.list({ parentAuthId: accountId }, slice);
    return ok({
      api_id: id,
      meta: metaOf(page, slice, `/v1/Account/${accountId}/Subaccount/`, query),
      objects: page.items.map((account) => showPlivoSubAccount(account)),
    });
  },
});

const get = accountRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}{sub_auth_id}/`,
  summary: 'Get a sub-account (Plivo form)',
  params: subAccountParams,
  reply: PlivoSubAccountSchema,
  async run(needs, { accountId, params: path, apiId: id }) {
    const found = await findSubAccount(needs, accountId, path.sub_auth_id);
    if (found === undefined) return refused({ kind: 'unknownAccount' });
    return ok({ api_id: id, ...showPlivoSubAccount(found) });
  },
});

const update = accountRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}{sub_auth_id}/`,
  summary: 'Update a sub-account (Plivo form)',
  status: 202,
  params: subAccountParams,
  body: SubAccountUpdateBody,
  reply: messageReply,
  async run(needs, { accountId, params: path, body, apiId: id }) {
    const found = await findSubAccount(needs, accountId, path.sub_auth_id);
    if (found === undefined) return refused({ kind: 'unknownAccount' });
    return answered(await needs.accounts.patch(found.authId, subAccountPatch(body)), () => ({
      api_id: id,
      message: 'changed',
    }));
  },
});

const remove = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}{sub_auth_id}/`,
  summary: 'Delete a sub-account (Plivo form)',
  status: 204,
  params: subAccountParams,
  run: async ({ accounts }, { accountId, params: path }) =>
    answered(await accounts.removeSubAccount(accountId, path.sub_auth_id), () => undefined),
});

export const plivoSubAccountRoutes: readonly Route[] = [create, list, get, update, remove];
