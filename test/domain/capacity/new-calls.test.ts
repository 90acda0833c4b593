import { beforeEach, describe, expect, it } from 'vitest';
import { NewCalls } from '../../../src/domain/capacity/capacity.ts';

let nowMs: number;
let calls: NewCalls;
beforeEach(() => {
  nowMs = 1_000_000;
  calls = new NewCalls({ monotonicMs: () => nowMs });
});

/** Returns the number of calls that start when `perSecond` are requested. */
function taken(perSecond: number, seconds: number): number {
  let count = 0;
  for (let n = 0; n < perSecond * seconds; n += 1) {
    nowMs += 1000 / perSecond;
    if (calls.take()) count += 1;
  }
  return count;
}

describe('new calls', () => {
  it('all start while there is no limit', () => {
    expect(taken(10_000, 1)).toBe(10_000);
    expect(calls.counts()).toEqual({ begun: 10_000, refused: 0 });
  });

  it.each([0, 0.5, 3, 50, 1000])('start at the rate of the limit, %d per second', (limit) => {
    calls.limit(limit);
    const count = taken(2500, 20);
    // The burst allowance comes on top.
    expect(count - limit * 20).toBeLessThanOrEqual(Math.max(10, limit / 10));
    expect(count - limit * 20).toBeGreaterThanOrEqual(-1);
    expect(calls.counts()).toEqual({ begun: count, refused: 50_000 - count });
  });

  it('all start again once the limit is removed', () => {
    calls.limit(10);
    taken(100, 1);
    calls.limit(undefined);
    expect(taken(100, 1)).toBe(100);
    calls.limit(10);
    expect(taken(1000, 1)).toBeLessThanOrEqual(20);
  });

  it('gain no burst by a change of the limit', () => {
    calls.limit(100);
    while (calls.take());
    calls.limit(100);
    expect(calls.take()).toBe(false);
    calls.limit(1000);
    expect(calls.take()).toBe(false);
  });

  it("limits a burst after a pause to a tenth of a second's worth", () => {
    calls.limit(100);
    nowMs += 60_000;
    expect(Array.from({ length: 100 }, () => calls.take()).filter(Boolean)).toHaveLength(10);
  });

  it('does not refuse the first calls after a limit was set', () => {
    calls.limit(20);
    expect(calls.mayBegin({ waitedMs: 0, isKnown: false })).toBe(true);
  });

  it('refuses a request that is too old, if there is a limit', () => {
    const asking = { waitedMs: 1001, isKnown: true };
    expect(calls.mayBegin(asking)).toBe(true);
    calls.limit(1000);
    nowMs += 1000;
    expect(calls.mayBegin(asking)).toBe(false);
    expect(calls.mayBegin({ ...asking, waitedMs: 100 })).toBe(true);
  });

  it('refuses and counts a request with a too long queue, with and without a limit', () => {
    const asking = { waitedMs: 0, isKnown: true, isTooMany: true };
    const { refused } = calls.counts();
    expect(calls.mayBegin(asking)).toBe(false);
    calls.limit(1000);
    nowMs += 1000;
    expect(calls.mayBegin(asking)).toBe(false);
    expect(calls.counts().refused).toBe(refused + 2);
  });

  it('reserves half of the burst for known peers', () => {
    calls.limit(100);
    nowMs += 1000;
    const unknownPeer = { waitedMs: 0, isKnown: false };
    let unknownPeers = 0;
    while (calls.mayBegin(unknownPeer)) {
      calls.begin();
      unknownPeers += 1;
    }
    expect(unknownPeers).toBe(5);
    expect(calls.mayBegin()).toBe(true);
  });
});
