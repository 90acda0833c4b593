/** Exports for accounting: ledgers and call records as files, invoices and usage, for an account and for the operator. */
import { wallUs } from '../../../../base/clock.ts';
import type { AccountId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import { monthOf } from '../../../../domain/ledger/ledger.ts';
import type { EntryFilter } from '../../../../domain/ledger/types.ts';
import { mainAccount } from '../../admin/reference.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, invalidField } from '../../http/failure.ts';
import { accountRoute, adminRoute, type Route } from '../../http/route.ts';
import { accountIdText, oneOf, type Static, Type } from '../../http/schema.ts';
import { currencyField, windowOf } from '../../http/values.ts';
import { answered } from '../../refusal.ts';
import { cdrRows } from '../../wire/cdr-rows.ts';
import {
  InvoiceSchema,
  type ShownInvoice,
  showInvoice,
  UsageSchema,
  usageOf,
} from '../../wire/invoice.ts';
import { invoicePdf } from '../../wire/invoice-pdf.ts';
import { entryRows } from '../../wire/ledger.ts';
import { formatQuery, rowsReply } from '../../wire/rows.ts';

const ACCOUNT = '/api/v1/Account/{auth_id}';
const ADMIN = '/admin/v1/accounts/{auth_id}';
const ofAccount = { method: 'GET', tag: 'Ledger', errors: 'plain', mainAccountOnly: true } as const;
const ofOperator = {
  method: 'GET',
  tag: 'Operator: accounts',
  errors: 'admin',
  alsoRefuses: [409],
} as const;
const params = Type.Object({ auth_id: accountIdText() });
const monthParams = Type.Object({
  auth_id: accountIdText(),
  month: Type.String({ description: 'YYYY-MM, UTC' }),
});
const DAY_US = 86_400_000_000;
/** Maximum number of days of usage in a reply. */
const USAGE_DAYS = 800;
const USAGE_DEFAULT_DAYS = 31;

const day = (bound: string) =>
  Type.Optional(Type.String({ description: `inclusive; YYYY-MM-DD or ISO 8601; ${bound}` }));

const EntryQuery = Type.Object({
  from_date: day('default: the beginning'),
  to_date: day('default: now'),
  type: Type.Optional(Type.String({ description: 'credit, debit or a type' })),
  status: Type.Optional(oneOf(['completed', 'pending', 'failed', 'cancelled'])),
  currency: Type.Optional(currencyField()),
  reference_type: Type.Optional(Type.String({ description: 'spend source' })),
  description: Type.Optional(Type.String({ description: 'case-insensitive substring' })),
  ...formatQuery,
});

async function exportEntries(
  { ledger }: RouteNeeds,
  accountId: AccountId,
  query: Static<typeof EntryQuery>,
) {
  const window = windowOf(['from_date', query.from_date], ['to_date', query.to_date]);
  if (!window.ok) return window;
  const filter: EntryFilter = {
    accountId,
    ...window.value,
    type: query.type,
    status: query.status,
    currency: query.currency?.toUpperCase(),
    referenceType: query.reference_type,
    description: query.description || undefined,
  };
  const total = await ledger.count(filter);
  return ok(rowsReply(entryRows(ledger, filter), query.format ?? 'csv', total));
}

const CdrQuery = Type.Object({
  start_date: day('default: the beginning'),
  end_date: day('default: now'),
  call_direction: Type.Optional(oneOf(['inbound', 'outbound'])),
  hangup_cause: Type.Optional(Type.String()),
  campaign_id: Type.Optional(Type.String()),
  ...formatQuery,
});

const UsageQuery = Type.Object({
  from_date: day(`default: ${USAGE_DEFAULT_DAYS} days ago`),
  to_date: day('default: today'),
  by: Type.Optional(oneOf(['day', 'month'])),
});
const UsageReply = Type.Object({ account_id: accountIdText(), usage: UsageSchema });

async function usage(
  { ledger, callRecords, clock }: RouteNeeds,
  accountId: AccountId,
  query: Static<typeof UsageQuery>,
): Promise<Result<Static<typeof UsageReply>, Failure>> {
  const window = windowOf(['from_date', query.from_date], ['to_date', query.to_date]);
  if (!window.ok) return window;
  const toDay = Math.floor((window.value.toUs ?? wallUs(clock)) / DAY_US);
  const fromDay =
    window.value.fromUs === undefined
      ? toDay - USAGE_DEFAULT_DAYS + 1
      : Math.floor(window.value.fromUs / DAY_US);
  if (toDay - fromDay >= USAGE_DAYS)
    return err(invalidField('from_date', `must be at most ${USAGE_DAYS} days before to_date`));
  const [calls, totals] = await Promise.all([
    callRecords.daily({
      accountId,
      startFromUs: fromDay * DAY_US,
      startToUs: (toDay + 1) * DAY_US - 1,
    }),
    ledger.daily(accountId, fromDay, toDay),
  ]);
  return ok({ account_id: accountId, usage: usageOf(calls, totals, query.by ?? 'day') });
}

const InvoiceQuery = Type.Object({
  currency: Type.Optional(currencyField()),
});

async function invoice(
  { ledger, accounts, clock, settings }: RouteNeeds,
  accountId: AccountId,
  named: { readonly month: string; readonly currency?: string | undefined },
): Promise<Result<ShownInvoice, Failure>> {
  const month = monthOf(named.month);
  if (month === undefined) return err(invalidField('month', 'must be YYYY-MM'));
  const account = await mainAccount({ accounts }, accountId);
  if (!account.ok) return account;
  const nowUs = wallUs(clock);
  if (month.fromUs > nowUs) return err(invalidField('month', 'must not be in the future'));
  const currency = (named.currency ?? account.value.currency).toUpperCase();
  const made = await ledger.invoice(account.value, currency, month, nowUs);
  return answered(made, (value) => showInvoice(value, settings.invoiceSeller));
}

async function invoiceFile(
  needs: RouteNeeds,
  accountId: AccountId,
  named: Parameters<typeof invoice>[2],
) {
  const shown = await invoice(needs, accountId, named);
  if (!shown.ok) return shown;
  return ok({
    contentType: 'application/pdf',
    headers: {
      'content-disposition': `attachment; filename="invoice-${shown.value.invoice_number}.pdf"`,
    },
    body: await invoicePdf(shown.value, needs.settings.invoiceFont),
  });
}

const LEDGER_FILE = 'Download ledger entries as CSV or JSON lines, newest first';
const USAGE = 'Get calls, minutes and amounts by day or month, from records and ledger';
const INVOICE =
  'Get the invoice of a month, from the ledger. One currency, by default that of the account';

const accountRoutes: readonly Route[] = [
  accountRoute({
    ...ofAccount,
    path: `${ACCOUNT}/transactions/export`,
    summary: LEDGER_FILE,
    params,
    query: EntryQuery,
    produces: 'text/csv',
    run: (needs, { accountId, query }) => exportEntries(needs, accountId, query),
  }),
  accountRoute({
    ...ofAccount,
    path: `${ACCOUNT}/usage`,
    summary: USAGE,
    params,
    query: UsageQuery,
    reply: UsageReply,
    run: (needs, { accountId, query }) => usage(needs, accountId, query),
  }),
  accountRoute({
    ...ofAccount,
    path: `${ACCOUNT}/invoices/{month}`,
    summary: INVOICE,
    params: monthParams,
    query: InvoiceQuery,
    reply: InvoiceSchema,
    run: (needs, { accountId, params: { month }, query }) =>
      invoice(needs, accountId, { month, ...query }),
  }),
  accountRoute({
    ...ofAccount,
    path: `${ACCOUNT}/invoices/{month}/pdf`,
    summary: `${INVOICE}; as PDF`,
    params: monthParams,
    query: InvoiceQuery,
    produces: 'application/pdf',
    run: (needs, { accountId, params: { month }, query }) =>
      invoiceFile(needs, accountId, { month, ...query }),
  }),
];

const operatorRoutes: readonly Route[] = [
  adminRoute({
    ...ofOperator,
    path: `${ADMIN}/transactions/export`,
    summary: LEDGER_FILE,
    params,
    query: EntryQuery,
    produces: 'text/csv',
    async run(needs, { params: { auth_id: authId }, query }) {
      const account = await mainAccount(needs, authId);
      return account.ok ? exportEntries(needs, authId, query) : account;
    },
  }),
  adminRoute({
    ...ofOperator,
    path: `${ADMIN}/cdr/export`,
    summary: 'Download call records of an account as CSV or JSON lines, latest first',
    params,
    query: CdrQuery,
    produces: 'text/csv',
    async run(needs, { params: { auth_id: authId }, query }) {
      const account = await mainAccount(needs, authId);
      if (!account.ok) return account;
      const window = windowOf(['start_date', query.start_date], ['end_date', query.end_date]);
      if (!window.ok) return window;
      const { callRecords } = needs;
      const filter = {
        accountId: authId,
        startFromUs: window.value.fromUs,
        startToUs: window.value.toUs,
        direction: query.call_direction,
        hangupCause: query.hangup_cause,
        campaignId: query.campaign_id,
      };
      const total = await callRecords.count(filter);
      return ok(rowsReply(cdrRows(callRecords, filter), query.format ?? 'csv', total));
    },
  }),
  adminRoute({
    ...ofOperator,
    path: `${ADMIN}/usage`,
    summary: USAGE,
    params,
    query: UsageQuery,
    reply: UsageReply,
    async run(needs, { params: { auth_id: authId }, query }) {
      const account = await mainAccount(needs, authId);
      return account.ok ? usage(needs, authId, query) : account;
    },
  }),
  adminRoute({
    ...ofOperator,
    path: `${ADMIN}/invoices/{month}`,
    summary: INVOICE,
    params: monthParams,
    query: InvoiceQuery,
    reply: InvoiceSchema,
    run: (needs, { params: { auth_id: authId, month }, query }) =>
      invoice(needs, authId, { month, ...query }),
  }),
  adminRoute({
    ...ofOperator,
    path: `${ADMIN}/invoices/{month}/pdf`,
    summary: `${INVOICE}; as PDF`,
    params: monthParams,
    query: InvoiceQuery,
    produces: 'application/pdf',
    run: (needs, { params: { auth_id: authId, month }, query }) =>
      invoiceFile(needs, authId, { month, ...query }),
  }),
];

export const bookRoutes: readonly Route[] = [...accountRoutes, ...operatorRoutes];
