import { ok } from '../../../base/result.ts';
import { isoMicros } from '../../../base/time-format.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { accountIdText, callUuidText, type Static, Type, timestamp } from '../http/schema.ts';
import { refused } from '../refusal.ts';
import { CallLogEntrySchema, LiveCallSchema, showLiveCall, showLogEntry } from '../wire/call.ts';

const common = { tag: 'Operator: calls', errors: 'admin' } as const;
const params = Type.Object({ call_uuid: callUuidText() });

const AdminCallSchema = Type.Object({
  account_id: accountIdText(),
  ...LiveCallSchema.properties,
});

const listCalls = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/calls',
  summary: 'Live and queued calls of all accounts',
  reply: Type.Object({ count: Type.Integer(), calls: Type.Array(AdminCallSchema) }),
  run({ liveCalls }) {
    const calls = liveCalls.list();
    return ok({
      count: calls.length,
      calls: calls.map((call) => ({ account_id: call.accountId, ...showLiveCall(call) })),
    });
  },
});

const getCall = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/calls/{call_uuid}',
  summary: 'One call and its timeline, also for a while after its end',
  params,
  reply: Type.Object({
    call_uuid: Type.String(),
    live: Type.Boolean(),
    call: Type.Optional(AdminCallSchema),
    log: Type.Array(CallLogEntrySchema),
  }),
  run({ liveCalls }, { params: { call_uuid: callUuid } }) {
    const detail = liveCalls.get(callUuid);
    if (detail === undefined) return refused({ kind: 'unknownCall' });
    const { call, log } = detail;
    return ok({
      call_uuid: callUuid,
      live: call !== undefined,
      ...(call && { call: { account_id: call.accountId, ...showLiveCall(call) } }),
      log: log.map(showLogEntry),
    });
  },
});

const hangupCall = adminRoute({
  ...common,
  method: 'DELETE',
  path: '/admin/v1/calls/{call_uuid}',
  summary: 'Hang up',
  status: 204,
  params,
  run: ({ liveCalls }, { params: { call_uuid: callUuid } }) =>
    liveCalls.hangup(callUuid) ? ok(undefined) : refused({ kind: 'unknownCall' }),
});

const MessageSchema = Type.Object({
  at: timestamp(),
  direction: Type.String({ description: 'in or out' }),
  transport: Type.String(),
  local: Type.String(),
  remote: Type.String(),
  text: Type.String(),
});

const listMessages = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/calls/{call_uuid}/messages',
  summary: 'SIP messages of a call as they went over the wire',
  params,
  reply: Type.Object({ call_uuid: Type.String(), messages: Type.Array(MessageSchema) }),
  run({ liveCalls }, { params: { call_uuid: callUuid } }) {
    const messages = liveCalls.messages(callUuid);
    if (messages === undefined) return refused({ kind: 'unknownCall' });
    const shown: Static<typeof MessageSchema>[] = messages.map(({ atUs, ...rest }) => ({
      at: isoMicros(atUs),
      ...rest,
    }));
    return ok({ call_uuid: callUuid, messages: shown });
  },
});

export const adminCallRoutes: readonly Route[] = [listCalls, getCall, hangupCall, listMessages];
