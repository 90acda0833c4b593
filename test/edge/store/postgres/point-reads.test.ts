/** Tests that short reads come from memory only while the cache is known to be current. */
import { beforeEach, expect, it } from 'vitest';
import { Points } from '../../../../src/edge/store/postgres/point-reads.ts';
import type { Unit } from '../../../../src/edge/store/unit.ts';

let requested: Array<(value: unknown) => void>;
let points: Points;
beforeEach(() => {
  requested = [];
  points = new Points({ submit: () => new Promise((resolve) => requested.push(resolve)) });
});

const unit = (operation: string): Unit => ({
  repository: 'numbers',
  operation,
  given: ['14155550100'],
  nowUs: 0,
});
/** Runs a read; counts it if it reaches the database. */
const ask = (value: string, operation = 'get'): Promise<unknown> => {
  const answer = points.submit(unit(operation));
  requested.shift()?.(value);
  return answer;
};

it('queries the database once for reads that every call makes', async () => {
  points.reported(true);
  expect([await ask('a'), await ask('b')]).toEqual(['a', 'a']);
  expect([await ask('c', 'page'), await ask('d', 'page')]).toEqual(['c', 'd']);
});

it('queries again after a change by this node or another', async () => {
  points.reported(true);
  await ask('a');
  points.outdated();
  expect(await ask('b')).toBe('b');
  points.reported(true);
  expect(await ask('c')).toBe('c');
});

it('does not cache a read that began before a change', async () => {
  points.reported(true);
  const before = points.submit(unit('get'));
  points.reported(true);
  requested.shift()?.('old');
  expect(await before).toBe('old');
  expect(await ask('new')).toBe('new');
});

it('caches nothing while changes are not announced', async () => {
  expect([await ask('a'), await ask('b')]).toEqual(['a', 'b']);
  points.reported(true);
  await ask('c');
  points.reported(false);
  expect([await ask('d'), await ask('e')]).toEqual(['d', 'e']);
});
