/** Campaigns (dialect §3.11): request fields and the returned record. */

import { DAY_MS, daysOf, MINUTE_MS, SECOND_MS, secondsOf } from '../../../base/duration.ts';
import { withPlus } from '../../../base/phone-number.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import type {
  CampaignPlan,
  CampaignView,
  ContactCounters,
  RetryOutcome,
} from '../../../domain/campaign/types.ts';
import {
  agentIdText,
  flag,
  hinted,
  nullableHttpUrl,
  nullableInteger,
  nullableNumber,
  nullableText,
  nullableTimestamp,
  oneOf,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import { callerIdField } from '../http/values.ts';
import {
  dialWindow,
  type PlanProblem,
  showWindow,
  WindowSchema,
  windowFields,
} from './campaign-window.ts';

const NAME_MAX = 100;
const RETRY_MAX = { attempts: 5, delayMinutes: 43_200, windowDays: 365 } as const;
const RETRY_DEFAULT = { delayMinutes: 60, windowDays: 7 } as const;
const CALLS_MAX = 1_000_000_000;
const COOLDOWN_MAX_S = 604_800;
const RETRIED: readonly RetryOutcome[] = ['busy', 'no_answer', 'failed'];
const MOMENT =
  '^\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:?\\d{2})$';

const name = () =>
  hinted(
    Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: '\\S' }),
    `must have 1 to ${NAME_MAX} characters`,
  );
const whole = (minimum: number, maximum: number) =>
  hinted(
    Type.Integer({ minimum, maximum }),
    `must be a whole number from ${minimum} to ${maximum}`,
  );
const limit = () =>
  hinted(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: CALLS_MAX }),
    'must be a whole number of at least 1, or null: no limit',
  );
const moment = (description: string) =>
  hinted(
    Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: MOMENT, description }),
    'must be an ISO 8601 timestamp with its offset, for example 2026-01-31T09:00:00Z, or null',
  );

const required = {
  name: name(),
  agent_id: agentIdText(),
  max_concurrent: whole(1, 1_000_000),
  timezone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name' }),
  caller_id_strategy: oneOf(['fixed', 'per_contact', 'pool']),
};
const optional = {
  fixed_caller_id: Type.Optional(callerIdField()),
  cps: Type.Optional(
    Type.Number({ maximum: CALLS_MAX, description: 'for compatibility; has no effect' }),
  ),
  scheduled_at: Type.Optional(moment('time at which it starts automatically, if it is ready')),
  expires_at: Type.Optional(moment('time at which contacts that were not reached expire')),
  ...windowFields,
  contact_timezone: Type.Optional(
    oneOf(['campaign', 'number'], {
      description: "timezone of the window: the campaign's, or that of the contact's number",
    }),
  ),
  retry_attempts: Type.Optional(whole(0, RETRY_MAX.attempts)),
  retry_delays: Type.Optional(
    Type.Array(whole(1, RETRY_MAX.delayMinutes), {
      maxItems: RETRY_MAX.attempts,
      description: 'minutes before each retry; further retries use the last value',
    }),
  ),
  retry_window_days: Type.Optional(whole(1, RETRY_MAX.windowDays)),
  retry_on: Type.Optional(
    Type.Array(oneOf(['busy', 'no_answer', 'failed', 'machine']), { maxItems: 4 }),
  ),
  notify_url: Type.Optional(nullableHttpUrl()),
  pool_rotation_strategy: Type.Optional(oneOf(['round_robin', 'least_used', 'random'])),
  pool_max_calls_per_number: Type.Optional(limit()),
  pool_max_calls_per_day: Type.Optional(limit()),
  pool_cooldown_seconds: Type.Optional(whole(0, COOLDOWN_MAX_S)),
  max_abandoned_percent: Type.Optional(
    hinted(
      Type.Unsafe<number | null>({
        type: ['number', 'null'],
        minimum: 0,
        maximum: 100,
        description:
          'maximum share of answered calls without a bot or agent within 2 s, per cent; above it, dialing slows down',
      }),
      'must be a number from 0 to 100, or null',
    ),
  ),
};

