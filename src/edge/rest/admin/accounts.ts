import { err, ok } from '../../../base/result.ts';
import type { Account } from '../../../domain/account/types.ts';
import { wrongCallerId } from '../caller-id.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { accountIdText, flag, hinted, type Static, sliceQuery, Type } from '../http/schema.ts';
import { amountOf, currencyField, e164Field, wrongTimezone } from '../http/values.ts';
import { answered, refused } from '../refusal.ts';
import {
  AccountCreateBody,
  AccountPatchBody,
  AccountSchema,
  AccountWithBalancesSchema,
  accountPatch,
  BalancePatchBody,
  balancePatch,
  newAccountFields,
  showAccount,
  showAccountWithBalances,
} from '../wire/account.ts';
import { BalanceSchema, showBalance, showEntry, TransactionSchema } from '../wire/ledger.ts';
import { sliceOf, TrunkMetaSchema, trunkMetaOf } from '../wire/list.ts';
import { wrongMask } from '../wire/masked-url.ts';
import { mainAccount, wrongDefaultApp } from './reference.ts';

const ROOT = '/admin/v1/accounts';
const common = { tag: 'Operator: accounts', errors: 'admin' } as const;
const params = Type.Object({ auth_id: accountIdText() });
const AMOUNT_MAX = 9_000_000_000;
/** Default validity of the old token after a rotation, seconds. */
const OVERLAP_DEFAULT = 86_400;
const OVERLAP_MAX = 30 * 86_400;

type Shown = Static<typeof AccountWithBalancesSchema>;

const withBalances = async ({ ledger }: RouteNeeds, account: Account): Promise<Shown> =>
  showAccountWithBalances(account, await ledger.balances(account.authId));

/** Fields for money, partner limits and defaults, which only main accounts have. */
const MAIN_ACCOUNT_FIELDS = [
  'credit_limit',
  'credit_limit_type',
  'is_postpaid',
  'low_balance_threshold',
  'low_balance_url',
  'low_balance_email',
  'is_partner',
  'partner_auth_id',
  'limit_transfer_enabled',
  'default_endpoint_app',
] as const;

function notOfSubAccount(
  { parentAuthId }: Account,
  body: Static<typeof AccountPatchBody>,
): Failure | undefined {
  if (parentAuthId === undefined) return undefined;
  const field = MAIN_ACCOUNT_FIELDS.find((name) => body[name] !== undefined);
  return field && invalidField(field, `belongs to the main account ${parentAuthId}`);
}

const createAccount = adminRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  credential: true,
  summary: 'Create an account. Only this response shows its token',
  status: 201,
  body: AccountCreateBody,
  reply: Type.Object({
    auth_token: Type.String(),
    ...AccountWithBalancesSchema.properties,
  }),
  async run(needs, { body }) {
    const wrong =
      wrongTimezone(body.timezone) ??
      (await wrongDefaultApp(needs, undefined, body.default_endpoint_app)) ??
      (await wrongCallerId(needs, undefined, 'default_caller_id', body.default_caller_id));
    if (wrong !== undefined) return err(wrong);
    const created = await needs.accounts.create(newAccountFields(body), balancePatch(body));
    if (!created.ok) return refused(created.error);
    const { account, authToken } = created.value;
    return ok({ auth_token: authToken, ...(await withBalances(needs, account)) });
  },
});

const listAccounts = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List main accounts, or the sub-accounts of one',
  query: Type.Object({
    ...sliceQuery,
    parent: Type.Optional(accountIdText()),
    search: Type.Optional(
      Type.String({ maxLength: 100, description: 'part of the name or of the auth ID' }),
    ),
  }),
  reply: Type.Object({ meta: TrunkMetaSchema, accounts: Type.Array(AccountSchema) }),
  async run({ accounts }, { query }) {
    const slice = sliceOf(query);
    const filter = { parentAuthId: query.parent, search: query.search };
    const page = await accounts.list(filter, slice);
    return ok({ meta: trunkMetaOf(page, slice), accounts: page.items.map(showAccount) });
  },
});

const getAccount = adminRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/{auth_id}`,
  summary: 'Get an account with its balances',
  params,
  reply: AccountWithBalancesSchema,
  async run({ accounts, ledger }, { params: { auth_id: authId } }) {
    const account = await accounts.get(authId);
    if (account === undefined) return refused({ kind: 'unknownAccount' });
    return ok(showAccountWithBalances(account, await ledger.balances(authId)));
  },
});

const patchAccount = adminRoute({
  ...common,
  method: 'PATCH',
  path: `${ROOT}/{auth_id}`,
  alsoRefuses: [409],
  summary: 'Update an account. Absent fields stay unchanged, null clears',
  params,
  body: AccountPatchBody,
  reply: AccountWithBalancesSchema,
  async run(needs, { params: { auth_id: authId }, body }) {
    const account = await needs.accounts.get(authId);
    if (account === undefined) return refused({ kind: 'unknownAccount' });
    const wrong =
      notOfSubAccount(account, body) ??
      wrongTimezone(body.timezone) ??
      wrongMask('low_balance_url', body.low_balance_url, account.lowBalanceUrl) ??
      (await wrongDefaultApp(needs, authId, body.default_endpoint_app)) ??
      (await wrongCallerId(
        needs,
        account.parentAuthId ?? authId,
        'default_caller_id',
        body.default_caller_id,
      ));
    if (wrong !== undefined) return err(wrong);
    const terms = balancePatch(body);
    const isEmpty = Object.keys(terms).length === 0;
    const balances = isEmpty ? [] : [{ currency: account.currency, terms }];
    const patched = await needs.accounts.patch(authId, accountPatch(body), balances);
    return patched.ok ? ok(await withBalances(needs, patched.value)) : refused(patched.error);
  },
});

const openBalance = adminRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/{auth_id}/balances`,
  summary: 'Add a balance in another currency',
  status: 201,
  params,
  body: Type.Object({ currency: currencyField() }),
  reply: BalanceSchema,
  async run(needs, { params: { auth_id: authId }, body }) {
    const account = await mainAccount(needs, authId);
    if (!account.ok) return account;
    return answered(await needs.ledger.openBalance(authId, body.currency), showBalance);
  },
});

