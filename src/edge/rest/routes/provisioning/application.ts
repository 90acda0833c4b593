import type { AccountId, AppId } from '../../../../base/ids.ts';
import { err, ok } from '../../../../base/result.ts';
import { wrongCallerId } from '../../caller-id.ts';
import type { RouteNeeds } from '../../deps.ts';
import { invalidField } from '../../http/failure.ts';
import { type AccountInput, accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  appIdField,
  flag,
  messageReply,
  sliceQuery,
  Type,
} from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import {
  ApplicationCreateBody,
  ApplicationSchema,
  ApplicationUpdateBody,
  answerUrlOf,
  applicationPatch,
  showApplication,
} from '../../wire/application.ts';
import { metaOf, sliceOf } from '../../wire/list.ts';
import { agentPatch, agentUrls, newAgent } from './application-agent.ts';
import { finder, listReply, resourcePaths } from './resource.ts';
import { listedSubAccount, registrarOf, subAccountFor } from './scope.ts';

const { collection, one, collectionParams, oneParams } = resourcePaths(
  'Application',
  'app_id',
  appIdField(),
);
const common = { tag: 'Applications', errors: 'resource' } as const;

const find = finder(
  ({ applications }, accountId: AccountId, id: AppId) => applications.get(accountId, id),
  { kind: 'unknownApplication' } as const,
);

const shown = (needs: RouteNeeds, { access }: AccountInput) => ({
  registrar: registrarOf(needs),
  defaultEndpointApp: access.owner.defaultEndpointApp,
  authId: access.account.authId,
});

/** Only the main account has a default; a sub-account may leave it unchanged. */
const forMainAccount = (
  { access, subAccount }: AccountInput,
  appId: AppId | undefined,
  wanted: boolean | undefined,
) => {
  const unchanged = (access.owner.defaultEndpointApp === appId) === wanted;
  return subAccount === undefined || wanted === undefined || unchanged
    ? undefined
    : invalidField('default_endpoint_app', 'can be set only by the main account');
};

/** Stores the account's default application, which unbound endpoints use. */
async function keepDefault(
  { accounts, provisioning }: RouteNeeds,
  { access, accountId }: AccountInput,
  appId: AppId,
  wanted: boolean | undefined,
): Promise<void> {
  const current = access.owner.defaultEndpointApp;
  if (wanted === true && current !== appId) {
    await accounts.patch(accountId, { defaultEndpointApp: appId });
    // The default is not deleted, but the application may have been deleted before it became the default.
    const { ok: exists } = await provisioning.applications.get(accountId, appId);
    if (!exists) await accounts.patch(accountId, { defaultEndpointApp: undefined });
  }
  if (wanted === false && current === appId) {
    await accounts.patch(accountId, { defaultEndpointApp: undefined });
  }
}

const createApplication = accountRoute({
  ...common,
  method: 'POST',
  path: collection,
  summary: 'Create an application',
  status: 201,
  params: collectionParams,
  body: ApplicationCreateBody,
  reply: Type.Object({ api_id: apiId(), message: Type.String(), app_id: Type.String() }),
  async run(needs, input) {
    const { body } = input;
    const subAccount = await subAccountFor(needs, input, body.sub_account ?? body.subaccount);
    if (!subAccount.ok) return subAccount;
    const wrong =
      forMainAccount(input, undefined, body.default_endpoint_app === true || undefined) ??
      (await wrongCallerId(needs, input.accountId, 'caller_id', body.caller_id));
    if (wrong !== undefined) return err(wrong);
    const agent = newAgent(needs, input.accountId, body);
    if (!agent.ok) return agent;
    const answerUrl = answerUrlOf(body);
    if (!answerUrl.ok) return answerUrl;
    if (answerUrl.value === undefined && agent.value === undefined) {
      return err(invalidField('answer_url', 'is required without answer_xml'));
    }
    const { applications } = needs.provisioning;
    const created = await applications.create({
      accountId: input.accountId,
      subAccount: subAccount.value,
      name: body.app_name,
      answerUrl: answerUrl.value ?? '',
      agent: agent.value,
      // A document receives no hangups.
      ...(body.answer_xml !== undefined && { hangupUrl: '' }),
      ...applicationPatch(body),
    });
    if (agent.value !== undefined) {
      // The addresses of an agent contain the ID.
      const urls = agentUrls(needs, created.appId, body.hangup_url);
      await applications.patch(input.accountId, created.appId, urls);
    }
    await keepDefault(needs, input, created.appId, body.default_endpoint_app);
    return ok({ api_id: input.apiId, message: 'created', app_id: String(created.appId) });
  },
});

