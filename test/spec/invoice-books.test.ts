/**
 * Compares invoices and usage with the ledger, exact to a millionth of a unit: random entries in random months, summed here
 * independently.
 */
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS } from '../../src/base/duration.ts';
import { asAccountId } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import { ADMIN_TOKEN, type Service, startService } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const SOURCES = ['cdr', 'stream_cdr', 'recording', 'did_rental', 'payment', 'refund'] as const;
/** A random entry and its time: an interval after the previous one, or the first or last moment of a month. */
const entry = fc.record({
  after: fc.oneof(
    fc.integer({ min: 0, max: 9 * DAY_MS }),
    fc.constantFrom('last of the month' as const, 'first of the next' as const),
  ),
  type: fc.constantFrom('debit' as const, 'credit' as const, 'did_rental' as const),
  // Up to a billion units, the largest amount that a double represents to the millionth.
  amount: fc.oneof(fc.integer({ min: 1, max: 3_000_000 }), fc.integer({ min: 1, max: 1e15 })),
  source: fc.constantFrom(...SOURCES),
});
type Booked = {
  readonly atMs: number;
  readonly isDebit: boolean;
  readonly amount: bigint;
  readonly source: string;
};

const monthOf = ({ atMs }: Booked): string => new Date(atMs).toISOString().slice(0, 7);
const sum = (entries: readonly Booked[]): bigint =>
  entries.reduce((total, { amount }) => total + amount, 0n);
/** Exact, because displayed amounts have at most six decimals. */
const exact = (units: number): bigint => BigInt(Math.round(units * 1e6));
const total = (entries: readonly Booked[], isDebit: boolean): bigint =>
  sum(entries.filter((one) => one.isDebit === isDebit));
const balanceOf = (entries: readonly Booked[]): bigint =>
  total(entries, false) - total(entries, true);

/** Returns sums by source, such as `{ cdr: 12n }`, without zero sums. */
function bySource(entries: readonly Booked[], isDebit: boolean): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const one of entries)
    if (one.isDebit === isDebit) sums[one.source] = (sums[one.source] ?? 0n) + one.amount;
  return sums;
}

/** Returns the number of entries by source. */
function countsBySource(entries: readonly Booked[], isDebit: boolean): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of entries)
    if (one.isDebit === isDebit) counts[one.source] = (counts[one.source] ?? 0) + 1;
  return counts;
}

interface Line {
  readonly source: string;
  readonly amount: number;
  readonly count: number;
}

interface Shown {
  readonly opening_balance: number;
  readonly closing_balance: number;
  readonly total_charges: number;
  readonly total_credits: number;
  readonly charges: readonly Line[];
  readonly credits: readonly Line[];
}
const linesOf = (lines: Shown['charges']): Record<string, bigint> =>
  Object.fromEntries(lines.map(({ source, amount }) => [source, exact(amount)]));

const countsOf = (lines: Shown['charges']): Record<string, number> =>
  Object.fromEntries(lines.map(({ source, count }) => [source, count]));

/** Formats an amount for people: at least two decimals, without further trailing zeros. */
function written(amount: bigint): string {
  const [whole, rest] = [amount / 1_000_000n, amount % 1_000_000n].map((part) =>
    String(part < 0n ? -part : part),
  );
  const decimals = (rest ?? '').padStart(6, '0').replace(/0{1,4}$/, '');
  return `${amount < 0n ? '-' : ''}${whole}.${decimals} USD`;
}

/** Returns the text lines of a PDF in order. */
async function pdfTexts(url: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { rawPayload } = await service.server.app.inject({ url, headers });
  const pages = [...rawPayload.toString('latin1').matchAll(/stream\n([\s\S]*?)\nendstream/g)];
  return pages.flatMap(([, part = '']) => {
    const text = inflateSync(Buffer.from(part, 'latin1')).toString('latin1');
    return [...text.matchAll(/\[([^\]]*)\] TJ/g)].map(([, runs = '']) =>
      [...runs.matchAll(/<([0-9a-f]*)>/g)]
        .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
        .join(''),
    );
  });
}