export const CampaignCreateBody = Type.Object({ ...required, ...optional });
export const CampaignUpdateBody = Type.Object({
  name: Type.Optional(required.name),
  agent_id: Type.Optional(required.agent_id),
  max_concurrent: Type.Optional(required.max_concurrent),
  timezone: Type.Optional(required.timezone),
  caller_id_strategy: Type.Optional(required.caller_id_strategy),
  ...optional,
  clear_schedule: Type.Optional(flag()),
});
type CreateBody = Static<typeof CampaignCreateBody>;
type UpdateBody = Static<typeof CampaignUpdateBody>;

export const ScheduleBody = Type.Object({ scheduled_at: moment('null removes the schedule') });
export const CloneBody = Type.Object({ name: Type.Optional(name()) });

export const momentUs = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined ? undefined : Math.round(Date.parse(text) * 1000);

/** Converts a complete body to a plan. Checks that depend on the account happen elsewhere. */
export function campaignPlan(body: CreateBody): Result<CampaignPlan, PlanProblem> {
  for (const field of ['scheduled_at', 'expires_at'] as const) {
    if (Number.isNaN(momentUs(body[field])))
      return err([field, 'is not an existing date and time']);
  }
  const window = dialWindow(body);
  if (!window.ok) return window;
  const guard = body.max_abandoned_percent ?? undefined;
  return ok({
    name: body.name.trim(),
    agentId: body.agent_id,
    maxConcurrent: body.max_concurrent,
    cps: body.cps ?? 1,
    timezone: body.timezone,
    contactTimezone: body.contact_timezone ?? 'campaign',
    window: window.value,
    scheduledUs: momentUs(body.scheduled_at),
    expiresUs: momentUs(body.expires_at),
    retry: {
      attempts: body.retry_attempts ?? 0,
      delaysMs: (body.retry_delays ?? [RETRY_DEFAULT.delayMinutes]).map(
        (minutes) => minutes * MINUTE_MS,
      ),
      windowMs: (body.retry_window_days ?? RETRY_DEFAULT.windowDays) * DAY_MS,
      on: body.retry_on ?? RETRIED,
    },
    callerIdStrategy: body.caller_id_strategy,
    fixedCallerId: body.fixed_caller_id ?? undefined,
    pool: {
      rotation: body.pool_rotation_strategy ?? 'round_robin',
      maxCalls: body.pool_max_calls_per_number ?? undefined,
      maxCallsPerDay: body.pool_max_calls_per_day ?? undefined,
      cooldownMs: (body.pool_cooldown_seconds ?? 0) * SECOND_MS,
    },
    abandonment: guard === undefined ? undefined : { maxBasisPoints: Math.round(guard * 100) },
    notifyUrl: body.notify_url || undefined,
  });
}

/** Adds `+` to the digits. undefined becomes null. */
export const plus = (digits: string | undefined): string | null =>
  digits === undefined || digits === '' ? null : withPlus(digits);

const showPlan = (plan: CampaignPlan) => ({
  name: plan.name,
  agent_id: plan.agentId,
  max_concurrent: plan.maxConcurrent,
  cps: plan.cps,
  timezone: plan.timezone,
  contact_timezone: plan.contactTimezone,
  caller_id_strategy: plan.callerIdStrategy,
  fixed_caller_id: plus(plan.fixedCallerId),
  scheduled_at: isoOrNull(plan.scheduledUs),
  expires_at: isoOrNull(plan.expiresUs),
  ...showWindow(plan.window),
  retry_attempts: plan.retry.attempts,
  retry_delays: plan.retry.delaysMs.map((ms) => ms / MINUTE_MS),
  retry_window_days: daysOf(plan.retry.windowMs),
  retry_on: [...plan.retry.on],
  notify_url: plan.notifyUrl ?? null,
  pool_rotation_strategy: plan.pool.rotation,
  pool_max_calls_per_number: plan.pool.maxCalls ?? null,
  pool_max_calls_per_day: plan.pool.maxCallsPerDay ?? null,
  pool_cooldown_seconds: secondsOf(plan.pool.cooldownMs),
  max_abandoned_percent:
    plan.abandonment === undefined ? null : plan.abandonment.maxBasisPoints / 100,
});

