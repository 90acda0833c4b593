import { secondsOf } from '../../../base/duration.ts';
import { unitsFromMicros } from '../../../base/money.ts';
import { isoMicros } from '../../../base/time-format.ts';
import type { DailyCalls } from '../../../domain/cdr/types.ts';
import type { Invoice, InvoiceLine } from '../../../domain/ledger/ledger.ts';
import type { DailyTotal } from '../../../domain/ledger/types.ts';
import { accountIdText, type Static, Type, timestamp } from '../http/schema.ts';

const LineSchema = Type.Object({
  source: Type.String(),
  description: Type.String(),
  count: Type.Integer(),
  amount: Type.Number(),
});

export const InvoiceSchema = Type.Object({
  invoice_number: Type.String(),
  seller: Type.Array(Type.String()),
  account_id: accountIdText(),
  account_name: Type.String(),
  currency: Type.String(),
  period_start: timestamp(),
  period_end: timestamp(),
  preliminary: Type.Boolean({ description: 'whether the month has not ended yet' }),
  opening_balance: Type.Number(),
  charges: Type.Array(LineSchema),
  total_charges: Type.Number(),
  credits: Type.Array(LineSchema),
  total_credits: Type.Number(),
  closing_balance: Type.Number(),
});
export type ShownInvoice = Static<typeof InvoiceSchema>;

const showLine = ({ amount, ...line }: InvoiceLine): Static<typeof LineSchema> => ({
  ...line,
  amount: unitsFromMicros(amount),
});

/** `seller`: lines of an address. */
export const showInvoice = (invoice: Invoice, seller: string): ShownInvoice => ({
  invoice_number: invoice.number,
  seller: seller.split('\n').filter((line) => line.trim() !== ''),
  account_id: invoice.accountId,
  account_name: invoice.accountName,
  currency: invoice.currency,
  period_start: isoMicros(invoice.fromUs),
  period_end: isoMicros(invoice.toUs),
  preliminary: invoice.preliminary,
  opening_balance: unitsFromMicros(invoice.opening),
  charges: invoice.charges.map(showLine),
  total_charges: unitsFromMicros(invoice.totalCharges),
  credits: invoice.credits.map(showLine),
  total_credits: unitsFromMicros(invoice.totalCredits),
  closing_balance: unitsFromMicros(invoice.closing),
});

export const UsageSchema = Type.Array(
  Type.Object({
    period: Type.String({ description: 'YYYY-MM-DD, or YYYY-MM' }),
    calls: Type.Integer(),
    answered: Type.Integer(),
    inbound: Type.Integer(),
    outbound: Type.Integer(),
    talk_seconds: Type.Integer(),
    billed_seconds: Type.Integer(),
    amounts: Type.Array(
      Type.Object({
        currency: Type.String(),
        source: Type.String(),
        count: Type.Integer(),
        charged: Type.Number(),
        credited: Type.Number(),
      }),
    ),
  }),
);
type Usage = Static<typeof UsageSchema>[number];
type Amount = Usage['amounts'][number];

/** Returns a row for each day or month with usage, oldest first. */
export function usageOf(
  calls: readonly DailyCalls[],
  totals: readonly DailyTotal[],
  by: 'day' | 'month',
): Usage[] {
  const periods = new Map<string, Usage>();
  const amounts = new Map<string, Amount>();
  const periodOf = (day: number): Usage => {
    const period = isoMicros(day * DAY_US).slice(0, by === 'day' ? 10 : 7);
    const found = periods.get(period) ?? { ...NOTHING, period, amounts: [] };
    periods.set(period, found);
    return found;
  };
  for (const { day, direction, ...sums } of calls) {
    const usage = periodOf(day);
    usage.calls += sums.calls;
    usage.answered += sums.answered;
    usage[direction] += sums.calls;
    usage.talk_seconds += Math.round(sums.talkUs / 1_000_000);
    usage.billed_seconds += secondsOf(sums.billedMs);
  }
  for (const { day, currency, referenceType: source, count, debit, credit } of totals) {
    const usage = periodOf(day);
    const key = `${usage.period} ${currency} ${source}`;
    const sum = amounts.get(key) ?? { currency, source, count: 0, charged: 0, credited: 0 };
    if (!amounts.has(key)) usage.amounts.push(sum);
    amounts.set(key, sum);
    sum.count += count;
    // Sums millionths and converts at the end, because units do not add up exactly.
    sum.charged += debit;
    sum.credited += credit;
  }
  for (const sum of amounts.values()) {
    sum.charged = unitsFromMicros(sum.charged);
    sum.credited = unitsFromMicros(sum.credited);
  }
  return [...periods.values()].sort((a, b) => (a.period < b.period ? -1 : 1));
}

const DAY_US = 86_400_000_000;
const NOTHING = {
  calls: 0,
  answered: 0,
  inbound: 0,
  outbound: 0,
  talk_seconds: 0,
  billed_seconds: 0,
} as const;