/** Posts the entries on a new account, with ascending times. */
async function book(
  accountId: string,
  plan: readonly {
    readonly after: number | 'last of the month' | 'first of the next';
    readonly type: 'debit' | 'credit' | 'did_rental';
    readonly amount: number;
    readonly source: string;
  }[],
): Promise<readonly Booked[]> {
  const booked: Booked[] = [];
  for (const { after, type, amount, source } of plan) {
    const nowMs = service.clock.wallMs();
    const now = new Date(nowMs);
    const nextMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    const edgeMs = after === 'first of the next' ? nextMs : nextMs - 1;
    await service.clock.advance(typeof after === 'number' ? after : edgeMs - nowMs);
    const posted = await service.store.ledger.post(
      [
        {
          accountId: asAccountId(accountId),
          currency: 'USD',
          type,
          amount: micros(amount),
          description: source,
          reference: undefined,
          referenceType: source,
        },
      ],
      { checked: false },
    );
    expect(posted.ok).toBe(true);
    const atMs = service.clock.wallMs();
    booked.push({ atMs, isDebit: type !== 'credit', amount: BigInt(amount), source });
  }
  return booked;
}

it('invoices of each month, as JSON and PDF, match the ledger, and usage sums to them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 25 }), async (plan) => {
      const { authId } = await service.addAccount();
      const booked = await book(authId, plan);
      const usage = await usageByMonth(authId, booked);
      for (const month of new Set(booked.map(monthOf))) {
        const within = booked.filter((one) => monthOf(one) === month);
        const before = booked.filter((one) => monthOf(one) < month);
        const url = `/accounts/${authId}/invoices/${month}`;
        const shown = (await service.admin('GET', url)).body as Shown;
        expect(exact(shown.opening_balance)).toBe(balanceOf(before));
        expect(exact(shown.closing_balance)).toBe(balanceOf([...before, ...within]));
        expect(exact(shown.total_charges)).toBe(total(within, true));
        expect(exact(shown.total_credits)).toBe(total(within, false));
        expect(linesOf(shown.charges)).toEqual(bySource(within, true));
        expect(linesOf(shown.credits)).toEqual(bySource(within, false));
        expect(countsOf(shown.charges)).toEqual(countsBySource(within, true));
        expect(countsOf(shown.credits)).toEqual(countsBySource(within, false));
        expect(usage.get(month)).toEqual({
          charged: bySource(within, true),
          credited: bySource(within, false),
        });
        const texts = await pdfTexts(`/admin/v1${url}/pdf`);
        const amounts = texts.filter((text) => text.endsWith(' USD'));
        expect([amounts[0], amounts.at(-1)]).toEqual([
          written(balanceOf(before)),
          written(balanceOf([...before, ...within])),
        ]);
        for (const part of [...shown.charges, ...shown.credits])
          expect(amounts).toContain(written(exact(part.amount)));
        expect(amounts).toContain(written(total(within, true)));
        expect(amounts).toContain(written(total(within, false)));
      }
    }),
    { numRuns: 25 },
  );
});

/** Requests usage by day and sums it by month. */
async function usageByMonth(authId: string, booked: readonly Booked[]) {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const span = `from_date=${day(booked[0]?.atMs ?? 0)}&to_date=${day(booked.at(-1)?.atMs ?? 0)}`;
  const { body } = await service.admin('GET', `/accounts/${authId}/usage?by=day&${span}`);
  const months = new Map<
    string,
    { charged: Record<string, bigint>; credited: Record<string, bigint> }
  >();
  for (const { period, amounts } of body.usage) {
    const month = months.get(period.slice(0, 7)) ?? { charged: {}, credited: {} };
    months.set(period.slice(0, 7), month);
    for (const { source, charged, credited } of amounts) {
      if (charged > 0) month.charged[source] = (month.charged[source] ?? 0n) + exact(charged);
      if (credited > 0) month.credited[source] = (month.credited[source] ?? 0n) + exact(credited);
    }
  }
  return months;
}