const patchBalance = adminRoute({
  ...common,
  method: 'PATCH',
  path: `${ROOT}/{auth_id}/balances/{currency}`,
  summary: 'Update the credit terms and alert threshold of a balance',
  params: Type.Object({ auth_id: accountIdText(), currency: Type.String() }),
  body: BalancePatchBody,
  reply: BalanceSchema,
  run: async ({ ledger }, { params: { auth_id: authId, currency }, body }) =>
    answered(await ledger.patchBalance(authId, currency, balancePatch(body)), showBalance),
});

const CreditBody = Type.Object({
  amount: hinted(
    Type.Number({ minimum: -AMOUNT_MAX, maximum: AMOUNT_MAX }),
    'must be a number of currency units',
  ),
  currency: currencyField(),
  description: Type.String({ minLength: 1, maxLength: 500 }),
  reference_type: Type.Optional(Type.String({ pattern: '^[a-z_]{1,40}$' })),
  promotional: Type.Optional(flag()),
  key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The same key never books twice; with another body it is refused with 409.',
    }),
  ),
});

/** Returns the description of a credit for the audit log. */
const creditDetail = ({ amount, currency, description }: Static<typeof CreditBody>): string =>
  `${amount < 0 ? 'debit' : 'credit'} ${Math.abs(amount)} ${currency}: ${description}`;

const credit = adminRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/{auth_id}/credit`,
  alsoRefuses: [409],
  summary: 'Credit an account, or debit it with a negative amount',
  status: 201,
  params,
  body: CreditBody,
  reply: Type.Object({ transaction: TransactionSchema, balance: BalanceSchema }),
  auditDetail: (body) => creditDetail(body as Static<typeof CreditBody>),
  async run(needs, { params: { auth_id: authId }, body }) {
    const account = await mainAccount(needs, authId);
    if (!account.ok) return account;
    const { ledger } = needs;
    const amount = amountOf(body.amount);
    if (amount === 0) return err(invalidField('amount', 'must not be zero'));
    const entry = await ledger.adjust({
      accountId: authId,
      currency: body.currency,
      amount,
      description: body.description,
      referenceType: body.reference_type,
      promotional: body.promotional,
      key: body.key,
    });
    if (!entry.ok) return refused(entry.error);
    return answered(await ledger.balance(authId, body.currency), (balance) => ({
      transaction: showEntry(entry.value),
      balance: showBalance(balance),
    }));
  },
});

const rotateToken = adminRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/{auth_id}/token`,
  credential: true,
  summary: 'Create a new token. The old one stays valid for the overlap',
  status: 201,
  params,
  body: Type.Object({
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: OVERLAP_MAX, default: OVERLAP_DEFAULT }),
    ),
  }),
  reply: Type.Object({
    auth_id: accountIdText(),
    auth_token: Type.String(),
    overlap_seconds: Type.Integer(),
  }),
  async run({ accounts }, { params: { auth_id: authId }, body }) {
    const overlap = body.overlap_seconds ?? OVERLAP_DEFAULT;
    return answered(await accounts.rotateToken(authId, overlap * 1000), ({ authToken }) => ({
      auth_id: authId,
      auth_token: authToken,
      overlap_seconds: overlap,
    }));
  },
});

const CallerIdSchema = Type.Object({ number: Type.String() });

const verifyCallerId = adminRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/{auth_id}/caller-ids`,
  summary: 'Add a verified caller ID to the account',
  status: 201,
  params,
  body: Type.Object({ number: e164Field() }),
  reply: CallerIdSchema,
  async run(needs, { params: { auth_id: authId }, body }) {
    const account = await mainAccount(needs, authId);
    if (!account.ok) return account;
    const added = await needs.provisioning.callerIds.verify(authId, body.number.replace('+', ''));
    return ok({ number: added.e164 });
  },
});

const listCallerIds = adminRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/{auth_id}/caller-ids`,
  alsoRefuses: [409],
  summary: 'List verified caller IDs',
  params,
  reply: Type.Object({ caller_ids: Type.Array(CallerIdSchema) }),
  async run(needs, { params: { auth_id: authId } }) {
    const account = await mainAccount(needs, authId);
    if (!account.ok) return account;
    const callerIds = await needs.provisioning.callerIds.list(authId);
    return ok({ caller_ids: callerIds.map(({ e164 }) => ({ number: e164 })) });
  },
});

const removeCallerId = adminRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{auth_id}/caller-ids/{number}`,
  summary: 'Delete a verified caller ID',
  status: 204,
  params: Type.Object({ auth_id: accountIdText(), number: Type.String() }),
  async run({ provisioning }, { params: { auth_id: authId, number } }) {
    const removed = await provisioning.callerIds.remove(authId, number.replace('+', ''));
    return removed ? ok(undefined) : refused({ kind: 'unknownNumber' });
  },
});

export const adminAccountRoutes: readonly Route[] = [
  createAccount,
  listAccounts,
  getAccount,
  patchAccount,
  openBalance,
  patchBalance,
  credit,
  rotateToken,
  verifyCallerId,
  listCallerIds,
  removeCallerId,
];
