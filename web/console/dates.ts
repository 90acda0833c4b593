/** Dates as days of a time zone. */

const DAY_MS = 86_400_000;

/** Returns the date and time of the zone as if it were UTC, in ms. */
const localMs = (zone: string, atMs: number): number =>
  Date.parse(`${new Date(atMs).toLocaleString('sv', { timeZone: zone }).replace(' ', 'T')}Z`);

/** Returns the start of a day in the zone. Where clocks change at midnight, the day does not start at 00:00. */
function startMs(zone: string, dayMs: number): number {
  const starts = [dayMs - DAY_MS, dayMs + DAY_MS].map((near) => dayMs - localMs(zone, near) + near);
  const first = Math.min(...starts);
  return localMs(zone, first) >= dayMs ? first : Math.max(...starts);
}

/** Returns the first or last second of a date (YYYY-MM-DD) in the zone. Other texts stay unchanged. */
export function secondIn(zone: string, date: string, bound: 'first' | 'last'): string {
  const dayMs = Date.parse(date);
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(dayMs)) return date;
  const atMs = bound === 'first' ? startMs(zone, dayMs) : startMs(zone, dayMs + DAY_MS) - 1000;
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
