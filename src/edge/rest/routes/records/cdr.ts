import { inMs } from '../../../../base/duration.ts';
import { microsFromUnits } from '../../../../base/money.ts';
import { ok, type Result } from '../../../../base/result.ts';
import type { CallRecords } from '../../../../domain/cdr/cdr.ts';
import type { CdrFilter } from '../../../../domain/cdr/types.ts';
import type { Failure } from '../../http/failure.ts';
import { type AccountInput, accountRoute, callerRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  callUuidOf,
  callUuidText,
  flag,
  oneOf,
  type Static,
  Type,
} from '../../http/schema.ts';
import { windowOf } from '../../http/values.ts';
import { answered } from '../../refusal.ts';
import { CdrSchema, CdrSummarySchema, showCdr, showCdrSummary } from '../../wire/cdr.ts';
import { cdrRows } from '../../wire/cdr-rows.ts';
import { defined, pageQuery, pageSlice } from '../../wire/list.ts';
import { formatQuery, rowsReply } from '../../wire/rows.ts';
import { listedSubAccount } from '../provisioning/scope.ts';

const PER_PAGE_DEFAULT = 20;
const PER_PAGE_MAX = 100;
const COST_MAX = 1_000_000;
const SECONDS_MAX = 1_000_000_000;
const ROOT = '/api/v1/Account/{auth_id}/cdr';
const common = { method: 'GET', tag: 'Call records', errors: 'plain' } as const;
const accountParams = Type.Object({ auth_id: accountIdText() });

const score = () => Type.Optional(Type.Number({ minimum: 1, maximum: 5 }));

const filters = {
  from_number: Type.Optional(Type.String()),
  to_number: Type.Optional(Type.String()),
  start_date: Type.Optional(Type.String({ description: 'inclusive; YYYY-MM-DD or ISO 8601' })),
  end_date: Type.Optional(Type.String({ description: 'inclusive; YYYY-MM-DD or ISO 8601' })),
  call_direction: Type.Optional(oneOf(['inbound', 'outbound'])),
  min_duration: Type.Optional(
    Type.Integer({ minimum: 0, maximum: SECONDS_MAX, description: 'answered seconds' }),
  ),
  sip_call_id: Type.Optional(Type.String()),
  bridge_uuid: Type.Optional(callUuidText()),
  hangup_cause: Type.Optional(Type.String()),
  hangup_disposition: Type.Optional(Type.String()),
  context: Type.Optional(Type.String()),
  campaign_id: Type.Optional(Type.String()),
  trunk_id: Type.Optional(Type.String()),
  hangup_cause_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999 })),
  min_cost: Type.Optional(Type.Number({ minimum: 0, maximum: COST_MAX })),
  max_cost: Type.Optional(Type.Number({ minimum: 0, maximum: COST_MAX })),
  one_way_audio: Type.Optional(flag()),
  sub_account: Type.Optional(accountIdText({ description: 'a sub-account sees only its own' })),
  search: Type.Optional(Type.String({ description: 'part of a number, call uuid or name' })),
};
const FilterQuery = Type.Object(filters);
const ListQuery = Type.Object({ ...filters, ...pageQuery(PER_PAGE_DEFAULT, PER_PAGE_MAX) });

/** Owner of the records. The main account also sees the records of its sub-accounts. */
type Whose = Pick<AccountInput, 'accountId' | 'subAccount'>;

function filterOf(
  { accountId, subAccount }: Whose,
  query: Static<typeof FilterQuery>,
): Result<CdrFilter, Failure> {
  const window = windowOf(['start_date', query.start_date], ['end_date', query.end_date]);
  if (!window.ok) return window;
  const whose = listedSubAccount(subAccount, ['sub_account', query.sub_account]);
  if (!whose.ok) return whose;
  return ok({
    accountId,
    subAccount: whose.value,
    fromNumber: query.from_number,
    toNumber: query.to_number,
    startFromUs: window.value.fromUs,
    startToUs: window.value.toUs,
    direction: query.call_direction,
    minAnsweredMs: inMs(query.min_duration),
    sipCallId: query.sip_call_id,
    bridgeUuid: query.bridge_uuid,
    hangupCause: query.hangup_cause,
    hangupDisposition: query.hangup_disposition,
    context: query.context,
    campaignId: query.campaign_id,
    trunkId: query.trunk_id,
    hangupCauseCode: query.hangup_cause_code,
    costFrom: query.min_cost === undefined ? undefined : microsFromUnits(query.min_cost),
    costTo: query.max_cost === undefined ? undefined : microsFromUnits(query.max_cost),
    oneWayAudio: query.one_way_audio === true ? (true as const) : undefined,
    search: query.search,
  });
}

const Pagination = Type.Object({
  page: Type.Integer(),
  per_page: Type.Integer(),
  total: Type.Integer(),
  pages: Type.Integer(),
  has_next: Type.Boolean(),
  has_prev: Type.Boolean(),
});

const listReply = {
  account_id: accountIdText(),
  count: Type.Integer(),
  data: Type.Array(CdrSchema),
  success: Type.Boolean(),
};

