import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { linkedTo, unlessAborted, unlessAbortedOr } from '../../src/base/abort.ts';
import { collectUnhandled } from '../unhandled.ts';

const REASON = new Error('the call ended');
const FAILURE = new Error('the work failed');
let unhandled: ReturnType<typeof collectUnhandled>;

beforeEach(() => {
  unhandled = collectUnhandled();
});
afterEach(() => unhandled.release());

it('rejects with the reason of the signal as soon as it is aborted', async () => {
  const over = new AbortController();
  const never = new Promise<void>(() => undefined);
  const result = unlessAborted(over.signal, never);
  over.abort(REASON);
  await expect(result).rejects.toBe(REASON);
});

it.each(['before', 'during'] as const)(
  'handles a rejection of work whose signal was aborted %s the wait',
  async (when) => {
    const over = new AbortController();
    if (when === 'before') over.abort(REASON);
    const work = Promise.withResolvers<void>();
    const result = unlessAborted(over.signal, work.promise);
    over.abort(REASON);
    work.reject(FAILURE);
    await expect(result).rejects.toBe(REASON);
    await nextTurn();
    expect(unhandled.reasons).toEqual([]);
  },
);

it('resolves with the given value if the signal is aborted, and passes on a failure of the work', async () => {
  const over = new AbortController();
  const failed = Promise.reject(FAILURE);
  await expect(unlessAbortedOr(over.signal, failed, 'aborted')).rejects.toBe(FAILURE);
  over.abort(REASON);
  await expect(unlessAbortedOr(over.signal, failed, 'aborted')).resolves.toBe('aborted');
});

it('leaves no listener at the signal once the work has ended', async () => {
  const { signal } = new AbortController();
  await unlessAborted(signal, Promise.resolve());
  await expect(unlessAborted(signal, Promise.reject(FAILURE))).rejects.toBe(FAILURE);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it.each(['before', 'after'] as const)(
  'links a controller to a signal that is aborted %s it',
  (when) => {
    const parent = new AbortController();
    if (when === 'before') parent.abort(REASON);
    const { controller } = linkedTo(parent.signal);
    parent.abort(REASON);
    expect(controller.signal.reason).toBe(REASON);
  },
);

it('no longer aborts a released controller, and leaves no listener', () => {
  const parent = new AbortController();
  const { controller, release } = linkedTo(parent.signal);
  release();
  expect(getEventListeners(parent.signal, 'abort')).toEqual([]);
  parent.abort(REASON);
  expect(controller.signal.aborted).toBe(false);
});
