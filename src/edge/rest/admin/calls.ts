import { Readable } from 'node:stream';
import type { CallUuid } from '../../../base/ids.ts';
import { ok } from '../../../base/result.ts';
import { isoMicros } from '../../../base/time-format.ts';
import { adminRoute, type RawReply, type Route } from '../http/route.ts';
import { accountIdText, callUuidText, oneOf, Type } from '../http/schema.ts';
import type { LiveCalls } from '../live-calls.ts';
import { refused } from '../refusal.ts';
import { CallLogEntrySchema, LiveCallSchema, showLiveCall, showLogEntry } from '../wire/call.ts';
import { QualitySampleSchema, showQualitySample } from '../wire/quality.ts';

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
  summary: 'List live and queued calls of all accounts',
  reply: Type.Object({ count: Type.Integer(), calls: Type.Array(AdminCallSchema) }),
  async run({ liveCalls }) {
    const calls = await liveCalls.list();
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
  summary: 'Get a call and its timeline, also for a while after its end',
  params,
  reply: Type.Object({
    call_uuid: Type.String(),
    live: Type.Boolean(),
    call: Type.Optional(AdminCallSchema),
    log: Type.Array(CallLogEntrySchema),
  }),
  async run({ liveCalls }, { params: { call_uuid: callUuid } }) {
    const detail = await liveCalls.get(callUuid);
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

const getOwner = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/calls/{call_uuid}/account',
  summary: 'Get the account of a running or finished call',
  params,
  reply: Type.Object({ account_id: accountIdText() }),
  async run({ liveCalls, callRecords }, { params: { call_uuid: callUuid } }) {
    // Most requests are for finished calls, which need no answer of another node.
    const accountId =
      (await callRecords.accountOf(callUuid)) ?? (await liveCalls.get(callUuid))?.call?.accountId;
    return accountId === undefined
      ? refused({ kind: 'unknownCall' })
      : ok({ account_id: accountId });
  },
});

const hangupCall = adminRoute({
  ...common,
  method: 'DELETE',
  path: '/admin/v1/calls/{call_uuid}',
  summary: 'Hang up',
  status: 204,
  params,
  run: async ({ liveCalls }, { params: { call_uuid: callUuid } }) =>
    (await liveCalls.hangup(callUuid)) ? ok(undefined) : refused({ kind: 'unknownCall' }),
});

const FORMATS = ['json', 'pcap', 'text'] as const;
type Format = (typeof FORMATS)[number];
const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  pcap: 'application/vnd.tcpdump.pcap',
  text: 'text/plain; charset=utf-8',
};

const listMessages = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/calls/{call_uuid}/messages',
  summary:
    'Get the SIP messages of a call and its related legs, oldest first, with passwords, tokens and media keys masked. `format` or Accept selects JSON, a pcap file for Wireshark, or a text ladder',
  params,
  query: Type.Object({ format: Type.Optional(oneOf(FORMATS)) }),
  produces: 'application/json',
  async run({ liveCalls }, { params: { call_uuid: callUuid }, query, headers }) {
    const format = query.format ?? accepted(String(headers['accept'] ?? ''));
    const written = await WRITTEN[format](liveCalls, callUuid);
    if (written === undefined) return refused({ kind: 'unknownCall' });
    return ok({ contentType: CONTENT_TYPES[format], ...written });
  },
});

/** Returns the first supported format in the Accept header. Default: JSON. */
function accepted(accept: string): Format {
  for (const range of accept.toLowerCase().split(',')) {
    const [type = ''] = range.split(';', 1);
    if (type.trim() === 'text/plain') return 'text';
    if (type.includes('pcap')) return 'pcap';
    if (type.trim() === 'application/json') return 'json';
  }
  return 'json';
}

type Written = Pick<RawReply, 'body' | 'headers'> | undefined;

const WRITTEN: Readonly<
  Record<Format, (calls: LiveCalls, callUuid: CallUuid) => Promise<Written>>
> = {
  async text(calls, callUuid) {
    const body = await calls.messages(callUuid, 'text');
    return body === undefined ? undefined : { body };
  },
  async pcap(calls, callUuid) {
    const capture = await calls.messages(callUuid, 'pcap');
    if (capture === undefined) return undefined;
    const headers = { 'content-disposition': `attachment; filename="${callUuid}.pcap"` };
    return { body: Readable.from([capture], { objectMode: false }), headers };
  },
  async json(calls, callUuid) {
    const messages = await calls.messages(callUuid, 'json');
    const shown = messages?.map(({ atUs, callId, text, ...rest }) => ({
      at: isoMicros(atUs),
      ...rest,
      call_id: callId,
      text,
    }));
    return shown && { body: JSON.stringify({ call_uuid: callUuid, messages: shown }) };
  },
};

const showQuality = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/calls/{call_uuid}/quality',
  summary: 'Get quality samples of a call (every 5 s), also for a while after its end',
  params,
  reply: Type.Object({ call_uuid: Type.String(), samples: Type.Array(QualitySampleSchema) }),
  async run({ liveCalls }, { params: { call_uuid: callUuid } }) {
    const samples = await liveCalls.qualitySamples(callUuid);
    if (samples === undefined) return refused({ kind: 'unknownCall' });
    return ok({ call_uuid: callUuid, samples: samples.map(showQualitySample) });
  },
});

export const adminCallRoutes: readonly Route[] = [
  listCalls,
  getCall,
  getOwner,
  hangupCall,
  listMessages,
  showQuality,
];
