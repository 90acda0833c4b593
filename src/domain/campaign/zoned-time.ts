/** Local days and hours of a timezone, over Temporal: daylight saving and its gaps are the library's business. */
import { Temporal } from 'temporal-polyfill';

const MINUTES_OF_HOUR = 60;

/** An IANA name that this machine knows. */
export function isTimezone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    // Offsets are taken by Temporal too, and have no daylight saving.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

export const localDate = (atUs: number, timezone: string): Temporal.PlainDate =>
  zoned(atUs, timezone).toPlainDate();

/** `YYYY-MM-DD` there. */
export const dayOf = (atUs: number, timezone: string): string =>
  localDate(atUs, timezone).toString();

/** The beginning of the day there. */
export const dayStartUs = (atUs: number, timezone: string): number =>
  usOf(zoned(atUs, timezone).startOfDay());

export const nextDayStartUs = (atUs: number, timezone: string): number =>
  usOf(zoned(atUs, timezone).startOfDay().add({ days: 1 }).startOfDay());

/**
 * The moment of a local time: the first of two where the clock is set back; where it is set forward and the time is left
 * out, the moment of the change.
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
