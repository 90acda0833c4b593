import { err, ok } from '../../../base/result.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import {
  accountIdText,
  hinted,
  oneOf,
  type Static,
  sliceQuery,
  type TSchema,
  Type,
} from '../http/schema.ts';
import { amountField, amountOf, currencyField, e164Field, searchedNumber } from '../http/values.ts';
import { answered } from '../refusal.ts';
import type { NUMBER_COLUMNS } from '../wire/import-columns.ts';
import { defined, sliceOf, TrunkMetaSchema, trunkMetaOf } from '../wire/list.ts';
import { NumberSchema, showNumber } from '../wire/number.ts';
import { wrongOwner } from './reference.ts';

const ROOT = '/admin/v1/numbers';
const common = { tag: 'Operator: numbers', errors: 'admin' } as const;

export const NumberBody = Type.Object({
  e164: e164Field(),
  country: hinted(Type.String({ pattern: '^[A-Za-z]{2}$' }), 'must be a two-letter country code'),
  region: Type.Optional(Type.String({ maxLength: 100 })),
  setup_fee: Type.Optional(amountField()),
  monthly_fee: Type.Optional(amountField()),
  currency: currencyField(),
  carrier: Type.Optional(Type.String({ maxLength: 64 })),
  account_id: Type.Optional(accountIdText()),
} satisfies Record<(typeof NUMBER_COLUMNS)[number], TSchema>);

/** Returns undefined if the owner and carrier exist, otherwise the failure. */
export async function checkNumber(
  needs: RouteNeeds,
  { account_id: owner, carrier }: Static<typeof NumberBody>,
): Promise<Failure | undefined> {
  const wrong = await wrongOwner(needs, owner);
  if (wrong !== undefined || carrier === undefined) return wrong;
  const isKnown = needs.provisioning.carriers.list().some(({ name }) => name === carrier);
  return isKnown ? undefined : invalidField('carrier', 'is not a carrier of this service');
}

export const newNumberOf = (body: Static<typeof NumberBody>) => ({
  e164: body.e164.replace('+', ''),
  country: body.country.toUpperCase(),
  currency: body.currency.toUpperCase(),
  setupFeeMicros: amountOf(body.setup_fee ?? 0),
  monthlyFeeMicros: amountOf(body.monthly_fee ?? 0),
  ...defined({ region: body.region, carrier: body.carrier, accountId: body.account_id }),
});

const addNumber = adminRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  summary: 'Add a number to the inventory, or assign it to an account',
  status: 201,
  body: NumberBody,
  reply: NumberSchema,
  async run(needs, { body }) {
    const wrong = await checkNumber(needs, body);
    if (wrong !== undefined) return err(wrong);
    return answered(await needs.provisioning.numbers.add(newNumberOf(body)), showNumber);
  },
});

const listNumbers = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List all numbers of the service',
  query: Type.Object({
    ...sliceQuery,
    account_id: Type.Optional(accountIdText()),
    status: Type.Optional(
      oneOf(['available', 'active', 'suspended', 'pending_release', 'released', 'blocked']),
    ),
    country: Type.Optional(Type.String()),
    search: Type.Optional(Type.String()),
  }),
  reply: Type.Object({ meta: TrunkMetaSchema, numbers: Type.Array(NumberSchema) }),
  async run({ provisioning }, { query }) {
    const slice = sliceOf(query);
    const filter = {
      accountId: query.account_id,
      status: query.status,
      country: query.country?.toUpperCase(),
      search: searchedNumber(query.search),
    };
    const page = await provisioning.numbers.list(filter, slice);
    return ok({ meta: trunkMetaOf(page, slice), numbers: page.items.map(showNumber) });
  },
});

const removeNumber = adminRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{e164}`,
  alsoRefuses: [409],
  summary: 'Remove a free number from the inventory',
  status: 204,
  params: Type.Object({ e164: Type.String() }),
  run: async ({ provisioning }, { params }) =>
    answered(await provisioning.numbers.remove(params.e164.replace('+', '')), () => undefined),
});

export const adminNumberRoutes: readonly Route[] = [addNumber, listNumbers, removeNumber];