/** Returns the plan with the changes of the body. Related fields are validated together. */
export function changedPlan(
  plan: CampaignPlan,
  body: UpdateBody,
): Result<CampaignPlan, PlanProblem> {
  const { clear_schedule: clears, ...named } = body;
  const shown = showPlan(plan);
  // A single pair of times or days replaces hours per weekday.
  const onePair = body.window_start_time != null || body.window_end_time != null;
  const known = onePair || body.window_days !== undefined ? { ...shown, window_hours: [] } : shown;
  const merged = { ...known, ...named };
  const holidays = merged.window_enabled ? merged.holidays : (body.holidays ?? []);
  return campaignPlan({ ...merged, holidays, ...(clears && { scheduled_at: null }) });
}

/** Statuses in display order. */
export const CONTACT_STATUSES = [
  'pending',
  'dialling',
  'answered',
  'no_answer',
  'busy',
  'failed',
  'retry_pending',
  'expired',
] as const satisfies readonly (keyof ContactCounters)[];

export const CampaignSchema = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  sub_account: nullableText(),
  name: Type.String(),
  agent_id: Type.String(),
  max_concurrent: Type.Integer(),
  cps: Type.Number(),
  timezone: Type.String(),
  contact_timezone: Type.String(),
  caller_id_strategy: Type.String(),
  fixed_caller_id: nullableText(),
  scheduled_at: nullableTimestamp(),
  expires_at: nullableTimestamp(),
  ...WindowSchema,
  retry_attempts: Type.Integer(),
  retry_delays: Type.Array(Type.Integer()),
  retry_window_days: Type.Integer(),
  retry_on: Type.Array(Type.String()),
  notify_url: nullableText(),
  pool_rotation_strategy: Type.String(),
  pool_max_calls_per_number: nullableInteger(),
  pool_max_calls_per_day: nullableInteger(),
  pool_cooldown_seconds: Type.Integer(),
  max_abandoned_percent: nullableNumber(),
  status: Type.String(),
  health: Type.String({ description: 'active, idle, stalled or not_started' }),
  pause_reason: nullableText(),
  paused_reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'same as pause_reason',
  }),
  started_at: nullableTimestamp(),
  completed_at: nullableTimestamp(),
  last_dial_at: nullableTimestamp(),
  total_contacts: Type.Integer(),
  pending: Type.Integer(),
  dialling: Type.Integer(),
  answered: Type.Integer(),
  no_answer: Type.Integer(),
  busy: Type.Integer(),
  failed: Type.Integer(),
  retry_pending: Type.Integer(),
  expired: Type.Integer(),
  consecutive_failures: Type.Integer(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export function showCampaign({ campaign, health }: CampaignView): Static<typeof CampaignSchema> {
  const { counters } = campaign;
  return {
    id: campaign.id,
    account_id: campaign.accountId,
    sub_account: campaign.subAccount ?? null,
    ...showPlan(campaign),
    status: campaign.status,
    health,
    pause_reason: campaign.pauseReason ?? null,
    paused_reason: campaign.pauseReason ?? null,
    started_at: isoOrNull(campaign.startedUs),
    completed_at: isoOrNull(campaign.completedUs),
    last_dial_at: isoOrNull(campaign.lastDialUs),
    total_contacts: CONTACT_STATUSES.reduce((sum, status) => sum + counters[status], 0),
    ...counters,
    consecutive_failures: campaign.consecutiveFailures,
    created_at: isoMicros(campaign.createdUs),
    updated_at: isoMicros(campaign.updatedUs),
  };
}
