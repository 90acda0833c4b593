import { ok } from '../../../base/result.ts';
import { DEFAULT_PER_PAGE, MAX_PER_PAGE } from '../../../domain/ledger/ledger.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { accountIdText, Type } from '../http/schema.ts';
import { windowOf } from '../http/values.ts';
import { showEntryPage, TransactionListSchema } from '../wire/ledger.ts';
import { pageQuery, pageSlice } from '../wire/list.ts';
import { mainAccount } from './reference.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));

const listEntries = adminRoute({
  tag: 'Operator: accounts',
  errors: 'admin',
  method: 'GET',
  path: '/admin/v1/accounts/{auth_id}/transactions',
  alsoRefuses: [409],
  summary:
    'List the ledger entries of an account, newest first, with totals of the whole filtered set',
  params: Type.Object({ auth_id: accountIdText() }),
  query: Type.Object({
    ...pageQuery(DEFAULT_PER_PAGE, MAX_PER_PAGE),
    from_date: text('inclusive; YYYY-MM-DD or ISO 8601'),
    to_date: text('inclusive; YYYY-MM-DD or ISO 8601'),
    type: text('credit, debit or a type'),
    status: text('completed, pending, failed or cancelled'),
    currency: text('of the balance'),
    reference_type: text('spend source'),
    reference: text('part of it'),
    description: text('part of it'),
  }),
  reply: TransactionListSchema,
  async run(needs, { params: { auth_id: authId }, query }) {
    const account = await mainAccount(needs, authId);
    if (!account.ok) return account;
    const window = windowOf(['from_date', query.from_date], ['to_date', query.to_date]);
    if (!window.ok) return window;
    const filter = {
      accountId: authId,
      ...window.value,
      type: query.type,
      status: query.status,
      currency: query.currency?.toUpperCase(),
      referenceType: query.reference_type,
      reference: query.reference,
      description: query.description,
      id: undefined,
    };
    const { page, limit } = pageSlice(query, DEFAULT_PER_PAGE);
    return ok(showEntryPage(await needs.ledger.list(filter, page, limit)));
  },
});

export const adminLedgerRoutes: readonly Route[] = [listEntries];
