import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { run } from '../../src/cli/program.ts';
import { aCdr } from '../edge/store/records.ts';
import { ADMIN_TOKEN, type Service, startService } from '../spec/service.ts';
import { TestTerminal } from './terminal.ts';

const DAY_MS = 86_400_000;
let service: Service;
let url: string;
let folder: string;
beforeEach(async () => {
  service = await startService();
  url = (await service.server.start()).url;
  folder = mkdtempSync(join(tmpdir(), 'carillon-books-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

async function carillon(...args: readonly string[]) {
  const out: string[] = [];
  let notes = '';
  let failed = false;
  await run(args, {
    print: (line) => out.push(line),
    note: (text) => {
      notes += text;
    },
    interactive: false,
    env: { CARILLON_URL: url, CARILLON_ADMIN_TOKEN: ADMIN_TOKEN },
    fail: () => {
      failed = true;
    },
  });
  return { out, notes, failed, json: (): never => JSON.parse(out.join('\n')) as never };
}

/** Posts entries on three days of two months. */
async function book(): Promise<void> {
  const at = async (days: number, entries: readonly Parameters<Service['book']>[0][]) => {
    await service.clock.advance(days * DAY_MS);
    for (const entry of entries) await service.book(entry);
  };
  await at(0, [
    { amount: 100, type: 'credit', referenceType: 'payment', description: 'Paid, by "wire"' },
    { amount: 0.1, reference: 'cdr:1' },
  ]);
  await at(30, [{ amount: 0.2, reference: 'cdr:2' }]);
  await at(3, [
    { amount: 0.3, reference: 'cdr:3' },
    { amount: 7, referenceType: 'did_rental' },
  ]);
}

describe('ledger export', () => {
  it('exports each matching entry once, as CSV and as JSON lines', async () => {
    await book();
    const { authId } = service.account;
    const csv = join(folder, 'ledger.csv');
    const done = await carillon('export', 'ledger', authId, '--out', csv);
    expect(done.out).toEqual([`5 rows written: ${csv}`]);
    const lines = readFileSync(csv, 'utf8').trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^created_at,id,type,amount,currency/);
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toContain('"Paid, by ""wire"""');
    const shown = await carillon(
      ...['export', 'ledger', authId, '--format', 'ndjson'],
      ...['--type', 'debit', '--from', '2026-01-31', '--to', '2026-01-31'],
    );
    expect(shown.out.map((line) => JSON.parse(line).amount)).toEqual([0.2]);
    expect(readdirSync(folder)).toEqual(['ledger.csv']);
  });

  it('counts an entry with line breaks as one row, and prints the same bytes that it writes', async () => {
    const note = { referenceType: 'payment', description: 'Paid\nby "wire"\r\non Monday' };
    await service.book({ amount: 1, type: 'credit', ...note });
    const { authId } = service.account;
    const csv = join(folder, 'ledger.csv');
    const { out } = await carillon('export', 'ledger', authId, '--out', csv);
    expect(out).toEqual([`1 row written: ${csv}`]);
    const shown = await carillon('export', 'ledger', authId);
    expect(shown.out.map((line) => `${line}\n`).join('')).toBe(readFileSync(csv, 'utf8'));
  });

  it('writes one complete export if two write the same file at the same time', async () => {
    await book();
    const out = join(folder, 'ledger');
    const formats = ['csv', 'ndjson', 'csv', 'ndjson'];
    const all = await Promise.all(
      formats.map((format) =>
        carillon('export', 'ledger', service.account.authId, '--format', format, '--out', out),
      ),
    );
    expect(all.map(({ failed, notes }) => [failed, notes])).toEqual(formats.map(() => [false, '']));
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
    expect([5, 6]).toContain(lines.length);
    expect(readdirSync(folder)).toEqual(['ledger']);
  });

  it('pages by entry number: entries posted during the export cause no shift and no duplicate', async () => {
    for (let n = 0; n < 1100; n += 1) await service.book({ amount: 1, reference: `cdr:${n}` });
    const seen = new Set<string>();
    const { authId: accountId } = service.account;
    for await (const { reference } of service.ledger.walk({ accountId })) {
      expect(seen.has(reference ?? '')).toBe(false);
      seen.add(reference ?? '');
      if (seen.size % 400 === 0) await service.book({ amount: 1, reference: `late:${seen.size}` });
    }
    expect(seen.size).toBe(1100);
    expect([...seen].filter((reference) => reference.startsWith('late'))).toEqual([]);
  });

  it('has the filters of the list, so that the console exports what it shows', async () => {
    await book();
    const path = `${service.root}/transactions/export?format=ndjson`;
    const found = await service.get(`${path}&description=WIRE`);
    const lines = found.text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).amount)).toEqual([100]);
  });

  it('is available to the account and the operator', async () => {
    const other = await service.addAccount();
    const path = `${service.root}/transactions/export`;
    expect((await service.get(path)).headers['content-type']).toContain('text/csv');
    expect((await service.get(path, { as: other })).status).toBe(403);
    expect((await service.get(`${path}?format=xml`)).status).toBe(400);
    expect((await carillon('export', 'ledger', 'MA_NOBODY')).failed).toBe(true);
  });
});

