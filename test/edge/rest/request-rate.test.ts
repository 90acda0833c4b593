import { beforeEach, describe, expect, it } from 'vitest';
import { RequestRate } from '../../../src/edge/rest/http/request-rate.ts';

let rate: RequestRate;
beforeEach(() => {
  rate = new RequestRate(4);
});

/** Returns how many of 20 requests may proceed. */
const taken = (key: string, nowMs: number, perSecond?: number): number =>
  Array.from({ length: 20 }, () => rate.take(key, nowMs, perSecond)).filter((wait) => wait === 0)
    .length;

describe('the request rate of a key', () => {
  it('allows a burst of one second, then tells the wait for the next token', () => {
    expect(taken('a', 1000)).toBe(4);
    expect(rate.take('a', 1000)).toBe(250);
    expect(rate.take('a', 1100)).toBe(150);
    expect(rate.take('a', 1250)).toBe(0);
    expect(rate.take('a', 1250)).toBe(250);
  });

  it('saves no more than one burst', () => {
    expect(taken('a', 0)).toBe(4);
    expect(taken('a', 500)).toBe(2);
    expect(taken('a', 3_600_000)).toBe(4);
  });

  it('does not grow by refused requests, and no key affects another', () => {
    for (let nowMs = 0; nowMs < 10_000; nowMs += 100) taken('a', nowMs);
    expect(taken('a', 10_000)).toBeLessThanOrEqual(1);
    expect(taken('b', 10_000)).toBe(4);
  });

  it('can be given for a key', () => {
    expect(taken('a', 0, 10)).toBe(10);
    expect(rate.take('a', 0, 10)).toBe(100);
  });

  it('tells the wait without taking a token', () => {
    expect(rate.waitMs('a', 0)).toBe(0);
    expect(taken('a', 0)).toBe(4);
    expect(rate.waitMs('a', 0)).toBe(250);
    expect(rate.waitMs('a', 250)).toBe(0);
    expect(rate.take('a', 250)).toBe(0);
  });

  it('is forgotten first of all keys beyond the limit of tracked keys', () => {
    taken('first', 0);
    taken('second', 0);
    for (let key = 0; key < 49_999; key += 1) rate.take(`other ${key}`, 0);
    expect([rate.waitMs('first', 0), rate.waitMs('second', 0)]).toEqual([0, 250]);
  });
});
