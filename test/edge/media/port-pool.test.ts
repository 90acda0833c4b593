import { describe, expect, it } from 'vitest';
import { PortPool } from '../../../src/edge/media/port-pool.ts';
import { seededRandom } from '../store/open.ts';

/** `count` ports from 30,000 on, all used and released at `nowMs`. */
function usedPool(count: number): PortPool {
  const pool = new PortPool(30_000, 30_000 + 2 * count - 1, seededRandom());
  for (let taken = 0; taken < count; taken += 1) pool.take(0);
  return pool;
}

describe('ports in quarantine', () => {
  it('are not assigned while another is free', () => {
    const pool = new PortPool(30_000, 30_003, seededRandom());
    const first = pool.take(0) ?? 0;
    pool.giveBack(first, 0);
    expect(pool.take(29_999)).not.toBe(first);
  });

  it('are assigned early if no other is left, the one released first at the beginning', () => {
    const pool = usedPool(3);
    for (const [port, ms] of [
      [30_002, 0],
      [30_000, 100],
      [30_004, 200],
    ] as const) {
      pool.giveBack(port, ms);
    }
    expect(pool.available(4999)).toBe(0);
    expect(pool.take(4999)).toBeUndefined();
    expect(pool.available(5150)).toBe(2);
    expect([pool.take(5150), pool.take(5150), pool.take(5150)]).toEqual([
      30_002,
      30_000,
      undefined,
    ]);
    expect(pool.take(5200)).toBe(30_004);
  });

  it('are assigned once each under frequent use', () => {
    const pool = usedPool(100);
    const held = new Set(Array.from({ length: 100 }, (_, index) => 30_000 + 2 * index));
    for (let ms = 0; ms < 60_000; ms += 100) {
      const [some] = held;
      if (some !== undefined && held.delete(some)) pool.giveBack(some, ms);
      const port = ms % 300 === 0 ? pool.take(ms) : undefined;
      if (port === undefined) continue;
      expect(held.has(port)).toBe(false);
      held.add(port);
    }
    expect(held.size + pool.available(120_000)).toBe(100);
  });
});
