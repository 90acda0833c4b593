import { expect, it } from 'vitest';
import { onTime } from './on-time.ts';
import { watchPauses } from './pauses.ts';

/** Watch that reports these pauses, one per attempt. */
const watching = (pauses: readonly (number | undefined)[]) => {
  let attempt = 0;
  return () => {
    const pauseMs = pauses[attempt];
    attempt += 1;
    return { pauseMs: () => pauseMs, end: () => undefined };
  };
};

/** Check that fails in its first `failures` attempts, and counts its attempts. */
const failing = (failures: number) => {
  const check = async (number: number): Promise<void> => {
    check.attempts = number;
    if (number <= failures) throw new Error('too short');
  };
  check.attempts = 0;
  return check;
};

it('does not repeat a failed check without a pause', async () => {
  const check = failing(1);
  await expect(onTime(check, watching([undefined, 40]))).rejects.toThrow('too short');
  expect(check.attempts).toBe(1);
});

it('repeats a failed check after a pause, until an attempt without one fails', async () => {
  const passing = failing(1);
  await onTime(passing, watching([40]));
  expect(passing.attempts).toBe(2);
  const wrong = failing(9);
  await expect(onTime(wrong, watching([40, 40, undefined, 40]))).rejects.toThrow('too short');
  expect(wrong.attempts).toBe(3);
});

it('fails after five attempts', async () => {
  const check = failing(9);
  await expect(onTime(check, watching(Array<number>(9).fill(40)))).rejects.toThrow('too short');
  expect(check.attempts).toBe(5);
});

it('notices that this process was busy', () => {
  const watch = watchPauses();
  const endMs = performance.now() + 80;
  while (performance.now() < endMs);
  expect(watch.pauseMs()).toBeGreaterThanOrEqual(30);
  watch.end();
});
