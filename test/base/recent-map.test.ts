import { describe, expect, it } from 'vitest';
import { RecentMap } from '../../src/base/recent-map.ts';

describe('a map of recently used keys', () => {
  it('never exceeds its limit and keeps used entries', () => {
    const map = new RecentMap<number>(10);
    map.set('used', 1);
    for (let n = 0; n < 1000; n += 1) {
      map.set(`once ${n}`, n);
      expect(map.get('used')).toBe(1);
      expect(map.size).toBeLessThanOrEqual(10);
    }
    expect(map.get('once 0')).toBeUndefined();
    expect(map.get('once 999')).toBe(999);
  });

  it('keeps an entry for at least half as many further insertions', () => {
    const map = new RecentMap<number>(10);
    map.set('first', 1);
    for (let n = 0; n < 5; n += 1) map.set(`other ${n}`, n);
    expect(map.get('first')).toBe(1);
  });

  it('does not count a new value of the same key as an insertion', () => {
    const map = new RecentMap<number>(2);
    map.set('first', 1);
    map.set('second', 2);
    map.set('second', 3);
    expect([map.get('second'), map.get('first')]).toEqual([3, 1]);
  });

  it('drops deleted entries', () => {
    const map = new RecentMap<number>(4);
    for (const key of ['a', 'b', 'c']) map.set(key, 1);
    map.delete('a');
    map.delete('c');
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 1, undefined]);
  });
});
