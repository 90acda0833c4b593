import { describe, expect, it } from 'vitest';
import { Pace } from '../../../src/domain/campaign/pace.ts';

const GUARD = { maxBasisPoints: 500 };
const MAX = 16;

describe('pace', () => {
  const many = (pace: Pace, count: number, abandoned: boolean) => {
    for (let call = 0; call < count; call += 1) pace.answered(abandoned, GUARD, MAX);
  };

  it("equals the campaign's limit while few calls are abandoned, and without a guard", () => {
    const pace = new Pace();
    many(pace, 95, false);
    many(pace, 5, true);
    expect(pace.limit(MAX)).toBe(MAX);
    for (let call = 0; call < 50; call += 1) pace.answered(true, undefined, MAX);
    expect(pace.limit(MAX)).toBe(MAX);
  });

  it('halves with each abandoned call above the ratio and never reaches zero', () => {
    const pace = new Pace();
    many(pace, 40, false);
    many(pace, 3, true);
    expect(pace.limit(MAX)).toBe(MAX / 2);
    many(pace, 30, true);
    expect(pace.limit(MAX)).toBe(1);
  });

  it('recovers once the ratio is low again', () => {
    const pace = new Pace();
    many(pace, 30, true);
    expect(pace.limit(MAX)).toBe(1);
    many(pace, 94, false);
    expect(pace.limit(MAX)).toBe(1);
    many(pace, 10, false);
    expect(pace.limit(MAX)).toBeGreaterThan(1);
    many(pace, 100, false);
    expect(pace.limit(MAX)).toBe(MAX);
  });

  it('begins to count at 20 answered calls', () => {
    const pace = new Pace();
    many(pace, 19, true);
    expect(pace.limit(MAX)).toBe(MAX);
    many(pace, 1, true);
    expect(pace.limit(MAX)).toBe(MAX / 2);
  });

  it('does not fall by a good call while the ratio is high', () => {
    const pace = new Pace();
    many(pace, 20, true);
    many(pace, 5, false);
    expect(pace.limit(MAX)).toBe(MAX / 2);
  });

  it('is unlimited again without a guard', () => {
    const pace = new Pace();
    many(pace, 30, true);
    pace.answered(true, undefined, MAX);
    expect(pace.limit(MAX)).toBe(MAX);
  });
});
