import { describe, expect, it } from 'vitest';
import { isoMicros } from '../../../src/base/time-format.ts';
import { parseWindowBound } from '../../../src/domain/ledger/ledger.ts';

const shown = (text: string, bound: 'from' | 'to'): string | undefined => {
  const us = parseWindowBound(text, bound);
  return us === undefined ? undefined : isoMicros(us);
};

describe('window of the ledger', () => {
  it.each([
    ['2026-03-01', 'from', '2026-03-01T00:00:00.000000Z'],
    ['2026-03-01', 'to', '2026-03-01T23:59:59.999999Z'],
    ['2026-03-01T10:00:00Z', 'from', '2026-03-01T10:00:00.000000Z'],
    ['2026-03-01T10:00:00', 'from', '2026-03-01T10:00:00.000000Z'],
    ['2026-03-01T00:00:00+05:30', 'from', '2026-02-28T18:30:00.000000Z'],
    ['2026-03-01T23:59:59+05:30', 'to', '2026-03-01T18:29:59.999999Z'],
    ['2026-03-01T23:59:59-0800', 'to', '2026-03-02T07:59:59.999999Z'],
    ['2026-03-01T10:00:00.123456Z', 'to', '2026-03-01T10:00:00.123456Z'],
    ['2026-03-01T10:00:00.5Z', 'from', '2026-03-01T10:00:00.500000Z'],
  ] as const)('%s as %s is %s (Transactions, from_date, to_date, rule 4)', (text, bound, utc) => {
    expect(shown(text, bound)).toBe(utc);
  });

  it.each([
    '2026-03-01T00:00:00 05:30', // a raw `+` arrives as a space
    '2026-02-30',
    '2026-13-01',
    '2026-03-01T25:00:00Z',
    '2026-03-01T00:00:00+99:00',
    'yesterday',
    '',
    '1740787200',
  ])('rejects %j as a date (Transactions, rule 5)', (text) => {
    expect(parseWindowBound(text, 'from')).toBeUndefined();
  });
});
