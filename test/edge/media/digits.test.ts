import { expect, it } from 'vitest';
import { DigitQueue } from '../../../src/edge/media/digits.ts';
import type { EventListener, Hub } from '../../../src/edge/media/hub.ts';
import type { LegHandle } from '../../../src/edge/media/native.ts';

const OPTIONS = { toneMs: 100, gapMs: 50, inband: false };

/** Hub whose listeners the test can see. */
function hubWithListeners() {
  const listeners = new Map<number, EventListener>();
  const removed: number[] = [];
  let last = 0;
  const hub = {
    newHandle: () => {
      last += 1;
      return last;
    },
    listen: (handle: number, listener: EventListener) => listeners.set(handle, listener),
    forget: (handle: number) => listeners.delete(handle),
    engine: {
      sendDigits: () => undefined,
      removeDigits: (_leg: number, job: number) => removed.push(job),
    },
  };
  const digits = new DigitQueue(hub as unknown as Hub, 1 as LegHandle);
  const sent = (handle: number): void => listeners.get(handle)?.({} as never);
  return { digits, listeners, removed, sent };
}

it('a leg that closes while it sends digits leaves no listener', async () => {
  const { digits, listeners, removed } = hubWithListeners();
  const first = digits.send('12', OPTIONS);
  const second = digits.send('34', OPTIONS);
  expect(listeners.size).toBe(1);
  digits.close();
  await Promise.all([first, second]);
  expect(listeners.size).toBe(0);
  expect(removed).toEqual([1]);
});

it('sends one request at a time, in order', async () => {
  const { digits, listeners, sent } = hubWithListeners();
  const requests = ['1', '2'].map((text) => digits.send(text, OPTIONS));
  sent(1);
  await requests[0];
  expect([...listeners.keys()]).toEqual([2]);
  sent(2);
  await requests[1];
  expect(listeners.size).toBe(0);
});
