import { inMs } from '../../../../base/duration.ts';
import { type AccountId, asRequestUuid } from '../../../../base/ids.ts';
import { plainFilter } from '../../../../base/phone-number.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import { permits } from '../../../../domain/account/account.ts';
import type { CdrFilter } from '../../../../domain/cdr/types.ts';
import type { LiveCall } from '../../../../domain/dispatch/types.ts';
import { type Failure, invalidField } from '../../http/failure.ts';
import { notPermitted } from '../../http/permission.ts';
import { countRangeOf, countRangeQuery, timeRangeOf, timeRangeQuery } from '../../http/range.ts';
import { accountRoute, type RawReply, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  callUuidOf,
  httpMethod,
  nullableNumber,
  oneOf,
  optionalHttpUrl,
  type Static,
  sliceQuery,
  Type,
  uuidFilter,
} from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { CallLogEntrySchema, showLogEntry } from '../../wire/call.ts';
import { metaOf, sliceOf } from '../../wire/list.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import { showCompletedCall, showPlivoLiveCall } from '../../wire/plivo-call.ts';
import { QualitySampleSchema, showQualitySample } from '../../wire/quality.ts';
import { listedSubAccount } from '../provisioning/scope.ts';
import { callCommon, callParams, callRoute, ownsRequest } from './call-route.ts';

const ROOT = '/api/v1/Account/{auth_id}/Call/';
const ONE = `${ROOT}{call_uuid}/`;

/** Three reply shapes share these paths (dialect §3.4), so the reply bypasses the schema's serializer. */
const json = (body: object): RawReply => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
});

const status = () =>
  Type.Optional(
    oneOf(['live', 'queued'], { description: 'live or queued; absent: finished calls' }),
  );

/** Filters that match only finished calls. */
const finishedOnly = {
  parent_call_uuid: uuidFilter(),
  hangup_cause_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999 })),
  hangup_source: Type.Optional(Type.String()),
  ...timeRangeQuery('end_time'),
  ...countRangeQuery('bill_duration'),
};
const ListQuery = Type.Object({
  status: status(),
  ...sliceQuery,
  from_number: Type.Optional(Type.String()),
  to_number: Type.Optional(Type.String()),
  call_direction: Type.Optional(oneOf(['inbound', 'outbound'])),
  subaccount: Type.Optional(accountIdText()),
  ...finishedOnly,
});
type ListQuery = Static<typeof ListQuery>;

/** Returns the live and waiting calls that match the filters: all of them, or one page. */
function livePart(
  calls: readonly LiveCall[],
  subAccount: AccountId | undefined,
  { query, requested }: { readonly query: ListQuery; readonly requested: URLSearchParams },
): Result<readonly LiveCall[], Failure> {
  const unfit = Object.keys(finishedOnly).find((name) => requested.has(name));
  if (unfit !== undefined) {
    return err(invalidField(unfit, 'is a filter of finished calls: it goes without status'));
  }
  const [from, to] = [plainFilter(query.from_number), plainFilter(query.to_number)];
  const fitting = calls.filter(
    (call) =>
      (subAccount === undefined || call.subAccount === subAccount) &&
      (query.call_direction === undefined || call.direction === query.call_direction) &&
      (from === undefined || call.from === from) &&
      (to === undefined || call.to === to),
  );
  const { limit, offset } = sliceOf(query);
  return ok(
    requested.has('limit') || requested.has('offset')
      ? fitting.slice(offset, offset + limit)
      : fitting,
  );
}

function recordFilter(
  accountId: AccountId,
  subAccount: AccountId | undefined,
  query: ListQuery,
): Result<CdrFilter, Failure> {
  const ended = timeRangeOf(query, 'end_time');
  if (!ended.ok) return ended;
  const answered = countRangeOf(query, 'bill_duration');
  return ok({
    accountId,
    subAccount,
    fromNumber: query.from_number,
    toNumber: query.to_number,
    direction: query.call_direction,
    parentCallUuid:
      query.parent_call_uuid === undefined ? undefined : callUuidOf(query.parent_call_uuid),
    hangupCauseCode: query.hangup_cause_code,
    hangupSource: query.hangup_source,
    endFromUs: ended.value.from,
    endToUs: ended.value.to,
    answeredFromMs: inMs(answered.from),
    answeredToMs: inMs(answered.to),
  });
}

const listCalls = accountRoute({
  ...callCommon,
  method: 'GET',
  path: ROOT,
  summary: 'List the UUIDs of live or queued calls, or list finished calls',
  params: Type.Object({ auth_id: accountIdText() }),
  query: ListQuery,
  produces: 'application/json',
  async run({ control, callRecords }, input) {
    const { accountId, query, apiId: id } = input;
    const whose = listedSubAccount(input.subAccount, ['subaccount', query.subaccount]);
    if (!whose.ok) return whose;
    if (query.status !== undefined) {
      const requested = new URLSearchParams(input.url.split('?', 2)[1]);
      const live = await control.liveCalls(accountId, query.status);
      const calls = livePart(live, whose.value, { query, requested });
      if (!calls.ok) return calls;
      return ok(json({ api_id: id, calls: calls.value.map((call) => call.callUuid) }));
    }
    if (!permits(input.principal.account, 'cdr')) return err(notPermitted('cdr'));
    const filter = recordFilter(accountId, whose.value, query);
    if (!filter.ok) return filter;
    const slice = sliceOf(query);
    const page = await callRecords.list(filter.value, slice);
    return ok(
      json({
        api_id: id,
        meta: metaOf(page, slice, `/v1/Account/${input.access.account.authId}/Call/`, query),
        objects: page.items.map((record) => showCompletedCall(record, input.access.account.authId)),
      }),
    );
  },
});

