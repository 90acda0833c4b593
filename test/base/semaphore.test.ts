import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Semaphore } from '../../src/base/semaphore.ts';

const held = async (acquired: ReturnType<Semaphore['acquire']>) => {
  const outcome = await acquired;
  if (typeof outcome === 'string') throw new Error(outcome);
  return outcome;
};

describe('a semaphore', () => {
  it('passes a slot to the longest waiting, and counts a release once', async () => {
    const semaphore = new Semaphore({ slots: 1, maxWaiting: 2 });
    const release = await held(semaphore.acquire());
    const order: string[] = [];
    const second = held(semaphore.acquire()).then((next) => {
      order.push('second');
      return next;
    });
    const third = held(semaphore.acquire()).then(() => order.push('third'));
    expect([semaphore.running, semaphore.waiting]).toEqual([1, 2]);
    release();
    release();
    const next = await second;
    expect([order, semaphore.running, semaphore.waiting]).toEqual([['second'], 1, 1]);
    next();
    await third;
    expect([order, semaphore.running, semaphore.waiting]).toEqual([['second', 'third'], 1, 0]);
  });

  it('refuses beyond its queue, and never waits in tryAcquire', async () => {
    const semaphore = new Semaphore({ slots: 1, maxWaiting: 0 });
    const release = semaphore.tryAcquire();
    expect(semaphore.tryAcquire()).toBeUndefined();
    expect(await semaphore.acquire()).toBe('queueFull');
    release?.();
    expect(semaphore.running).toBe(0);
    expect(semaphore.tryAcquire()).toBeTypeOf('function');
  });

  it('leaves the queue when its signal is aborted', async () => {
    const semaphore = new Semaphore({ slots: 1, maxWaiting: 1 });
    const release = await held(semaphore.acquire());
    const stop = new AbortController();
    const waiting = semaphore.acquire(stop.signal);
    stop.abort();
    expect(await waiting).toBe('aborted');
    expect(await semaphore.acquire(stop.signal)).toBe('aborted');
    release();
    expect([semaphore.running, semaphore.waiting]).toEqual([0, 0]);
  });

  it('leaves no listener at a signal once the slot was given', async () => {
    const semaphore = new Semaphore({ slots: 1, maxWaiting: 1 });
    const release = await held(semaphore.acquire());
    const { signal } = new AbortController();
    const waiting = held(semaphore.acquire(signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    release();
    await waiting;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
