import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Fifo } from '../../src/base/fifo.ts';

describe('FIFO queue', () => {
  it('returns entries in insertion order, across any number of entries', () => {
    const fifo = new Fifo<number>();
    let taken = 0;
    for (let n = 0; n < 10_000; n += 1) {
      fifo.push(n);
      if (n % 3 !== 0) {
        expect(fifo.first()).toBe(taken);
        expect(fifo.shift()).toBe(taken);
        taken += 1;
      }
      expect(fifo.size).toBe(n + 1 - taken);
    }
    while (fifo.size > 0) {
      expect(fifo.shift()).toBe(taken);
      taken += 1;
    }
    expect(taken).toBe(10_000);
  });

  it('is empty after the last entry and accepts more afterwards', () => {
    const fifo = new Fifo<string>();
    expect([fifo.first(), fifo.shift(), fifo.size]).toEqual([undefined, undefined, 0]);
    fifo.push('one');
    fifo.shift();
    fifo.push('two');
    expect([fifo.first(), fifo.size]).toEqual(['two', 1]);
  });

  it('releases the entries that were taken', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const fifo = new Fifo<object>();
    const taken = Array.from({ length: 3 }, () => {
      const item = {};
      fifo.push(item);
      return new WeakRef(item);
    });
    fifo.shift();
    fifo.shift();
    await nextTurn();
    collect();
    expect(taken.map((item) => item.deref() !== undefined)).toEqual([false, false, true]);
    expect(fifo.size).toBe(1);
  });
});
