/** Parts of the console that need no browser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalog } from '../../scripts/strings.ts';
import { readCsv, writeCsv } from '../../web/console/csv.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the console', () => {
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
});
