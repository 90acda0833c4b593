import { expect, it } from 'vitest';
import { NewCalls } from '../../../src/domain/capacity/capacity.ts';

it('reports new calls per second as the mean of the last ten whole seconds', () => {
  let nowMs = 0;
  const calls = new NewCalls({ monotonicMs: () => nowMs });
  expect(calls.recentPerSecond).toBe(0);
  for (let n = 0; n < 20; n += 1) calls.take();
  // The current second is incomplete and does not count.
  expect(calls.recentPerSecond).toBe(0);
  nowMs = 1000;
  expect(calls.recentPerSecond).toBe(2);
  nowMs = 10_999;
  expect(calls.recentPerSecond).toBe(2);
  nowMs = 11_000;
  expect(calls.recentPerSecond).toBe(0);
  // The slot of an old second is reused.
  for (nowMs = 22_000; nowMs < 32_000; nowMs += 100) calls.take();
  expect(calls.recentPerSecond).toBe(10);
});

it('does not count refused calls', () => {
  let nowMs = 0;
  const calls = new NewCalls({ monotonicMs: () => nowMs });
  calls.limit(0);
  for (let n = 0; n < 20; n += 1) calls.take();
  nowMs = 1000;
  expect(calls.recentPerSecond).toBe(0);
});
