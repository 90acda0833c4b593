/** Local days and times of a timezone, computed with Temporal, which handles daylight saving. */
import { Temporal } from 'temporal-polyfill';

const MINUTES_OF_HOUR = 60;

/** Returns whether the name is a known IANA timezone. */
export function isTimezone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    // Temporal also accepts offsets. They have no daylight saving and are refused.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

export const localDate = (atUs: number, timezone: string): Temporal.PlainDate =>
  zoned(atUs, timezone).toPlainDate();

/** Returns the local date, `YYYY-MM-DD`. */
export const dayOf = (atUs: number, timezone: string): string =>
  localDate(atUs, timezone).toString();

/** Returns the start of the local day. */
export const dayStartUs = (atUs: number, timezone: string): number =>
  usOf(zoned(atUs, timezone).startOfDay());

export const nextDayStartUs = (atUs: number, timezone: string): number =>
  usOf(zoned(atUs, timezone).startOfDay().add({ days: 1 }).startOfDay());

/**
 * Returns the moment of a local time. If the clock is set back, the first of the two; if the time is skipped, the
 * moment of the change.
 */
export function momentUs(date: Temporal.PlainDate, minute: number, timezone: string): number {
  const time = new Temporal.PlainTime(
    Math.floor(minute / MINUTES_OF_HOUR),
    minute % MINUTES_OF_HOUR,
  );
  const moment = date
    .toPlainDateTime(time)
    .toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const isLeftOut = Temporal.PlainTime.compare(moment.toPlainTime(), time) !== 0;
  const change = isLeftOut ? moment.getTimeZoneTransition('next') : null;
  return usOf(change ?? moment);
}

const zoned = (atUs: number, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(atUs / 1000)).toZonedDateTimeISO(timezone);

const usOf = ({ epochMilliseconds }: Temporal.ZonedDateTime): number => epochMilliseconds * 1000;
