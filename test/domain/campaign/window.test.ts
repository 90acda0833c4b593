import { describe, expect, it } from 'vitest';
import type { DialHours, DialWindow } from '../../../src/domain/campaign/types.ts';
import { windowAt } from '../../../src/domain/campaign/window.ts';
import {
  dayOf,
  dayStartUs,
  isTimezone,
  nextDayStartUs,
} from '../../../src/domain/campaign/zoned-time.ts';

const us = (iso: string): number => Date.parse(iso) * 1000;
const iso = (atUs: number | undefined): string | undefined =>
  atUs === undefined ? undefined : new Date(atUs / 1000).toISOString();

const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
const daily = (start: string, end: string, weekdays = [1, 2, 3, 4, 5, 6, 7]): DialHours[] =>
  weekdays.map((weekday) => ({
    weekday,
    startMinute: minutes(start),
    endMinute: minutes(end),
  }));
const window = (hours: DialHours[], holidays: string[] = []): DialWindow => ({ hours, holidays });
const at = (given: DialWindow | undefined, zone: string, time: string) => {
  const { open, untilUs } = windowAt(given, zone, us(time));
  return [open, iso(untilUs)];
};

describe('window', () => {
  it('is always open if not configured', () => {
    expect(at(undefined, 'UTC', '2026-01-01T00:00:00Z')).toEqual([true, undefined]);
  });

  it('opens and closes at local hours, excluding the end', () => {
    const hours = window(daily('09:00', '17:00'));
    const zone = 'America/New_York';
    expect(at(hours, zone, '2026-01-05T13:59:59Z')).toEqual([false, '2026-01-05T14:00:00.000Z']);
    expect(at(hours, zone, '2026-01-05T14:00:00Z')).toEqual([true, '2026-01-05T22:00:00.000Z']);
    expect(at(hours, zone, '2026-01-05T22:00:00Z')).toEqual([false, '2026-01-06T14:00:00.000Z']);
  });

  it('continues past midnight', () => {
    const hours = window(daily('20:00', '02:00', [5]));
    expect(at(hours, 'UTC', '2026-01-09T23:00:00Z')).toEqual([true, '2026-01-10T02:00:00.000Z']);
    expect(at(hours, 'UTC', '2026-01-10T01:59:00Z')).toEqual([true, '2026-01-10T02:00:00.000Z']);
    expect(at(hours, 'UTC', '2026-01-10T20:30:00Z')).toEqual([false, '2026-01-16T20:00:00.000Z']);
  });

  it('joins adjacent hours, across days', () => {
    const hours = window([...daily('08:00', '12:00', [1]), ...daily('12:00', '00:00', [1])]);
    expect(at(hours, 'UTC', '2026-01-05T09:00:00Z')).toEqual([true, '2026-01-06T00:00:00.000Z']);
  });

  it('joins overlapping hours and hours in any order', () => {
    const overlapping = window([
      ...daily('13:00', '14:00', [1]),
      ...daily('08:00', '12:00', [1]),
      ...daily('09:00', '10:00', [1]),
      ...daily('11:00', '13:00', [1]),
    ]);
    expect(at(overlapping, 'UTC', '2026-01-05T07:00:00Z')).toEqual([
      false,
      '2026-01-05T08:00:00.000Z',
    ]);
    expect(at(overlapping, 'UTC', '2026-01-05T09:30:00Z')).toEqual([
      true,
      '2026-01-05T14:00:00.000Z',
    ]);
  });

  it('is not open in hours of which daylight saving leaves nothing', () => {
    const hours = window(daily('02:15', '02:45'));
    const zone = 'Europe/Berlin';
    expect(at(hours, zone, '2026-03-29T00:30:00Z')).toEqual([false, '2026-03-30T00:15:00.000Z']);
    expect(at(hours, zone, '2026-03-29T01:00:00Z')).toEqual([false, '2026-03-30T00:15:00.000Z']);
  });

  it('observes weekdays and holidays, also for hours that extend into them', () => {
    const hours = window(daily('22:00', '06:00'), ['2026-01-06']);
    expect(at(hours, 'UTC', '2026-01-05T23:00:00Z')).toEqual([true, '2026-01-06T00:00:00.000Z']);
    expect(at(hours, 'UTC', '2026-01-06T23:00:00Z')).toEqual([false, '2026-01-07T22:00:00.000Z']);
    const working = window(daily('09:00', '17:00', [1, 2, 3, 4, 5]));
    expect(at(working, 'UTC', '2026-01-10T12:00:00Z')).toEqual([false, '2026-01-12T09:00:00.000Z']);
  });

  it('starts at the clock change if daylight saving skips its first minute', () => {
    const hours = window(daily('02:30', '05:00'));
    const zone = 'Europe/Berlin';
    expect(at(hours, zone, '2026-03-29T00:30:00Z')).toEqual([false, '2026-03-29T01:00:00.000Z']);
    expect(at(hours, zone, '2026-03-29T01:00:00Z')).toEqual([true, '2026-03-29T03:00:00.000Z']);
  });

  it('is one hour shorter in spring and longer in autumn if it spans the change', () => {
    const hours = window(daily('00:00', '06:00'));
    const zone = 'America/New_York';
    expect(at(hours, zone, '2026-03-08T05:00:00Z')).toEqual([true, '2026-03-08T10:00:00.000Z']);
    expect(at(hours, zone, '2026-11-01T04:00:00Z')).toEqual([true, '2026-11-01T11:00:00.000Z']);
  });

  it('ends at the first of two equal local times in autumn', () => {
    const hours = window(daily('00:30', '01:30'));
    const zone = 'America/New_York';
    expect(at(hours, zone, '2026-11-01T05:00:00Z')).toEqual([true, '2026-11-01T05:30:00.000Z']);
    expect(at(hours, zone, '2026-11-01T06:00:00Z')).toEqual([false, '2026-11-02T05:30:00.000Z']);
  });

  it('never opens if every day is a holiday', () => {
    const never = window(daily('09:00', '10:00', [1]), []);
    const mondays = Array.from({ length: 60 }, (_, week) =>
      dayOf(us('2026-01-05T00:00:00Z') + week * 7 * 86_400_000_000, 'UTC'),
    );
    expect(at({ ...never, holidays: mondays }, 'UTC', '2026-01-05T00:00:00Z')).toEqual([
      false,
      undefined,
    ]);
  });
});

describe('days of a timezone', () => {
  it('start at local midnight, or at the change that skips it', () => {
    expect(dayOf(us('2026-01-01T03:00:00Z'), 'America/New_York')).toBe('2025-12-31');
    expect(iso(dayStartUs(us('2026-01-01T12:00:00Z'), 'Asia/Kolkata'))).toBe(
      '2025-12-31T18:30:00.000Z',
    );
    // Midnight does not exist in Beirut on 2026-03-29.
    expect(iso(nextDayStartUs(us('2026-03-28T12:00:00Z'), 'Asia/Beirut'))).toBe(
      '2026-03-28T22:00:00.000Z',
    );
  });

  it('may have 23 or 25 hours', () => {
    const nextDay = (time: string) => iso(nextDayStartUs(us(time), 'Europe/Berlin'));
    expect(nextDay('2026-03-29T12:00:00Z')).toBe('2026-03-29T22:00:00.000Z');
    expect(nextDay('2026-10-25T12:00:00Z')).toBe('2026-10-25T23:00:00.000Z');
  });

  it('have IANA names', () => {
    expect(isTimezone('Europe/Berlin')).toBe(true);
    expect(isTimezone('Europe/Nowhere')).toBe(false);
    expect(isTimezone('+02:00')).toBe(false);
  });
});