describe('records export', () => {
  it('exports the calls of the time window', async () => {
    const { authId: accountId } = service.account;
    for (const [n, direction] of ['inbound', 'outbound'].entries()) {
      const cdr = aCdr({
        callUuid: asCallUuid(`00000000-0000-4000-8000-00000000000${n}`),
        accountId,
        direction: direction as 'inbound',
      });
      await service.store.calls.settle({ cdr, entries: [], notification: undefined });
    }
    const both = await carillon('export', 'cdrs', accountId);
    expect(both.out).toHaveLength(3);
    const one = await carillon(
      'export',
      'cdrs',
      accountId,
      '--direction',
      'inbound',
      '--format',
      'ndjson',
    );
    expect(one.out.map((line) => JSON.parse(line).call_direction)).toEqual(['inbound']);
    const own = await service.get(`${service.root}/cdr/export?format=ndjson`);
    expect([own.text.trimEnd().split('\n').length, own.headers['x-total-count']]).toEqual([2, '2']);
  });
});

describe('usage', () => {
  it('totals by day and month, exact to one millionth', async () => {
    await book();
    const { authId } = service.account;
    const days = await carillon(
      '--json',
      'usage',
      authId,
      '--from',
      '2026-01-01',
      '--to',
      '2026-02-28',
    );
    const { usage } = days.json() as { usage: { period: string; amounts: object[] }[] };
    expect(usage.map(({ period }) => period)).toEqual(['2026-01-01', '2026-01-31', '2026-02-03']);
    const months = await service.get(
      `${service.root}/usage?from_date=2026-01-01&to_date=2026-02-28&by=month`,
    );
    expect(months.body.usage[0].amounts).toEqual([
      { currency: 'USD', source: 'cdr', count: 2, charged: 0.3, credited: 0 },
      { currency: 'USD', source: 'payment', count: 1, charged: 0, credited: 100 },
    ]);
    const far = await service.get(`${service.root}/usage?from_date=2020-01-01`);
    expect([far.status, far.body.detail ?? far.text]).toEqual([
      400,
      expect.stringContaining('800 days'),
    ]);
  });

  it('counts calls, answered calls and minutes', async () => {
    const { authId: accountId } = service.account;
    const cdr = aCdr({ accountId });
    await service.store.calls.settle({ cdr, entries: [], notification: undefined });
    const day = new Date(cdr.startUs / 1000).toISOString().slice(0, 10);
    const { body } = await service.get(`${service.root}/usage?from_date=${day}&to_date=${day}`);
    expect(body.usage).toEqual([
      expect.objectContaining({
        period: day,
        calls: 1,
        answered: 1,
        [cdr.direction]: 1,
        billed_seconds: cdr.billedMs / 1000,
      }),
    ]);
  });
});

