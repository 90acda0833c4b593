/** Local days and hours of a timezone, by Temporal, which knows daylight saving. */
import { Temporal } from 'temporal-polyfill';

const MINUTES_OF_HOUR = 60;

/** Whether it is an IANA name known here. */
export function isTimezone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    // Temporal takes offsets too; they have no daylight saving and are refused.
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}

export const localDate = (atUs: number, timezone: string): Temporal.PlainDate =>
  zoned(atUs, timezone).toPlainDate();

/** The local date, `YYYY-MM-DD`. */
export const dayOf = (atUs: number, timezone: string): string =>
  localDate(atUs, timezone).toString();

/** The beginning of the local day. */
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