async function listed(
  callRecords: CallRecords,
  whose: Whose,
  query: Static<typeof ListQuery>,
  strict: boolean,
) {
  const filter = filterOf(whose, query);
  if (!filter.ok) return filter;
  const slice = pageSlice(query, PER_PAGE_DEFAULT);
  const { items, total, summary } = await callRecords.list(filter.value, slice);
  const pages = Math.ceil(total / slice.limit);
  return ok({
    account_id: whose.accountId,
    count: items.length,
    data: items.map((record) => showCdr(record, strict)),
    pagination: {
      page: slice.page,
      per_page: slice.limit,
      total,
      pages,
      has_next: slice.page < pages,
      has_prev: slice.page > 1,
    },
    success: true,
    summary: showCdrSummary(summary),
  });
}

const listCdrs = accountRoute({
  ...common,
  path: ROOT,
  summary: 'List call records, latest first',
  params: accountParams,
  query: ListQuery,
  reply: Type.Object({ ...listReply, pagination: Pagination, summary: CdrSummarySchema }),
  run: ({ callRecords, settings }, input) =>
    listed(callRecords, input, input.query, settings.strictVobizSdk),
});

const searchCdrs = accountRoute({
  ...common,
  path: `${ROOT}/search`,
  summary: 'List call records; the response repeats the filters',
  params: accountParams,
  query: ListQuery,
  reply: Type.Object({
    ...listReply,
    pagination: Pagination,
    summary: CdrSummarySchema,
    filters: Type.Object({
      call_direction: Type.Optional(Type.String()),
      from_number: Type.Optional(Type.String()),
      hangup_cause: Type.Optional(Type.String()),
      to_number: Type.Optional(Type.String()),
    }),
  }),
  async run({ callRecords, settings }, input) {
    const found = await listed(callRecords, input, input.query, settings.strictVobizSdk);
    if (!found.ok) return found;
    const { call_direction, from_number, hangup_cause, to_number } = input.query;
    const filters = defined({ call_direction, from_number, hangup_cause, to_number });
    return ok({ ...found.value, filters });
  },
});

const recentCdrs = accountRoute({
  ...common,
  path: `${ROOT}/recent`,
  summary: 'List the latest call records',
  params: accountParams,
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PER_PAGE_MAX, default: PER_PAGE_DEFAULT }),
    ),
  }),
  reply: Type.Object(listReply),
  async run({ callRecords, settings }, { accountId, subAccount, query }) {
    const limit = query.limit ?? PER_PAGE_DEFAULT;
    const records = await callRecords.recent(accountId, limit, subAccount);
    return ok({
      account_id: accountId,
      count: records.length,
      data: records.map((record) => showCdr(record, settings.strictVobizSdk)),
      success: true,
    });
  },
});

const exportCdrs = accountRoute({
  ...common,
  path: `${ROOT}/export`,
  summary: 'Download call records as CSV, or as JSON lines with all fields',
  params: accountParams,
  query: Type.Object({ ...filters, min_mos: score(), max_mos: score(), ...formatQuery }),
  produces: 'text/csv',
  async run({ callRecords }, input) {
    const filter = filterOf(input, input.query);
    if (!filter.ok) return filter;
    const { min_mos: from, max_mos: to, format = 'csv' } = input.query;
    const total = await callRecords.count(filter.value);
    return ok(rowsReply(cdrRows(callRecords, filter.value, { from, to }), format, total));
  },
});

const CdrReply = Type.Object({ data: CdrSchema, success: Type.Boolean() });

const getCdr = accountRoute({
  ...common,
  path: `${ROOT}/{call_uuid}`,
  summary: 'Get a call record, with voice and stream charges as separate lines',
  params: Type.Object({ auth_id: accountIdText(), call_uuid: Type.String() }),
  reply: CdrReply,
  async run({ callRecords, settings }, { accountId, subAccount, params }) {
    const found = await callRecords.get(accountId, callUuidOf(params.call_uuid), subAccount);
    return answered(found, (record) => ({
      data: showCdr(record, settings.strictVobizSdk),
      success: true,
    }));
  },
});

/** Path without prefix, as the spec writes it (`GET /cdr/{call_uuid}`). */
const getOwnCdr = callerRoute({
  ...common,
  path: '/api/v1/cdr/{call_uuid}',
  summary: 'Get a call record of the account in the credentials',
  params: Type.Object({ call_uuid: Type.String() }),
  reply: CdrReply,
  async run({ callRecords, settings }, { principal, params }) {
    const { account, owner } = principal;
    const subAccount = account.parentAuthId === undefined ? undefined : account.authId;
    const callUuid = callUuidOf(params.call_uuid);
    return answered(await callRecords.get(owner.authId, callUuid, subAccount), (record) => ({
      data: showCdr(record, settings.strictVobizSdk),
      success: true,
    }));
  },
});

export const cdrRoutes: readonly Route[] = [
  listCdrs,
  searchCdrs,
  recentCdrs,
  exportCdrs,
  getCdr,
  getOwnCdr,
];