describe('an invoice', () => {
  it('is computed from the ledger, and its closing balance is the next opening balance', async () => {
    await book();
    const first = await service.get(`${service.root}/invoices/2026-01`);
    expect(first.body).toMatchObject({
      invoice_number: `${service.account.authId}-202601-USD`,
      seller: ['Carillon', '1 Bell Lane'],
      preliminary: false,
      opening_balance: 0,
      charges: [{ source: 'cdr', description: 'Calls', count: 2, amount: 0.3 }],
      total_charges: 0.3,
      credits: [{ source: 'payment', count: 1, amount: 100 }],
      closing_balance: 99.7,
    });
    const second = await service.get(`${service.root}/invoices/2026-02`);
    expect(second.body).toMatchObject({
      preliminary: true,
      opening_balance: 99.7,
      total_charges: 7.3,
      closing_balance: 92.4,
    });
    const balance = await service.ledger.balance(service.account.authId, 'USD');
    expect(balance.ok && balance.value.balance).toBe(92_400_000);
  });

  it('is available as a reproducible PDF', async () => {
    await book();
    const file = join(folder, 'invoice.pdf');
    const { authId } = service.account;
    expect((await carillon('invoice', authId, '2026-01', '--pdf', file)).out).toEqual([
      `invoice written: ${file}`,
    ]);
    const pdf = readFileSync(file);
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.subarray(-6).toString().trim()).toBe('%%EOF');
    const again = await service.get(`${service.root}/invoices/2026-01/pdf`);
    expect(again.headers['content-type']).toBe('application/pdf');
  });

  it('is refused for an invalid or future month, and without a balance', async () => {
    const status = async (rest: string) =>
      (await service.get(`${service.root}/invoices/${rest}`)).status;
    expect(await Promise.all(['2026-13', '2026-12', '2026-01?currency=EUR'].map(status))).toEqual([
      400, 400, 404,
    ]);
  });
});

