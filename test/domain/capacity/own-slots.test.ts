import { beforeEach, describe, expect, it } from 'vitest';
import { OwnSlots } from '../../../src/domain/capacity/capacity.ts';
import type { CapacitySlot } from '../../../src/domain/capacity/types.ts';

const LIMITS = { concurrentCalls: 2, cps: 3 };

let nowMs: number;
let slots: OwnSlots;
beforeEach(() => {
  nowMs = 5000;
  slots = new OwnSlots({ monotonicMs: () => nowMs });
});

async function take(limits = LIMITS, key = 'a'): Promise<CapacitySlot> {
  const taken = await slots.take(key, limits);
  if (!taken.ok) throw new Error(taken.error.kind);
  return taken.value;
}
const refusal = async (limits = LIMITS, key = 'a') => {
  const taken = await slots.take(key, limits);
  if (taken.ok) throw new Error('taken');
  return taken.error;
};

describe('the slots of a key', () => {
  it('are as many as its concurrent calls, and independent of other keys', async () => {
    const [first] = [await take(), await take()];
    expect(await refusal()).toMatchObject({ kind: 'concurrency' });
    await take(LIMITS, 'b');
    first?.release();
    expect([slots.held('a'), slots.held('b')]).toEqual([1, 1]);
    await take();
    expect(await slots.running('a')).toBe(2);
  });

  it('are released once', async () => {
    const [first] = [await take(), await take()];
    first?.release();
    first?.release();
    first?.undo();
    expect(slots.held('a')).toBe(1);
  });

  it('start at most the calls of a second within any second, and say when the next may', async () => {
    const limits = { concurrentCalls: 100, cps: 2 };
    await take(limits);
    nowMs += 400;
    await take(limits);
    expect(await refusal(limits)).toEqual({ kind: 'cps', retryAfterMs: 600 });
    nowMs += 599;
    expect(await refusal(limits)).toEqual({ kind: 'cps', retryAfterMs: 1 });
    nowMs += 1;
    await take(limits);
    expect(await refusal(limits)).toEqual({ kind: 'cps', retryAfterMs: 400 });
  });

  it('of released calls still count as starts; those of calls that were never placed do not', async () => {
    const limits = { concurrentCalls: 100, cps: 1 };
    const placed = await take(limits);
    placed.release();
    expect(await refusal(limits)).toMatchObject({ kind: 'cps' });
    placed.undo();
    expect(await refusal(limits)).toMatchObject({ kind: 'cps' });
    nowMs += 1000;
    (await take(limits)).undo();
    await take(limits);
  });
});
