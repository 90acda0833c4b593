/** The next number of a pool: limits, cooldown and rotation, with uses that the store does not count yet. */
import { beforeEach, describe, expect, it } from 'vitest';
import { CallerIds } from '../../../src/domain/campaign/caller-ids.ts';
import { PoolHolds, type PoolUse } from '../../../src/domain/campaign/pool-holds.ts';
import type { PoolNumber, PoolRules } from '../../../src/domain/campaign/types.ts';
import { seededRandom } from '../../edge/store/open.ts';

const MINUTE_US = 60_000_000;
const NOW_US = Date.UTC(2026, 0, 5, 12) * 1000;
const MIDNIGHT_US = Date.UTC(2026, 0, 6) * 1000;
const TODAY = '2026-01-05';
const YESTERDAY = '2026-01-04';

let holds: PoolHolds;
beforeEach(() => {
  holds = new PoolHolds();
});

/** A pool with one number per item: `n0`, `n1` … */
const poolOf = (numbers: readonly Partial<PoolNumber>[], rules: Partial<PoolRules> = {}) =>
  new CallerIds(
    numbers.map((number, index) => ({
      id: `n${index}`,
      number: `1202555010${index}`,
      label: '',
      totalCalls: 0,
      day: '',
      callsOfDay: 0,
      lastUsedUs: undefined,
      ...number,
    })),
    {
      rotation: 'round_robin',
      maxCalls: undefined,
      maxCallsPerDay: undefined,
      cooldownMs: 0,
      ...rules,
    },
    { timezone: 'UTC', random: seededRandom(), holds },
  );

function take(pool: CallerIds, nowUs = NOW_US): PoolUse {
  const turn = pool.take(nowUs);
  if (turn.kind !== 'number') throw new Error(turn.kind);
  return turn.use;
}

/** Stores the start of a call. */
function begin(pool: CallerIds, use: PoolUse, nowUs = NOW_US): void {
  holds.begun(use);
  pool.begun(use, nowUs);
}

describe('limits of a pool number', () => {
  it('in total include reserved uses; a returned use is free again', () => {
    const pool = poolOf([{ totalCalls: 1 }], { maxCalls: 2 });
    const use = take(pool);
    expect(pool.take(NOW_US)).toEqual({ kind: 'held', untilUs: Number.POSITIVE_INFINITY });
    holds.release(use);
    const again = take(pool);
    begin(pool, again);
    expect(pool.take(NOW_US)).toMatchObject({ kind: 'held' });
    holds.release(again);
    expect(pool.take(NOW_US)).toEqual({ kind: 'exhausted' });
  });

  it('per day include reserved uses, and begin again at midnight', () => {
    const pool = poolOf([{ day: YESTERDAY, callsOfDay: 5 }], { maxCallsPerDay: 2 });
    const first = take(pool);
    begin(pool, first);
    const second = take(pool);
    expect(pool.take(NOW_US)).toEqual({ kind: 'held', untilUs: MIDNIGHT_US });
    begin(pool, second);
    for (const use of [first, second]) holds.release(use);
    expect(pool.take(NOW_US)).toEqual({ kind: 'dailyLimit' });
    expect(pool.take(MIDNIGHT_US)).toMatchObject({ kind: 'number' });
  });

  it('are reached today only if a number was used today', () => {
    const pool = poolOf([{ day: TODAY }, { day: YESTERDAY }]);
    expect(pool.isNewDay(NOW_US)).toBe(false);
    expect(pool.isNewDay(MIDNIGHT_US)).toBe(true);
  });
});

describe('the cooldown of a pool number', () => {
  const rules = { cooldownMs: 600_000 };

  it('ends first for the number that was used first', () => {
    const used = [{ lastUsedUs: NOW_US + MINUTE_US }, { lastUsedUs: NOW_US }];
    const pool = poolOf(used, rules);
    const untilUs = NOW_US + 10 * MINUTE_US;
    expect(pool.take(untilUs - 1)).toEqual({ kind: 'wait', untilUs });
    expect(pool.take(untilUs)).toMatchObject({ use: { id: 'n1' } });
  });

  it('begins with the choice, and again with the call', () => {
    const pool = poolOf([{}], rules);
    const use = take(pool);
    expect(pool.take(NOW_US)).toEqual({ kind: 'wait', untilUs: NOW_US + 10 * MINUTE_US });
    begin(pool, use, NOW_US + MINUTE_US);
    expect(pool.take(NOW_US + MINUTE_US)).toEqual({
      kind: 'wait',
      untilUs: NOW_US + 11 * MINUTE_US,
    });
  });

  it('is not affected by a returned use', () => {
    const pool = poolOf([{}], rules);
    holds.release(take(pool));
    expect(pool.take(NOW_US)).toMatchObject({ kind: 'number' });
  });
});

describe('the rotation of a pool', () => {
  it('round_robin continues after the number that was used last', () => {
    const pool = poolOf([{ lastUsedUs: 10 }, { lastUsedUs: 30 }, { lastUsedUs: 20 }]);
    expect([take(pool).id, take(pool).id, take(pool).id]).toEqual(['n2', 'n0', 'n1']);
  });

  it('least_used counts reserved and begun uses', () => {
    const pool = poolOf([{ totalCalls: 3 }, { totalCalls: 1 }], { rotation: 'least_used' });
    begin(pool, take(pool));
    expect([take(pool).id, take(pool).id, take(pool).id]).toEqual(['n1', 'n0', 'n1']);
  });

  it('random uses every number', () => {
    const pool = poolOf([{}, {}, {}], { rotation: 'random' });
    const ids = Array.from({ length: 50 }, () => take(pool).id);
    expect([...new Set(ids)].sort()).toEqual(['n0', 'n1', 'n2']);
  });
});
