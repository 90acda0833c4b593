import { describe, expect, it } from 'vitest';
import { numberTimezones } from '../../../src/edge/timezones/number-timezones.ts';

describe('time zones of numbers', () => {
  const timezoneOf = numberTimezones();
  it.each([
    ['4930123456', 'Europe/Berlin'],
    ['12125550100', 'America/New_York'],
    ['18085550100', 'Pacific/Honolulu'],
    ['919876543210', 'Asia/Calcutta'],
  ])('%s is in %s', (number, timezone) => {
    expect(timezoneOf(number)).toBe(timezone);
  });

  it('returns no zone for a prefix with several', () => {
    expect(timezoneOf('18005550100')).toBe('');
    expect(timezoneOf('')).toBe('');
  });
});
