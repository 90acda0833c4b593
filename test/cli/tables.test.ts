import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCsv } from '../../src/cli/csv.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';
import { TestTerminal } from './terminal.ts';

const terminal = new TestTerminal();
let service: Service;
let url: string;
let folder: string;
beforeAll(async () => {
  service = await startService();
  url = (await service.server.start()).url;
  folder = mkdtempSync(join(tmpdir(), 'carillon-csv-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});
beforeEach(() => terminal.clear());

const carillon = (...args: readonly string[]) =>
  terminal.run(args, { CARILLON_URL: url, CARILLON_ADMIN_TOKEN: ADMIN_TOKEN });

const fileOf = (text: string): string => {
  const file = join(folder, 'table.csv');
  writeFileSync(file, text);
  return file;
};

describe('carillon rates', () => {
  it('imports the output of export; remove deletes a rate', async () => {
    await carillon(
      'rates',
      'import',
      fileOf('direction,prefix,per_minute,currency\r\noutbound,49,0.02,EUR\r\nsip,,0.001,EUR\r\n'),
    );
    expect(terminal.out).toEqual(['2 rates set']);
    terminal.out = [];
    await carillon('rates', 'export');
    expect(terminal.out[0]).toBe('direction,prefix,per_minute,pulse_seconds,currency,account_id');
    expect(terminal.out).toContain('outbound,49,0.02,60,EUR,');
    await carillon('rates', 'import', fileOf(terminal.out.join('\n')));
    expect(terminal.out.at(-1)).toBe('2 rates set');
    await carillon('rates', 'remove', 'outbound', '--prefix', '49', '--currency', 'EUR');
    expect(service.ledger.listRates().map(({ direction }) => direction)).toEqual(['sip']);
    await carillon('rates', 'remove', 'outbound', '--prefix', '49', '--currency', 'EUR');
    expect(terminal.notes).toContain('rate not found');
  });

  it('refuses an invalid number before any request, and reports the line of a refused row', async () => {
    const head = 'direction,prefix,per_minute,currency\n';
    await carillon('rates', 'import', fileOf(`${head}outbound,1,1,USD\noutbound,2,much,USD\n`));
    expect(terminal.notes).toContain('line 3: per_minute must be a number');
    expect(service.ledger.listRates()).toHaveLength(1);
    await carillon('rates', 'import', fileOf(`${head}outbound,1,1,USD\nsideways,2,1,USD\n`));
    expect(terminal.notes).toContain(
      'line 3: invalid request parameters; direction must be one of',
    );
    expect(terminal.notes).toContain('1 rows before it were applied');
  });
});

describe('carillon callerids and ledger', () => {
  it('adds, imports, lists and removes caller IDs', async () => {
    const { authId } = service.account;
    await carillon('callerids', 'add', authId, '+14155550101');
    await carillon('callerids', 'import', authId, fileOf('number\n14155550102\n14155550103\n'));
    terminal.out = [];
    await carillon('callerids', 'remove', authId, '14155550102');
    await carillon('callerids', 'list', authId, '--csv');
    expect(terminal.out.slice(1)).toEqual(['number', '14155550101', '14155550103']);
  });

  it('prints the ledger of an account as a table and as complete CSV', async () => {
    const { authId } = service.account;
    await service.book({ amount: 2, type: 'credit', description: 'Top-up, "first"' });
    await service.book({ amount: 1 });
    await carillon('ledger', authId, '--type', 'credit');
    expect(terminal.out).toHaveLength(2);
    terminal.out = [];
    // An entry posted between two pages of the list would repeat another one.
    const pages = vi.spyOn(service.ledger, 'list');
    await carillon('ledger', authId, '--csv');
    expect(pages).not.toHaveBeenCalled();
    pages.mockRestore();
    expect(terminal.out[0]).toBe(
      'created_at,id,type,amount,currency,description,reference,reference_type,status\r',
    );
    expect(terminal.out).toHaveLength(3);
    expect(terminal.out[2]).toContain('"Top-up, ""first"""');
    await carillon('ledger', authId, '--from', 'yesterday');
    expect(terminal.notes).toContain('from_date');
  });
});

describe('CSV', () => {
  it('parses quotes, all kinds of line ends and a byte order mark', () => {
    const rows = readCsv(fileOf('\uFEFFa,b\r\n"x, ""y""",\n\n"two\nlines",3\r'), ['a', 'b']);
    expect(rows).toEqual([
      { line: 2, cells: { a: 'x, "y"', b: '' } },
      { line: 4, cells: { a: 'two\nlines', b: '3' } },
    ]);
  });

  it.each([
    ['a,c\n1,2', 'has columns c'],
    ['a,b\n1', 'line 2: 1 cells under 2 columns'],
    ['a,b\n"1"x,2', 'misplaced quote'],
    ['', 'is empty'],
  ])('refuses %j', (text, why) => {
    expect(() => readCsv(fileOf(text), ['a', 'b'])).toThrow(why);
  });
});
