/** Call records by cursor, and calls per hour. Both are fast on millions of records. */
import { HOUR_MS, inMs } from '../../../../base/duration.ts';
import { microsFromUnits, unitsFromMicros } from '../../../../base/money.ts';
import { ok } from '../../../../base/result.ts';
import { isoMicros, isoOrNull } from '../../../../base/time-format.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  flag,
  nullableInteger,
  nullableNumber,
  nullableTimestamp,
  oneOf,
  Type,
  timestamp,
} from '../../http/schema.ts';
import { windowOf } from '../../http/values.ts';
import { CdrSchema, showCdr } from '../../wire/cdr.ts';
import { listedSubAccount } from '../provisioning/scope.ts';

const ROOT = '/api/v1/Account/{auth_id}/cdr';
const common = { method: 'GET', tag: 'Call records', errors: 'plain' } as const;
const params = Type.Object({ auth_id: accountIdText() });
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
const HOURS_MAX = 24 * 31;
const COST_MAX = 1_000_000;
const SECONDS_MAX = 1_000_000_000;
const score = () => Type.Optional(Type.Number({ minimum: 1, maximum: 5 }));
const cost = () => Type.Optional(Type.Number({ minimum: 0, maximum: COST_MAX }));
const date = () => Type.Optional(Type.String({ description: 'inclusive; YYYY-MM-DD or ISO 8601' }));

const pageCdrs = accountRoute({
  ...common,
  path: `${ROOT}/page`,
  summary:
    'List call records, latest first, by cursor and without totals. A request examines up to 50,000 records; `next_cursor` continues',
  params,
  query: Type.Object({
    cursor: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT })),
    search: Type.Optional(
      Type.String({ maxLength: 128, description: 'part of a number, call uuid or name' }),
    ),
    start_date: date(),
    end_date: date(),
    call_direction: Type.Optional(oneOf(['inbound', 'outbound'])),
    min_duration: Type.Optional(
      Type.Integer({ minimum: 0, maximum: SECONDS_MAX, description: 'answered seconds' }),
    ),
    hangup_cause_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999 })),
    campaign_id: Type.Optional(Type.String()),
    trunk_id: Type.Optional(Type.String()),
    min_cost: cost(),
    max_cost: cost(),
    min_mos: score(),
    max_mos: score(),
    one_way_audio: Type.Optional(flag()),
    sub_account: Type.Optional(accountIdText()),
  }),
  reply: Type.Object({
    data: Type.Array(CdrSchema),
    next_cursor: nullableInteger(),
    reached_limit: Type.Boolean({
      description: 'true: the request stopped after 50,000 records; older ones may match',
    }),
    searched_to: nullableTimestamp(),
  }),
  async run({ callRecords, settings }, { accountId, subAccount, query }) {
    const window = windowOf(['start_date', query.start_date], ['end_date', query.end_date]);
    if (!window.ok) return window;
    const whose = listedSubAccount(subAccount, ['sub_account', query.sub_account]);
    if (!whose.ok) return whose;
    const money = (units: number | undefined) =>
      units === undefined ? undefined : microsFromUnits(units);
    const filter = {
      accountId,
      subAccount: whose.value,
      startFromUs: window.value.fromUs,
      startToUs: window.value.toUs,
      direction: query.call_direction,
      minAnsweredMs: inMs(query.min_duration),
      hangupCauseCode: query.hangup_cause_code,
      campaignId: query.campaign_id,
      trunkId: query.trunk_id,
      costFrom: money(query.min_cost),
      costTo: money(query.max_cost),
      oneWayAudio: query.one_way_audio === true ? (true as const) : undefined,
      search: query.search,
    };
    const mos = { from: query.min_mos, to: query.max_mos };
    const range = { before: query.cursor, limit: query.limit ?? LIMIT_DEFAULT };
    const found = await callRecords.search(filter, mos, range);
    return ok({
      data: found.items.map((record) => showCdr(record, settings.strictVobizSdk)),
      next_cursor: found.before ?? null,
      reached_limit: found.hasReachedLimit,
      searched_to: isoOrNull(found.searchedToUs),
    });
  },
});

const hourlyCdrs = accountRoute({
  ...common,
  path: `${ROOT}/hourly`,
  summary: 'Get calls, answers, answered seconds and charges of each of the last hours',
  params,
  query: Type.Object({
    hours: Type.Optional(Type.Integer({ minimum: 1, maximum: HOURS_MAX, default: 24 })),
  }),
  reply: Type.Object({
    hours: Type.Array(
      Type.Object({
        hour: timestamp(),
        calls: Type.Integer(),
        answered: Type.Integer(),
        answered_seconds: Type.Integer(),
        cost: Type.Number(),
      }),
    ),
    mos: Type.Unsafe<number | null>({
      ...nullableNumber(),
      description: 'average of the latest calls',
    }),
  }),
  async run({ callRecords, clock }, { accountId, subAccount, query }) {
    const fromMs = clock.wallMs() - (query.hours ?? 24) * HOUR_MS;
    const filter = { accountId, subAccount, startFromUs: Math.round(fromMs * 1000) };
    const { hours, mos } = await callRecords.hourly(filter);
    return ok({
      hours: hours.map((one) => ({
        hour: isoMicros(one.startUs),
        calls: one.calls,
        answered: one.answered,
        answered_seconds: Math.round(one.talkUs / 1_000_000),
        cost: unitsFromMicros(one.cost),
      })),
      mos: mos === undefined ? null : Math.round(mos * 100) / 100,
    });
  },
});

export const cdrSearchRoutes: readonly Route[] = [pageCdrs, hourlyCdrs];
