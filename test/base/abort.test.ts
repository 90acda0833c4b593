import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unlessAborted, unlessAbortedOr } from '../../src/base/abort.ts';
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
