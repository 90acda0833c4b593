import type { AccountId, EndpointId } from '../../../../base/ids.ts';
import { err, ok } from '../../../../base/result.ts';
import { wrongCallerId } from '../../caller-id.ts';
import type { RouteNeeds } from '../../deps.ts';
import { invalidField } from '../../http/failure.ts';
import { type AccountInput, accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  appIdField,
  endpointIdText,
  flag,
  messageReply,
  sliceQuery,
  Type,
} from '../../http/schema.ts';
import { callerIdPatch } from '../../http/values.ts';
import { answered } from '../../refusal.ts';
import {
  type EndpointContext,
  EndpointCreateBody,
  EndpointCreatedSchema,
  EndpointSchema,
  EndpointUpdateBody,
  endpointPatch,
  permissionsOf,
  showCreatedEndpoint,
  showEndpoint,
} from '../../wire/endpoint.ts';
import { metaOf, sliceOf } from '../../wire/list.ts';
import { finder, listReply, resourcePaths } from './resource.ts';
import { hidesApplication, listedSubAccount, registrarOf, subAccountFor } from './scope.ts';

const { collection, one, collectionParams, oneParams } = resourcePaths(
  'Endpoint',
  'endpoint_id',
  endpointIdText(),
);
const common = { tag: 'Endpoints', errors: 'endpoint' } as const;

const find = finder(
  ({ endpoints }, accountId: AccountId, id: EndpointId) => endpoints.get(accountId, id),
  { kind: 'unknownEndpoint' } as const,
);

const context = (needs: RouteNeeds, { access }: AccountInput): EndpointContext => ({
  registrar: registrarOf(needs),
  strictVobizSdk: needs.settings.strictVobizSdk,
  authId: access.account.authId,
  registrationOf: (username) => needs.operations.registrationOf(username),
});

const createEndpoint = accountRoute({
  ...common,
  method: 'POST',
  path: collection,
  summary: 'Create a SIP endpoint',
  status: 201,
  params: collectionParams,
  body: EndpointCreateBody,
  reply: EndpointCreatedSchema,
  async run(needs, input) {
    const { body } = input;
    const subAccount = await subAccountFor(needs, input, body.sub_account);
    if (!subAccount.ok) return subAccount;
    if (await hidesApplication(needs, input, body.application ?? body.app_id)) {
      return err(invalidField('application', 'is not an application of this account'));
    }
    const wrong = await wrongCallerId(needs, input.accountId, 'caller_id', body.caller_id);
    if (wrong !== undefined) return err(wrong);
    const created = await needs.provisioning.endpoints.create({
      accountId: input.accountId,
      subAccount: subAccount.value,
      username: body.username,
      password: body.password,
      alias: body.alias,
      appId: body.application ?? body.app_id,
      ...callerIdPatch(body.caller_id),
      ...permissionsOf(body),
    });
    return answered(
      created,
      (endpoint) => showCreatedEndpoint(endpoint, input.apiId, context(needs, input)),
      { unknownApplication: invalidField('application', 'is not an application of this account') },
    );
  },
});

const listEndpoints = accountRoute({
  ...common,
  method: 'GET',
  path: collection,
  summary: 'List SIP endpoints',
  params: collectionParams,
  query: Type.Object({
    ...sliceQuery,
    username__contains: Type.Optional(Type.String()),
    username__exact: Type.Optional(Type.String()),
    username__startswith: Type.Optional(Type.String()),
    alias__contains: Type.Optional(Type.String()),
    alias__exact: Type.Optional(Type.String()),
    application_id__exact: Type.Optional(appIdField()),
    application_id__isnull: Type.Optional(flag()),
    sub_account: Type.Optional(accountIdText()),
  }),
  reply: listReply(EndpointSchema),
  async run(needs, input) {
    const { accountId, query } = input;
    const { authId } = input.access.account;
    const whose = listedSubAccount(input.subAccount, ['sub_account', query.sub_account]);
    if (!whose.ok) return whose;
    const slice = sliceOf(query);
    const filter = {
      accountId,
      subAccount: whose.value,
      usernameContains: query.username__contains,
      usernameExact: query.username__exact,
      usernameStartsWith: query.username__startswith,
      aliasContains: query.alias__contains,
      aliasExact: query.alias__exact,
      appId: query.application_id__exact,
      appIsNull: query.application_id__isnull,
    };
    const page = await needs.provisioning.endpoints.list(filter, slice);
    return ok({
      api_id: input.apiId,
      meta: metaOf(page, slice, `/v1/Account/${authId}/Endpoint/`, query),
      objects: page.items.map((item) => showEndpoint(item, context(needs, input))),
    });
  },
});

const getEndpoint = accountRoute({
  ...common,
  method: 'GET',
  path: one,
  summary: 'Get a SIP endpoint',
  params: oneParams,
  reply: EndpointSchema,
  run: async (needs, input) =>
    answered(await find(needs, input, input.params.endpoint_id), (endpoint) => {
      const view = showEndpoint(endpoint, context(needs, input));
      return needs.settings.strictVobizSdk ? view : { api_id: input.apiId, ...view };
    }),
});

const updateEndpoint = accountRoute({
  ...common,
  method: 'POST',
  path: one,
  summary: 'Update a SIP endpoint, for example its application by app_id',
  status: 202,
  params: oneParams,
  body: EndpointUpdateBody,
  reply: messageReply,
  async run(needs, input) {
    const { accountId, params: path, body } = input;
    const found = await find(needs, input, path.endpoint_id);
    if (await hidesApplication(needs, input, body.app_id ?? undefined)) {
      return err(invalidField('app_id', 'is not an application of this account'));
    }
    const wrong = await wrongCallerId(needs, accountId, 'caller_id', body.caller_id);
    if (wrong !== undefined) return err(wrong);
    const patched = found.ok
      ? await needs.provisioning.endpoints.patch(accountId, path.endpoint_id, endpointPatch(body))
      : err(found.error);
    return answered(patched, () => ({ api_id: input.apiId, message: 'changed' }), {
      unknownApplication: invalidField('app_id', 'is not an application of this account'),
    });
  },
});

const deleteEndpoint = accountRoute({
  ...common,
  method: 'DELETE',
  path: one,
  summary: 'Delete a SIP endpoint',
  status: 204,
  params: oneParams,
  async run(needs, input) {
    const found = await find(needs, input, input.params.endpoint_id);
    const removed = found.ok
      ? await needs.provisioning.endpoints.remove(input.accountId, input.params.endpoint_id)
      : err(found.error);
    return answered(removed, () => undefined);
  },
});

export const endpointRoutes: readonly Route[] = [
  createEndpoint,
  listEndpoints,
  getEndpoint,
  updateEndpoint,
  deleteEndpoint,
];