const listApplications = accountRoute({
  ...common,
  method: 'GET',
  path: collection,
  summary: 'List applications',
  params: collectionParams,
  query: Type.Object({
    ...sliceQuery,
    subaccount: Type.Optional(accountIdText()),
    app_name__contains: Type.Optional(Type.String()),
  }),
  reply: listReply(ApplicationSchema),
  async run(needs, input) {
    const { accountId, query } = input;
    const { authId } = input.access.account;
    const whose = listedSubAccount(input.subAccount, ['subaccount', query.subaccount]);
    if (!whose.ok) return whose;
    const slice = sliceOf(query);
    const page = await needs.provisioning.applications.list(
      {
        accountId,
        subAccount: whose.value,
        nameContains: query.app_name__contains,
      },
      slice,
    );
    return ok({
      api_id: input.apiId,
      meta: metaOf(page, slice, `/v1/Account/${authId}/Application/`, query),
      objects: page.items.map((item) => showApplication(item, shown(needs, input))),
    });
  },
});

const getApplication = accountRoute({
  ...common,
  method: 'GET',
  path: one,
  summary: 'Get an application',
  params: oneParams,
  reply: ApplicationSchema,
  run: async (needs, input) =>
    answered(await find(needs, input, input.params.app_id), (application) => ({
      api_id: input.apiId,
      ...showApplication(application, shown(needs, input)),
    })),
});

const updateApplication = accountRoute({
  ...common,
  method: 'POST',
  path: one,
  summary: 'Update an application',
  status: 202,
  params: oneParams,
  body: ApplicationUpdateBody,
  reply: messageReply,
  async run(needs, input) {
    const { body, accountId } = input;
    const appId = input.params.app_id;
    const found = await find(needs, input, appId);
    if (!found.ok) return refused(found.error);
    const wrong =
      forMainAccount(input, appId, body.default_endpoint_app) ??
      (await wrongCallerId(needs, accountId, 'caller_id', body.caller_id));
    if (wrong !== undefined) return err(wrong);
    const answerUrl = answerUrlOf(body);
    if (!answerUrl.ok) return answerUrl;
    const agent = agentPatch(needs, found.value, { ...body, answer_url: answerUrl.value });
    if (!agent.ok) return agent;
    const patched = await needs.provisioning.applications.patch(accountId, appId, {
      ...applicationPatch(body),
      ...(body.app_name !== undefined && { name: body.app_name }),
      ...(answerUrl.value !== undefined && { answerUrl: answerUrl.value }),
      ...agent.value,
    });
    if (patched.ok) await keepDefault(needs, input, appId, body.default_endpoint_app);
    return answered(patched, () => ({ api_id: input.apiId, message: 'changed' }));
  },
});

const deleteApplication = accountRoute({
  ...common,
  method: 'DELETE',
  path: one,
  alsoRefuses: [409],
  summary: 'Delete an application. Refused while numbers or endpoints are attached',
  status: 204,
  params: oneParams,
  body: Type.Object({
    cascade: Type.Optional(flag(false)),
    new_endpoint_application: Type.Optional(appIdField()),
  }),
  async run(needs, input) {
    const { body, accountId } = input;
    const found = await find(needs, input, input.params.app_id);
    if (!found.ok) return refused(found.error);
    const target = body.new_endpoint_application;
    if (target === input.params.app_id) {
      return err(invalidField('new_endpoint_application', 'must be another application'));
    }
    if (target !== undefined && !(await find(needs, input, target)).ok) {
      return err(invalidField('new_endpoint_application', 'is not an application of this account'));
    }
    const rebind = target ?? (body.cascade === true ? null : undefined);
    if (input.access.owner.defaultEndpointApp === input.params.app_id) {
      if (rebind === undefined) return refused({ kind: 'applicationInUse' });
      await needs.accounts.patch(accountId, { defaultEndpointApp: rebind ?? undefined });
    }
    return answered(
      await needs.provisioning.applications.remove(accountId, input.params.app_id, rebind),
      () => undefined,
    );
  },
});

export const applicationRoutes: readonly Route[] = [
  createApplication,
  listApplications,
  getApplication,
  updateApplication,
  deleteApplication,
];
