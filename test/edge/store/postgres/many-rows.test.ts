/** Tests how statements about single rows are combined. */
import { describe, expect, it } from 'vitest';
import { DeferredInserts } from '../../../../src/edge/store/postgres/deferred-inserts.ts';
import { manyRows } from '../../../../src/edge/store/postgres/many-rows.ts';

describe('one statement about many rows', () => {
  it.each([
    ['INSERT INTO t (a, b) VALUES (?, ?)', 'INSERT INTO t (a, b) VALUES (?, ?), (?, ?)'],
    [
      'INSERT INTO t (a)\n VALUES (?) ON CONFLICT DO NOTHING',
      'INSERT INTO t (a)\n VALUES (?), (?) ON CONFLICT DO NOTHING',
    ],
    ['DELETE FROM t WHERE id = ?', 'DELETE FROM t WHERE id IN (?, ?)'],
  ])('%s', (one, two) => {
    expect(manyRows(one)?.(2)).toBe(two);
  });

  it('passes the integers of an UPDATE as a list', () => {
    const sql = manyRows('UPDATE t SET a = ?, b = ? WHERE id = ?')?.(2);
    expect(sql?.replace(/\s+/g, ' ')).toBe(
      'UPDATE t SET a = given.a, b = given.b FROM (VALUES (CAST(? AS BIGINT), CAST(? AS BIGINT), ?), (CAST(? AS BIGINT), CAST(? AS BIGINT), ?)) AS given (a, b, id) WHERE t.id = given.id',
    );
  });

  it('leaves more complex statements unchanged', () => {
    for (const sql of [
      'INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET b = ?',
      "INSERT INTO t (a) VALUES (?, 'x')",
      'DELETE FROM t WHERE id = ? AND b = ?',
      'DELETE FROM t WHERE id = ? RETURNING a',
      'UPDATE t SET a = a + ? WHERE id = ?',
    ])
      expect(manyRows(sql), sql).toBeUndefined();
  });
});

describe('deferred single-row statements', () => {
  const INSERT = 'INSERT INTO t (id) VALUES (?)';
  const DELETE = 'DELETE FROM t WHERE id = ?';

  it('are sent in few sizes, each with the required number of changed rows', () => {
    const later = new DeferredInserts();
    for (let at = 0; at < 43; at += 1)
      expect(later.add(INSERT, [at], { row: `t ${at}`, mustChange: true })).toBe('taken');
    expect(later.add(DELETE, [99], { row: 't 99', mustChange: false })).toBe('taken');
    const taken = later.take();
    expect(taken.map(({ parameters, mustChange }) => [parameters.length, mustChange])).toEqual([
      [32, 32],
      [8, 8],
      [1, 1],
      [1, 1],
      [1, 1],
      [1, undefined],
    ]);
    expect(taken.flatMap(({ parameters }) => parameters)).toEqual([...Array(43).keys(), 99]);
    expect(later.isEmpty).toBe(true);
  });

  it('about the same row keep their order', () => {
    const later = new DeferredInserts();
    later.add(INSERT, [1], { row: 't 1', mustChange: true });
    expect(later.add(DELETE, [1], { row: 't 1', mustChange: true })).toBe('before');
    later.take();
    expect(later.add(DELETE, [1], { row: 't 1', mustChange: true })).toBe('taken');
  });
});
