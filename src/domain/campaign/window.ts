/** Computes when a window is open: a pure function of its hours, holidays, the timezone and the time. */
import type { DialHours, DialWindow } from './types.ts';
import { localDate, momentUs } from './zoned-time.ts';

/** Current state of a window and the time of its next change. Undefined: it never changes. */
export interface WindowState {
  readonly open: boolean;
  readonly untilUs: number | undefined;
}

/** A window that does not open within this many days counts as permanently closed. */
const LOOK_AHEAD_DAYS = 400;

interface Span {
  readonly fromUs: number;
  readonly toUs: number;
}

export function windowAt(
  window: DialWindow | undefined,
  timezone: string,
  nowUs: number,
): WindowState {
  if (window === undefined) return { open: true, untilUs: undefined };
  const today = localDate(nowUs, timezone);
  let end: number | undefined;
  // Starts with yesterday, because its hours may extend into today. Adjacent hours are joined.
  for (let ahead = -1; ahead <= LOOK_AHEAD_DAYS; ahead += 1) {
    for (const { fromUs, toUs } of spansOf(window, today.add({ days: ahead }), timezone)) {
      if (toUs <= nowUs) continue;
      if (end === undefined && fromUs > nowUs) return { open: false, untilUs: fromUs };
      if (end !== undefined && fromUs > end) return { open: true, untilUs: end };
      end = Math.max(end ?? toUs, toUs);
    }
    if (end !== undefined && ahead > 1) return { open: true, untilUs: end };
  }
  return { open: false, untilUs: undefined };
}

/** Returns the hours that start on the date, sorted, without the parts on holidays. */
function spansOf(
  { hours, holidays }: DialWindow,
  date: ReturnType<typeof localDate>,
  timezone: string,
): readonly Span[] {
  if (holidays.includes(date.toString())) return [];
  return hours
    .filter(({ weekday }) => weekday === date.dayOfWeek)
    .map((entry) => spanOf(entry, date, holidays, timezone))
    .filter(({ fromUs, toUs }) => fromUs < toUs)
    .sort((a, b) => a.fromUs - b.fromUs);
}

function spanOf(
  { startMinute, endMinute }: DialHours,
  date: ReturnType<typeof localDate>,
  holidays: readonly string[],
  timezone: string,
): Span {
  const fromUs = momentUs(date, startMinute, timezone);
  if (endMinute > startMinute) return { fromUs, toUs: momentUs(date, endMinute, timezone) };
  const next = date.add({ days: 1 });
  const endsAt = holidays.includes(next.toString()) ? 0 : endMinute;
  return { fromUs, toUs: momentUs(next, endsAt, timezone) };
}
