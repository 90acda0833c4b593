import type { AccountId } from '../../../../base/ids.ts';
import { ok, type Result } from '../../../../base/result.ts';
import type { NumberFilter } from '../../../../domain/provisioning/needs.ts';
import type { NumberRefusal } from '../../../../domain/provisioning/provisioning.ts';
import type { PhoneNumber } from '../../../../domain/provisioning/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { invalidField } from '../../http/failure.ts';
import { type AccountInput, accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  appIdField,
  flag,
  nullableText,
  Type,
  trunkIdText,
} from '../../http/schema.ts';
import { currencyField, e164Digits, e164Field, searchedNumber } from '../../http/values.ts';
import { answered, refused } from '../../refusal.ts';
import { pageQuery, pageSlice } from '../../wire/list.ts';
import { NumberSchema, ReleaseSchema, showNumber, showRelease } from '../../wire/number.ts';
import { subAccountFor } from './scope.ts';

const PER_PAGE_DEFAULT = 25;
const PER_PAGE_MAX = 100;
const ACCOUNT = '/api/v1/Account/{auth_id}';
const ONE = `${ACCOUNT}/numbers/{e164_number}`;
/** Path in lower case, as in the service that defined this dialect (dialect §3.8). */
const ONE_LOWERCASE = '/api/v1/account/{auth_id}/numbers/{e164_number}';
const common = { tag: 'Numbers', errors: 'plain', mainAccountOnly: true } as const;
const accountParams = Type.Object({ auth_id: accountIdText() });
const params = Type.Object({
  auth_id: accountIdText(),
  e164_number: Type.String({ description: 'E.164, + written as %2B' }),
});

const listReply = Type.Object({
  items: Type.Array(NumberSchema),
  page: Type.Integer(),
  per_page: Type.Integer(),
  total: Type.Integer(),
});
const paging = pageQuery(PER_PAGE_DEFAULT, PER_PAGE_MAX);

async function listed(
  { provisioning }: RouteNeeds,
  filter: NumberFilter,
  query: { readonly page?: number; readonly per_page?: number },
) {
  const slice = pageSlice(query, PER_PAGE_DEFAULT);
  const { items, total } = await provisioning.numbers.list(filter, slice);
  return ok({ items: items.map(showNumber), page: slice.page, per_page: slice.limit, total });
}

type NumberInput = AccountInput<{ readonly e164_number: string }>;

/** Runs an operation on the number in the path. Text that is not an E.164 number counts as unknown. */
const onNumber = async (
  { accountId, params: path }: NumberInput,
  operation: (e164: string, accountId: AccountId) => Promise<Result<PhoneNumber, NumberRefusal>>,
) => {
  const e164 = e164Digits(path.e164_number);
  return e164 === undefined
    ? ({ ok: false, error: { kind: 'unknownNumber' } } as const)
    : operation(e164, accountId);
};

const nothing = (): undefined => undefined;

type Numbers = RouteNeeds['provisioning']['numbers'];

/** Handler that runs an operation on the number in the path and shows its result. */
const runOnNumber =
  <Shown>(
    operation: (
      numbers: Numbers,
      e164: string,
      accountId: AccountId,
    ) => Promise<Result<PhoneNumber, NumberRefusal>>,
    show: (number: PhoneNumber, accountId: AccountId) => Shown,
  ) =>
  async ({ provisioning: { numbers } }: RouteNeeds, input: NumberInput) =>
    answered(
      await onNumber(input, (e164, accountId) => operation(numbers, e164, accountId)),
      (number) => show(number, input.accountId),
    );

const listNumbers = accountRoute({
  ...common,
  method: 'GET',
  path: `${ACCOUNT}/numbers`,
  summary: 'List the numbers of the account',
  params: accountParams,
  query: Type.Object({ ...paging, search: Type.Optional(Type.String()) }),
  reply: listReply,
  run: (needs, { accountId, query }) =>
    listed(needs, { accountId, search: searchedNumber(query.search) }, query),
});

const listInventory = accountRoute({
  ...common,
  method: 'GET',
  path: `${ACCOUNT}/inventory/numbers`,
  summary: 'List the numbers that can be bought',
  params: accountParams,
  query: Type.Object({
    ...paging,
    country: Type.Optional(Type.String()),
    search: Type.Optional(Type.String()),
  }),
  reply: listReply,
  run: (needs, { query }) =>
    listed(
      needs,
      {
        status: 'available',
        country: query.country?.toUpperCase(),
        search: searchedNumber(query.search),
      },
      query,
    ),
});

const getNumber = accountRoute({
  ...common,
  method: 'GET',
  path: ONE,
  summary: 'Get a number of the account',
  params,
  reply: NumberSchema,
  run: runOnNumber((numbers, e164, accountId) => numbers.get(e164, accountId), showNumber),
});

