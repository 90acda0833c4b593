import { err, ok } from '../../../../base/result.ts';
import type { LiveCall } from '../../../../domain/dispatch/types.ts';
import { failure, invalidField } from '../../http/failure.ts';
import { accountRoute, type RawReply, type Route } from '../../http/route.ts';
import { apiId, httpMethod, oneOf, optionalHttpUrl, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { CallLogEntrySchema, showLogEntry } from '../../wire/call.ts';
import { metaOf, sliceOf } from '../../wire/list.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import { showCompletedCall, showPlivoLiveCall } from '../../wire/plivo-call.ts';
import { callCommon, callParams, callRoute } from './call-route.ts';

const ROOT = '/api/v1/Account/{auth_id}/Call/';
const ONE = `${ROOT}{call_uuid}/`;

/** Three shapes share these paths (dialect §3.4); the reply is written as it is. */
const json = (body: object): RawReply => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
});

const status = () =>
  Type.Optional(oneOf(['live', 'queued'], { description: 'absent: finished calls' }));

/** A sub-account sees its own calls only. */
const ofSubAccount = (calls: readonly LiveCall[], subAccount: string | undefined) =>
  calls.filter((call) => subAccount === undefined || call.subAccount === subAccount);

const listCalls = accountRoute({
  ...callCommon,
  method: 'GET',
  path: ROOT,
  summary: 'UUIDs of live or queued calls, or finished calls',
  params: Type.Object({ auth_id: Type.String() }),
  query: Type.Object({
    status: status(),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
    from_number: Type.Optional(Type.String()),
    to_number: Type.Optional(Type.String()),
    call_direction: Type.Optional(oneOf(['inbound', 'outbound'])),
    parent_call_uuid: Type.Optional(Type.String()),
    subaccount: Type.Optional(Type.String()),
    hangup_cause_code: Type.Optional(Type.Integer()),
    hangup_source: Type.Optional(Type.String()),
  }),
  produces: 'application/json',
  async run({ control, callRecords }, { accountId, subAccount, query, apiId: id }) {
    if (query.status !== undefined) {
      const calls = ofSubAccount(control.liveCalls(accountId, query.status), subAccount);
      return ok(json({ api_id: id, calls: calls.map((call) => call.callUuid) }));
    }
    const slice = sliceOf(query);
    const page = await callRecords.list(
      {
        accountId,
        subAccount: subAccount ?? query.subaccount,
        fromNumber: query.from_number?.replace('+', ''),
        toNumber: query.to_number?.replace('+', ''),
        direction: query.call_direction,
        parentCallUuid: query.parent_call_uuid,
        hangupCauseCode: query.hangup_cause_code,
        hangupSource: query.hangup_source,
      },
      slice,
    );
    return ok(
      json({
        api_id: id,
        meta: metaOf(page, slice, `/v1/Account/${accountId}/Call/`, query),
        objects: page.items.map((record) => showCompletedCall(record)),
      }),
    );
  },
});

const getCall = accountRoute({
  ...callCommon,
  method: 'GET',
  path: ONE,
  summary: 'A live, queued or finished call',
  params: callParams,
  query: Type.Object({ status: status() }),
  produces: 'application/json',
  async run({ control, callRecords }, { accountId, subAccount, params, query, apiId: id }) {
    const callUuid = params.call_uuid.toLowerCase();
    if (query.status === undefined) {
      return answered(await callRecords.get(accountId, callUuid, subAccount), (record) =>
        json({ api_id: id, ...showCompletedCall(record) }),
      );
    }
    const call = control.liveCall(accountId, callUuid);
    const hidden = subAccount !== undefined && call?.subAccount !== subAccount;
    const matches = (call?.status === 'queued') === (query.status === 'queued');
    if (call === undefined || hidden || !matches) return refused({ kind: 'unknownCall' });
    return ok(json({ api_id: id, ...showPlivoLiveCall(call) }));
  },
});

const hangupCall = callRoute({
  ...callCommon,
  method: 'DELETE',
  path: ONE,
  summary: 'Hang up a live call, or withdraw a queued one',
  status: 204,
  params: callParams,
  run: async ({ control }, { accountId, params }) =>
    answered(await control.hangup(accountId, params.call_uuid.toLowerCase()), () => undefined, {
      notFound: failure(404, 'call not found'),
    }),
});

/** Plivo's word for withdrawing a queued request. */
const cancelRequest = accountRoute({
  ...callCommon,
  method: 'DELETE',
  path: '/api/v1/Account/{auth_id}/Request/{request_uuid}/',
  summary: 'Withdraw what is still queued of a request',
  status: 204,
  params: Type.Object({ auth_id: Type.String(), request_uuid: Type.String() }),
  run: async ({ control }, { accountId, params }) =>
    answered(await control.hangup(accountId, params.request_uuid.toLowerCase()), () => undefined),
});

const transferCall = callRoute({
  ...callCommon,
  method: 'POST',
  path: ONE,
  summary: 'Move a leg, or both, to another document',
  status: 202,
  params: callParams,
  body: Type.Object({
    legs: Type.Optional(oneOf(['aleg', 'bleg', 'both'], { default: 'aleg' })),
    aleg_url: Type.Optional(optionalHttpUrl()),
    aleg_method: Type.Optional(httpMethod()),
    bleg_url: Type.Optional(optionalHttpUrl()),
    bleg_method: Type.Optional(httpMethod()),
  }),
  reply: Type.Object({
    api_id: apiId(),
    message: Type.String(),
    call_uuid: Type.String(),
    call_uuids: Type.Array(Type.String()),
  }),
  async run({ control }, { accountId, params, body, apiId: id }) {
    const legs = body.legs ?? 'aleg';
    const aleg = callbackTarget(body.aleg_url, body.aleg_method);
    const bleg = callbackTarget(body.bleg_url, body.bleg_method);
    if (legs !== 'bleg' && aleg === undefined) return err(invalidField('aleg_url', 'is required'));
    if (legs !== 'aleg' && bleg === undefined) return err(invalidField('bleg_url', 'is required'));
    const callUuid = params.call_uuid.toLowerCase();
    const transferred = await control.transfer(accountId, callUuid, { legs, aleg, bleg });
    return answered(transferred, () => ({
      api_id: id,
      message: 'call transferred',
      call_uuid: callUuid,
      call_uuids: [callUuid],
    }));
  },
});

const readLog = callRoute({
  ...callCommon,
  method: 'GET',
  path: `${ONE}log`,
  summary: 'Timeline of a call: SIP messages, document steps, callbacks, media events',
  params: callParams,
  reply: Type.Object({
    api_id: apiId(),
    call_uuid: Type.String(),
    log: Type.Array(CallLogEntrySchema),
  }),
  async run({ control }, { accountId, params, apiId: id }) {
    const callUuid = params.call_uuid.toLowerCase();
    return answered(await control.callLog(accountId, callUuid), (entries) => ({
      api_id: id,
      call_uuid: callUuid,
      log: entries.map(showLogEntry),
    }));
  },
});

export const liveCallRoutes: readonly Route[] = [
  listCalls,
  getCall,
  hangupCall,
  cancelRequest,
  transferCall,
  readLog,
];