describe('an import', () => {
  const fileOf = (text: string): string => {
    const file = join(folder, 'rows.csv');
    writeFileSync(file, text);
    return file;
  };

  it('reports rows independently and imports the valid ones', async () => {
    const file = fileOf(
      'direction,prefix,per_minute,currency\noutbound,49,0.02,EUR\nup,,1,EUR\noutbound,44,cheap,EUR\nsip,,0.001,EUR\n',
    );
    const done = await carillon('import', 'rates', file);
    expect(done.failed).toBe(true);
    expect(done.out).toEqual([
      expect.stringMatching(/^line 3: direction must be one of/),
      expect.stringMatching(/^line 4: per_minute must be a number/),
      '2 rows imported, 2 refused',
    ]);
    expect(service.ledger.listRates()).toHaveLength(2);
  });

  it('refuses prices that would round to 0, and duplicate rates', async () => {
    const far = Array.from({ length: 1100 }, (_, at) => `sip,${1000 + at},0,EUR`).join('\n');
    const file = fileOf(
      `direction,prefix,per_minute,currency\noutbound,49,0.0000004,EUR\noutbound,49,0.02,EUR\noutbound,49,0.03,eur\noutbound,48,0,EUR\n${far}\noutbound,49,0.04,EUR\n`,
    );
    const done = await carillon('import', 'rates', file);
    expect(done.out).toEqual([
      'line 2: per_minute must be 0, or at least 0.000001',
      'line 4: the same rate as line 3',
      'line 1106: the same rate as line 3',
      '1102 rows imported, 3 refused',
    ]);
    const price = service.ledger.listRates().find(({ prefix }) => prefix === '49')?.perMinute;
    expect(price).toBe(20_000);
  });

  it('reports the same results in a dry run without any change', async () => {
    const file = fileOf(
      'e164,country,currency,account_id\n+14155550100,US,USD,\n12,US,USD,\n+14155550101,US,USD,MA_X\n',
    );
    const dry = await carillon('import', 'numbers', file, '--dry-run');
    expect(dry.out.at(-1)).toBe('1 row would be imported, 2 refused');
    const count = async () =>
      (await service.provisioning.numbers.list({}, { limit: 1, offset: 0 })).total;
    expect(await count()).toBe(0);
    const wet = await carillon('import', 'numbers', file);
    expect(wet.out.slice(0, 2)).toEqual(dry.out.slice(0, 2));
    expect(await count()).toBe(1);
    expect((await carillon('import', 'numbers', file, '--dry-run')).out[0]).toContain(
      'number already exists',
    );
  });

  it('creates customers with credit, and shows their tokens once', async () => {
    const file = fileOf(
      'name,currency,opening_credit,cps_limit,is_postpaid\nAda,EUR,12.5,3,true\nBob,EUR,-1,,\n',
    );
    const { json } = await carillon('--json', 'import', 'accounts', file);
    const { rows } = json() as { rows: { ok: boolean; result: string; auth_token?: string }[] };
    expect(rows.map(({ ok }) => ok)).toEqual([true, false]);
    const [made] = rows;
    const headers = { 'x-auth-id': made?.result ?? '', 'x-auth-token': made?.auth_token ?? '' };
    const balance = await service.get(`/api/v1/Account/${made?.result}/balance/EUR`, {
      as: null,
      headers,
    });
    expect(balance.body).toMatchObject({ balance: 12.5, is_postpaid: true });
  });

  it('shows the tokens of the accounts made before the service failed', async () => {
    const { accounts } = service.store;
    const { ledger } = service;
    const file = fileOf('name,opening_credit\nAda,1\nBob,2\nEve,3\n');
    vi.spyOn(ledger, 'adjust').mockRejectedValueOnce(new Error('the disk is full'));
    const { create } = accounts;
    const creations = vi.spyOn(accounts, 'create').mockImplementation(async (...given) => {
      if (creations.mock.calls.length === 3) throw new Error('the disk is full');
      return create.apply(accounts, given);
    });
    const { failed, out } = await carillon('import', 'accounts', file);
    vi.restoreAllMocks();
    expect([failed, out]).toEqual([
      true,
      [
        expect.stringMatching(/^line 2: MA_\w+ was created; set its opening credit \w{40,}$/),
        expect.stringMatching(/^line 3: MA_\w+ \w{40,}$/),
        'line 4: not imported: the service failed at this or an earlier row',
        '1 row imported, 2 refused',
      ],
    ]);
  });

  it('shows the tokens of earlier batches if the connection is lost, and the unconfirmed lines', async () => {
    let requests = 0;
    const server = createServer((request, reply) => {
      requests += 1;
      if (requests > 1) return request.socket.destroy();
      const rows = [{ line: 2, ok: true, result: 'MA_1', auth_token: 'first' }];
      return reply.end(JSON.stringify({ dry_run: false, done: 1, refused: 0, rows }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const names = Array.from({ length: 501 }, (_, at) => `name ${at}`);
    const terminal = new TestTerminal();
    await terminal.run(['import', 'accounts', fileOf(`name\n${names.join('\n')}\n`)], {
      CARILLON_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      CARILLON_ADMIN_TOKEN: ADMIN_TOKEN,
    });
    server.close();
    expect(terminal.out).toEqual(['line 2: MA_1 first', '1 row imported, 0 refused']);
    expect([terminal.failed, terminal.notes]).toEqual([
      true,
      expect.stringMatching(/; lines 502 to 502 are not confirmed, later lines were not sent\n$/),
    ]);
  });

  it('refuses an unknown column before any request is sent', async () => {
    const { notes, failed } = await carillon(
      'import',
      'rates',
      fileOf('direction,price\noutbound,1\n'),
    );
    expect([failed, notes]).toEqual([true, expect.stringContaining('columns price')]);
  });
});
