import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/edge/clock/system-clock.ts';

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it.each([
  [
    'at',
    (ms: number) => new Promise<void>((wake) => void systemClock.at(performance.now() + ms, wake)),
  ],
  ['sleep', (ms: number) => systemClock.sleep(ms)],
] as const)('%s waits longer than the longest timer of Node', async (_, wait) => {
  let isOver = false;
  void wait(60 * DAY_MS).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(59 * DAY_MS);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect(isOver).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it('an aborted sleep rejects with the reason, and leaves no timer', async () => {
  const over = new AbortController();
  const sleep = systemClock.sleep(60 * DAY_MS, over.signal);
  over.abort('stopped');
  await expect(sleep).rejects.toBe('stopped');
  expect(vi.getTimerCount()).toBe(0);
  await expect(systemClock.sleep(1, over.signal)).rejects.toBe('stopped');
});
