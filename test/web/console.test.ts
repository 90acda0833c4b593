/** Parts of the console that need no browser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalog } from '../../scripts/strings.ts';
import { readCsv, textOf, writeCsv } from '../../web/console/csv.ts';
import { secondIn } from '../../web/console/dates.ts';
import { typedNumber } from '../../web/console/typed-number.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the console', () => {
  it('sends a typed number as a number, and any other text as it is', () => {
    // A space would be 0: a spending limit of 0 stops all calls.
    for (const typed of [' ', '', 'ten', 'Infinity']) expect(typedNumber(typed)).toBe(typed);
    expect([' 5', '0', '-1.5'].map(typedNumber)).toEqual([5, 0, -1.5]);
  });

  it('has all texts in strings.json (node scripts/strings.ts)', () => {
    expect(readFileSync(join(ROOT, 'web/console/strings.json'), 'utf8')).toBe(catalog());
  });

  it('reads CSV with quotes, line breaks in cells and a byte order mark, and writes it back', () => {
    const rows = readCsv('\uFEFFto,name\r\n+14155550100,"Ada ""L"", Countess"\n+1,"a\nb"\n\n');
    expect(rows).toEqual([
      ['to', 'name'],
      ['+14155550100', 'Ada "L", Countess'],
      ['+1', 'a\nb'],
    ]);
    expect(readCsv(writeCsv(rows))).toEqual(rows);
  });

  it('reads lists in the encodings and line ends of spreadsheets, as the service does', async () => {
    const wide = Buffer.from('\uFEFFto,name\r\n1,Müller', 'utf16le');
    const files = [
      Buffer.from('to,name\n1,Müller'),
      Buffer.from('to,name\r1,Müller', 'latin1'),
      wide,
    ];
    for (const file of files)
      expect(readCsv(await textOf(new Blob([file])))).toEqual([
        ['to', 'name'],
        ['1', 'Müller'],
      ]);
  });

  it('takes dates as days of the time zone, also where clocks change at midnight', () => {
    const day = (zone: string, date: string) =>
      (['first', 'last'] as const).map((bound) => secondIn(zone, date, bound));
    expect(day('UTC', '2026-11-29')).toEqual(['2026-11-29T00:00:00Z', '2026-11-29T23:59:59Z']);
    expect(day('Asia/Kolkata', '2026-11-29')).toEqual([
      '2026-11-28T18:30:00Z',
      '2026-11-29T18:29:59Z',
    ]);
    // 23 and 25 hours.
    expect(day('Europe/Berlin', '2026-03-29')).toEqual([
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59Z',
    ]);
    expect(day('America/New_York', '2026-11-01')).toEqual([
      '2026-11-01T04:00:00Z',
      '2026-11-02T04:59:59Z',
    ]);
    // In Chile, clocks go from 24:00 to 23:00 and from 00:00 to 01:00.
    expect(day('America/Santiago', '2026-04-05')).toEqual([
      '2026-04-05T04:00:00Z',
      '2026-04-06T03:59:59Z',
    ]);
    expect(day('America/Santiago', '2026-09-06')).toEqual([
      '2026-09-06T04:00:00Z',
      '2026-09-07T02:59:59Z',
    ]);
    expect(secondIn('UTC', '2026-02', 'first')).toBe('2026-02');
  });
});
