import type { AccountId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import {
  DEFAULT_PER_PAGE,
  MAX_PER_PAGE,
  parseWindowBound,
} from '../../../../domain/ledger/ledger.ts';
import type { EntryFilter } from '../../../../domain/ledger/types.ts';
import { type Failure, failure, notFound } from '../../http/failure.ts';
import { type Route, readableByToken } from '../../http/route.ts';
import { accountIdText, type Static, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import {
  BalanceSchema,
  showBalance,
  showEntryPage,
  TransactionListSchema,
} from '../../wire/ledger.ts';

const RETRIEVAL_FAILED = 'Failed to retrieve transactions';

/** All parameters are text. Invalid numbers fall back to defaults and invalid dates are a 500, never a 400. */
const TransactionQuery = Type.Object({
  page: Type.Optional(Type.String({ description: '1-indexed; default 1' })),
  per_page: Type.Optional(
    Type.String({
      description: `default ${DEFAULT_PER_PAGE}; above ${MAX_PER_PAGE} falls back to it`,
    }),
  ),
  from_date: Type.Optional(Type.String({ description: 'inclusive; YYYY-MM-DD or ISO 8601' })),
  to_date: Type.Optional(
    Type.String({ description: 'inclusive; a bare date means 23:59:59 of that day, UTC' }),
  ),
  type: Type.Optional(Type.String({ description: 'credit and debit include legacy types' })),
  status: Type.Optional(Type.String()),
  currency: Type.Optional(Type.String()),
  reference_type: Type.Optional(Type.String()),
  description: Type.Optional(Type.String({ description: 'case-insensitive substring' })),
  reference: Type.Optional(Type.String({ description: 'case-insensitive substring' })),
  transaction_id: Type.Optional(Type.String()),
});

const accountParams = Type.Object({ auth_id: accountIdText() });

const positiveInteger = (text: string | undefined, otherwise: number): number => {
  const value = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return value >= 1 ? value : otherwise;
};

/** Treats an empty value as no filter. */
const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function filterOf(
  accountId: AccountId,
  query: Static<typeof TransactionQuery>,
): Result<EntryFilter, Failure> {
  const from = given(query.from_date);
  const to = given(query.to_date);
  const fromUs = from === undefined ? undefined : parseWindowBound(from, 'from');
  const toUs = to === undefined ? undefined : parseWindowBound(to, 'to');
  const unparseable =
    (from !== undefined && fromUs === undefined) || (to !== undefined && toUs === undefined);
  if (unparseable) return err(failure(500, RETRIEVAL_FAILED));
  return ok({
    accountId,
    fromUs,
    toUs,
    type: given(query.type),
    status: given(query.status),
    currency: given(query.currency)?.toUpperCase(),
    referenceType: given(query.reference_type),
    description: given(query.description),
    reference: given(query.reference),
    id: given(query.transaction_id)?.toLowerCase(),
  });
}

/** The transactions endpoints exist with `Account` and with `account` in the path (spec: Endpoints). */
const bothCases = (make: (root: string) => Route): readonly Route[] =>
  ['/api/v1/Account', '/api/v1/account'].map(make);

const listTransactions = (root: string): Route =>
  readableByToken({
    method: 'GET',
    path: `${root}/{auth_id}/transactions`,
    tag: 'Ledger',
    summary: 'List ledger entries, with totals of the whole filtered set',
    errors: 'ledger',
    internalError: RETRIEVAL_FAILED,
    params: accountParams,
    dropsUnknownQuery: true,
    query: TransactionQuery,
    reply: TransactionListSchema,
    async run({ ledger }, { accountId, query }) {
      const filter = filterOf(accountId, query);
      if (!filter.ok) return filter;
      const page = positiveInteger(query.page, 1);
      const perPage = positiveInteger(query.per_page, DEFAULT_PER_PAGE);
      return ok(showEntryPage(await ledger.list(filter.value, page, perPage)));
    },
  });

const listReferenceTypes = (root: string): Route =>
  readableByToken({
    method: 'GET',
    path: `${root}/{auth_id}/transactions/reference-types`,
    tag: 'Ledger',
    summary: 'List the spend sources of the account',
    errors: 'ledger',
    params: accountParams,
    reply: Type.Object({ reference_types: Type.Array(Type.String()) }),
    run: async ({ ledger }, { accountId }) =>
      ok({ reference_types: [...(await ledger.referenceTypes(accountId))] }),
  });

const getBalance = readableByToken({
  method: 'GET',
  path: '/api/v1/Account/{auth_id}/balance/{currency}',
  tag: 'Ledger',
  summary: 'Get the balance in one currency',
  errors: 'plain',
  params: Type.Object({ auth_id: accountIdText(), currency: Type.String() }),
  reply: BalanceSchema,
  run: async ({ ledger }, { accountId, params }) =>
    answered(await ledger.balance(accountId, params.currency), showBalance, {
      unknownBalance: {
        ...notFound('balance'),
        message: `balance not found for currency ${params.currency}`,
      },
    }),
});

export const ledgerRoutes: readonly Route[] = [
  ...bothCases(listTransactions),
  ...bothCases(listReferenceTypes),
  getBalance,
];
