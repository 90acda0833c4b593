/** Dial windows of campaigns: one pair of times for all days or hours per weekday, and dates without calls. */
import { err, ok, type Result } from '../../../base/result.ts';
import type { CampaignPlan } from '../../../domain/campaign/types.ts';
import { flag, hinted, type Static, Type } from '../http/schema.ts';

type DialWindow = NonNullable<CampaignPlan['window']>;
type DialHours = DialWindow['hours'][number];

/** Field and problem that the schema cannot express. */
export type PlanProblem = readonly [field: string, problem: string];

const HOLIDAYS_MAX = 400;
const HOURS_MAX = 50;
const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7] as const;

const time = () =>
  hinted(
    Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'HH:mm' }),
    'must have the form HH:mm',
  );
const nullableTime = () =>
  hinted(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
      description:
        "HH:mm in the campaign's timezone; an end before the beginning is on the next day",
    }),
    'must have the form HH:mm',
  );
const weekday = () => Type.Integer({ minimum: 1, maximum: 7, description: '1 Monday … 7 Sunday' });

const HoursSchema = Type.Object({ weekday: weekday(), start_time: time(), end_time: time() });

export const windowFields = {
  window_enabled: Type.Optional(flag()),
  window_start_time: Type.Optional(nullableTime()),
  window_end_time: Type.Optional(nullableTime()),
  window_days: Type.Optional(
    Type.Array(weekday(), {
      maxItems: 7,
      description: 'days to which the times apply; default all',
    }),
  ),
  window_hours: Type.Optional(
    Type.Array(HoursSchema, {
      maxItems: HOURS_MAX,
      description: 'times per weekday, instead of one pair for all days',
    }),
  ),
  holidays: Type.Optional(
    Type.Array(
      hinted(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), 'must have the form YYYY-MM-DD'),
      { maxItems: HOLIDAYS_MAX, description: 'dates without calls' },
    ),
  ),
};
const WindowBody = Type.Object(windowFields);
type WindowBody = Static<typeof WindowBody>;

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
const timeOf = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** Returns undefined if calls are allowed at any time. */
export function dialWindow(body: WindowBody): Result<DialWindow | undefined, PlanProblem> {
  if (body.window_enabled !== true) {
    return body.holidays === undefined || body.holidays.length === 0
      ? ok(undefined)
      : err(['holidays', 'are allowed only with window_enabled']);
  }
  const wrong = body.holidays?.find((date) => !isDate(date));
  if (wrong !== undefined) return err(['holidays', `has ${wrong}, which is not a date`]);
  const hours = hoursOf(body);
  return hours.ok ? ok({ hours: hours.value, holidays: body.holidays ?? [] }) : hours;
}

function hoursOf(body: WindowBody): Result<readonly DialHours[], PlanProblem> {
  const { window_start_time: start, window_end_time: end, window_hours: each } = body;
  if (each !== undefined && each.length > 0) {
    const same = each.find(({ start_time, end_time }) => start_time === end_time);
    if (same !== undefined) return err(['window_hours', 'must begin and end at different times']);
    return ok(
      each.map(({ weekday: day, start_time, end_time }) => ({
        weekday: day,
        startMinute: minuteOf(start_time),
        endMinute: minuteOf(end_time),
      })),
    );
  }
  if (!start) return err(['window_start_time', 'is required with window_enabled']);
  if (!end) return err(['window_end_time', 'is required with window_enabled']);
  if (start === end) return err(['window_end_time', 'must differ from window_start_time']);
  const days = body.window_days?.length ? [...new Set(body.window_days)].sort() : ALL_DAYS;
  return ok(
    days.map((day) => ({ weekday: day, startMinute: minuteOf(start), endMinute: minuteOf(end) })),
  );
}

/** Returns whether the date exists. */
function isDate(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

export const WindowSchema = {
  window_enabled: Type.Boolean(),
  window_start_time: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  window_end_time: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  window_days: Type.Array(Type.Integer()),
  window_hours: Type.Array(HoursSchema),
  holidays: Type.Array(Type.String()),
};

/** Converts the window to the fields that would set it. */
export function showWindow(window: CampaignPlan['window']) {
  const hours = window?.hours ?? [];
  const [first] = hours;
  const isOnePair =
    first !== undefined &&
    hours.every(
      ({ startMinute, endMinute }) =>
        startMinute === first.startMinute && endMinute === first.endMinute,
    );
  return {
    window_enabled: window !== undefined,
    window_start_time: isOnePair ? timeOf(first.startMinute) : null,
    window_end_time: isOnePair ? timeOf(first.endMinute) : null,
    window_days: [...new Set(hours.map(({ weekday: day }) => day))],
    window_hours: isOnePair
      ? []
      : hours.map(({ weekday: day, startMinute, endMinute }) => ({
          weekday: day,
          start_time: timeOf(startMinute),
          end_time: timeOf(endMinute),
        })),
    holidays: [...(window?.holidays ?? [])],
  };
}