const purchaseNumber = accountRoute({
  ...common,
  method: 'POST',
  path: `${ACCOUNT}/numbers/purchase-from-inventory`,
  alsoRefuses: [402],
  summary: 'Buy a number. 402 if the available balance is too low',
  status: 201,
  params: accountParams,
  body: Type.Object({ e164: e164Field(), currency: Type.Optional(currencyField()) }),
  reply: NumberSchema,
  run: async ({ provisioning }, { accountId, access, body }) =>
    answered(
      await provisioning.numbers.purchase(
        body.e164.replace('+', ''),
        accountId,
        body.currency ?? access.owner.currency,
      ),
      showNumber,
    ),
});

const releaseNumber = accountRoute({
  ...common,
  method: 'DELETE',
  path: ONE,
  summary: 'Release a number. This can be undone until its cooldown ends',
  params,
  reply: ReleaseSchema,
  run: runOnNumber((numbers, e164, accountId) => numbers.release(e164, accountId), showRelease),
});

const cancelRelease = (path: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: `${path}/cancel-release`,
    summary: 'Undo the release of a number during its cooldown',
    params,
    reply: NumberSchema,
    run: runOnNumber(
      (numbers, e164, accountId) => numbers.cancelRelease(e164, accountId),
      showNumber,
    ),
  });

const attachApplication = accountRoute({
  ...common,
  method: 'POST',
  path: `${ONE}/application`,
  summary: 'Attach an application to a number, for its inbound calls',
  status: 204,
  params,
  body: Type.Object({ application_id: appIdField() }),
  run: async ({ provisioning }, input) =>
    answered(
      await onNumber(input, (e164, accountId) =>
        provisioning.numbers.attachApplication(accountId, e164, input.body.application_id),
      ),
      nothing,
      {
        unknownApplication: invalidField('application_id', 'is not an application of this account'),
      },
    ),
});

const assignTrunk = accountRoute({
  ...common,
  method: 'POST',
  path: `${ONE}/assign`,
  summary: 'Attach a number to an inbound trunk',
  status: 204,
  params,
  body: Type.Object({ trunk_group_id: trunkIdText({ minLength: 1 }) }),
  run: async ({ provisioning }, input) =>
    answered(
      await onNumber(input, (e164, accountId) =>
        provisioning.numbers.assignTrunk(accountId, e164, input.body.trunk_group_id),
      ),
      nothing,
      { unknownTrunk: invalidField('trunk_group_id', 'is not a trunk of this account') },
    ),
});

const detach = (from: 'application' | 'trunk', word: string): Route =>
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${ONE}/${word}`,
    summary: `Detach a number from its ${from}`,
    status: 204,
    params,
    run: runOnNumber((numbers, e164, accountId) => numbers.detach(accountId, e164, from), nothing),
  });

const assignSubAccount = (path: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: `${path}/assign-subaccount`,
    summary: 'Assign a number to a sub-account, or unassign it with an empty ID',
    status: 204,
    params,
    body: Type.Object({ sub_account_id: accountIdText() }),
    async run(needs, input) {
      const subAccount = await subAccountFor(needs, input, input.body.sub_account_id);
      if (!subAccount.ok) return subAccount;
      const assigned = await onNumber(input, (e164, accountId) =>
        needs.provisioning.numbers.assignSubAccount(accountId, e164, subAccount.value),
      );
      return answered(assigned, nothing);
    },
  });

const leaveSubAccount = (path: string): Route =>
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${path}/assign-subaccount`,
    summary: 'Unassign a number from its sub-account',
    status: 204,
    params,
    // Sent by Vobiz libraries and ignored, because a release needs no force here.
    query: Type.Object({ force: Type.Optional(flag()) }),
    run: runOnNumber(
      (numbers, e164, accountId) => numbers.assignSubAccount(accountId, e164, undefined),
      nothing,
    ),
  });

const health = (path: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${path}/health`,
    summary: 'Check whether calls to the number reach an application or trunk',
    params,
    reply: Type.Object({ e164: Type.String(), healthy: Type.Boolean(), reason: nullableText() }),
    async run({ provisioning }, input) {
      const found = await onNumber(input, (e164, id) => provisioning.numbers.get(e164, id));
      if (!found.ok) return refused(found.error);
      const { e164, applicationId, trunkGroupId } = found.value;
      const healthy = applicationId !== undefined || trunkGroupId !== undefined;
      return ok({
        e164: `+${e164}`,
        healthy,
        reason: healthy ? null : 'not attached to an application or a trunk',
      });
    },
  });

export const numberRoutes: readonly Route[] = [
  listNumbers,
  listInventory,
  getNumber,
  purchaseNumber,
  releaseNumber,
  attachApplication,
  assignTrunk,
  detach('application', 'application'),
  detach('trunk', 'assign'),
  ...[ONE, ONE_LOWERCASE].flatMap((one) => [
    cancelRelease(one),
    assignSubAccount(one),
    leaveSubAccount(one),
    health(one),
  ]),
];