const getCall = accountRoute({
  ...callCommon,
  method: 'GET',
  path: ONE,
  summary: 'Get a live, queued or finished call',
  params: callParams,
  query: Type.Object({
    status: status(),
    call_uuid: Type.Optional(
      Type.String({ description: 'call UUID of the path, as plivo-python sends it' }),
    ),
  }),
  produces: 'application/json',
  async run({ control, callRecords }, input) {
    const { accountId, subAccount, params, query, apiId: id } = input;
    const callUuid = callUuidOf(params.call_uuid);
    if (query.call_uuid !== undefined && callUuidOf(query.call_uuid) !== callUuid)
      return err(invalidField('call_uuid', 'differs from that of the path'));
    if (query.status === undefined) {
      if (!permits(input.principal.account, 'cdr')) return err(notPermitted('cdr'));
      return answered(await callRecords.get(accountId, callUuid, subAccount), (record) =>
        json({ api_id: id, ...showCompletedCall(record, input.access.account.authId) }),
      );
    }
    const call = await control.liveCall(accountId, callUuid);
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
  summary: 'Hang up a live call, or cancel a queued one',
  status: 204,
  params: callParams,
  run: async ({ control }, { accountId, params }) =>
    answered(await control.hangup(accountId, callUuidOf(params.call_uuid)), () => undefined),
});

/** Plivo's operation to cancel a queued request. */
const cancelRequest = accountRoute({
  ...callCommon,
  method: 'DELETE',
  path: '/api/v1/Account/{auth_id}/Request/{request_uuid}/',
  summary: 'Cancel the calls of a request that are still queued',
  status: 204,
  params: Type.Object({ auth_id: accountIdText(), request_uuid: Type.String() }),
  async run({ control }, { accountId, subAccount, params }) {
    const requestUuid = asRequestUuid(params.request_uuid.toLowerCase());
    const mine = await ownsRequest(control, { accountId, subAccount }, requestUuid);
    if (!mine) return refused({ kind: 'unknownCall' });
    return answered(await control.hangup(accountId, requestUuid), () => undefined);
  },
});

const transferCall = callRoute({
  ...callCommon,
  method: 'POST',
  path: ONE,
  summary: 'Transfer one leg, or both, to another document',
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
    const callUuid = callUuidOf(params.call_uuid);
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
  summary: 'Get the timeline of a call: SIP messages, document steps, callbacks, media events',
  params: callParams,
  reply: Type.Object({
    api_id: apiId(),
    call_uuid: Type.String(),
    log: Type.Array(CallLogEntrySchema),
  }),
  async run({ control }, { accountId, params, apiId: id }) {
    const callUuid = callUuidOf(params.call_uuid);
    return answered(await control.callLog(accountId, callUuid), (entries) => ({
      api_id: id,
      call_uuid: callUuid,
      log: entries.map(showLogEntry),
    }));
  },
});

const readQuality = callRoute({
  ...callCommon,
  method: 'GET',
  path: `${ONE}quality`,
  summary:
    'Get the current quality of an answered call, measured on the audio received from the other party',
  params: callParams,
  reply: Type.Object({
    api_id: apiId(),
    call_uuid: Type.String(),
    mos: nullableNumber(),
    jitter_ms: Type.Number(),
    round_trip_ms: nullableNumber(),
    packets_received: Type.Integer(),
    packets_sent: Type.Integer(),
    packets_lost: Type.Integer(),
    packets_late: Type.Integer(),
  }),
  async run({ liveCalls }, { accountId, params, apiId: id }) {
    const callUuid = callUuidOf(params.call_uuid);
    const found = await liveCalls.quality(callUuid);
    if (found?.call.accountId !== accountId) return refused({ kind: 'unknownCall' });
    const { mos, jitterMs, roundTripMs, ...packets } = found.quality;
    return ok({
      api_id: id,
      call_uuid: callUuid,
      mos: mos ?? null,
      jitter_ms: Math.round(jitterMs * 100) / 100,
      round_trip_ms: roundTripMs ?? null,
      packets_received: packets.packetsReceived,
      packets_sent: packets.packetsSent,
      packets_lost: packets.packetsLost,
      packets_late: packets.packetsLate,
    });
  },
});

const readSamples = callRoute({
  ...callCommon,
  method: 'GET',
  path: `${ONE}quality/samples`,
  summary: 'Get quality samples of a call (initially every 5 s), also for a while after its end',
  params: callParams,
  reply: Type.Object({
    api_id: apiId(),
    call_uuid: Type.String(),
    samples: Type.Array(QualitySampleSchema),
  }),
  async run({ liveCalls, callRecords }, { accountId, params, apiId: id }) {
    const callUuid = callUuidOf(params.call_uuid);
    const isLive = (await liveCalls.quality(callUuid))?.call.accountId === accountId;
    const isTheirs = isLive || (await callRecords.get(accountId, callUuid, undefined)).ok;
    if (!isTheirs) return refused({ kind: 'unknownCall' });
    const samples = (await liveCalls.qualitySamples(callUuid)) ?? [];
    return ok({ api_id: id, call_uuid: callUuid, samples: samples.map(showQualitySample) });
  },
});

export const liveCallRoutes: readonly Route[] = [
  listCalls,
  getCall,
  hangupCall,
  cancelRequest,
  transferCall,
  readLog,
  readQuality,
  readSamples,
];
