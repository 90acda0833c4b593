import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  billableMs,
  micros,
  microsFromUnits,
  priceOf,
  pulsedMs,
  pulsesBegun,
  unitsFromMicros,
} from '../../src/base/money.ts';

describe('money', () => {
  it('converts a JSON number of units to millionths and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }), (amount) => {
        expect(microsFromUnits(unitsFromMicros(amount))).toBe(amount);
      }),
    );
  });

  it.each([
    [0.1, 100_000],
    [1.0000005, 1_000_001],
    [-1.0000005, -1_000_001],
    [8.7, 8_700_000],
    [1.1, 1_100_000],
  ])('converts %d units to %d millionths, rounding half away from zero', (units, expected) => {
    expect(microsFromUnits(units)).toBe(expected);
  });

  it('rejects an amount that is not an exact integer', () => {
    expect(microsFromUnits(Number.NaN)).toBeUndefined();
    expect(microsFromUnits(Number.POSITIVE_INFINITY)).toBeUndefined();
    expect(microsFromUnits(1e10)).toBeUndefined();
  });

  it('throws for a fraction of a millionth', () => {
    expect(() => micros(0.5)).toThrow(/safe integer/);
  });
});

describe('pulses', () => {
  const pulse = fc.integer({ min: 1, max: 600 }).map((seconds) => seconds * 1000);
  const durationMs = fc.integer({ min: 0, max: 86_400_000 });

  it('cover the time in whole pulses without a surplus (spec: Limits, billing pulse)', () => {
    fc.assert(
      fc.property(durationMs, pulse, (ms, pulseMs) => {
        const pulsed = pulsedMs(ms, pulseMs);
        expect(pulsed % pulseMs).toBe(0);
        const reported = billableMs(ms);
        expect(pulsed).toBeGreaterThanOrEqual(reported);
        expect(pulsed).toBeGreaterThanOrEqual(pulseMs);
        if (pulsed > pulseMs) expect(pulsed - pulseMs).toBeLessThan(reported);
        // The reservation for continuing covers the charge of an immediate end.
        expect(pulsesBegun(ms, pulseMs)).toBeGreaterThanOrEqual(pulsed);
      }),
    );
  });

  it('bills 60 s for a 44 s stream (spec: Limits, billing pulse)', () => {
    expect(pulsedMs(44_000, 60_000)).toBe(60_000);
    expect(pulsedMs(60_000, 60_000)).toBe(60_000);
    expect(pulsedMs(60_499, 60_000)).toBe(60_000);
    expect(pulsedMs(60_500, 60_000)).toBe(120_000);
  });

  it('must be paid including the one that starts now', () => {
    expect(pulsesBegun(59_999, 60_000)).toBe(60_000);
    expect(pulsesBegun(60_000, 60_000)).toBe(120_000);
  });

  it('never costs less for a longer call and rounds up by less than a millionth', () => {
    fc.assert(
      fc.property(durationMs, durationMs, fc.integer({ min: 0, max: 10_000_000 }), (a, b, rate) => {
        const [short, long] = [Math.min(a, b), Math.max(a, b)].map((ms) =>
          priceOf(pulsedMs(ms, 60_000), micros(rate)),
        );
        expect(short).toBeLessThanOrEqual(long ?? 0);
        const exact = (pulsedMs(a, 6000) * rate) / 60_000;
        const rounded = priceOf(pulsedMs(a, 6000), micros(rate)) - exact;
        expect(rounded).toBeGreaterThanOrEqual(0);
        expect(rounded).toBeLessThan(1);
      }),
    );
  });
});
