import { SECOND_MS, secondsOf } from '../../../base/duration.ts';
import { unitsFromMicros } from '../../../base/money.ts';
import { err, ok } from '../../../base/result.ts';
import { PRICE_TOO_SMALL, roundsToZero } from '../../../domain/ledger/ledger.ts';
import { RATE_DIRECTIONS, type Rate } from '../../../domain/ledger/types.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import {
  accountIdText,
  hinted,
  nullableAccountId,
  nullableText,
  oneOf,
  type Static,
  type TSchema,
  Type,
} from '../http/schema.ts';
import { amountField, amountOf, currencyField } from '../http/values.ts';
import { answered } from '../refusal.ts';
import type { RATE_COLUMNS } from '../wire/import-columns.ts';
import { wrongOwner } from './reference.ts';

const ROOT = '/admin/v1/rates';
const common = { tag: 'Operator: rates', errors: 'admin' } as const;
const PULSE_DEFAULT_S = 60;

type Column = (typeof RATE_COLUMNS)[number];

const RateSchema = Type.Object({
  direction: Type.String(),
  prefix: Type.String(),
  per_minute: Type.Number(),
  pulse_seconds: Type.Integer(),
  currency: Type.String(),
  account_id: nullableText(),
} satisfies Record<Column, TSchema>);

const showRate = (rate: Rate): Static<typeof RateSchema> => ({
  direction: rate.direction,
  prefix: rate.prefix,
  per_minute: unitsFromMicros(rate.perMinute),
  pulse_seconds: secondsOf(rate.pulseMs),
  currency: rate.currency,
  account_id: rate.accountId ?? null,
});

export const RateBody = Type.Object({
  direction: oneOf(RATE_DIRECTIONS),
  prefix: Type.Optional(
    hinted(Type.String({ pattern: '^[0-9]{0,15}$', default: '' }), 'must be up to 15 digits'),
  ),
  per_minute: amountField(),
  pulse_seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3600, default: PULSE_DEFAULT_S }),
  ),
  currency: currencyField(),
  account_id: Type.Optional(nullableAccountId()),
} satisfies Record<Column, TSchema>);

/** Returns undefined if the price is valid and its account exists, otherwise the failure. */
export async function checkRate(
  needs: RouteNeeds,
  { account_id: accountId, per_minute: price }: Static<typeof RateBody>,
): Promise<Failure | undefined> {
  if (roundsToZero(price)) return invalidField('per_minute', PRICE_TOO_SMALL);
  return wrongOwner(needs, accountId ?? undefined);
}

export const rateOf = (body: Static<typeof RateBody>): Rate => ({
  direction: body.direction,
  prefix: body.prefix ?? '',
  perMinute: amountOf(body.per_minute),
  pulseMs: (body.pulse_seconds ?? PULSE_DEFAULT_S) * SECOND_MS,
  currency: body.currency.toUpperCase(),
  accountId: body.account_id ?? undefined,
});

const putRate = adminRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  summary: 'Set a rate. It replaces a rate with the same direction, prefix, currency and account',
  status: 201,
  body: RateBody,
  reply: RateSchema,
  async run(needs, { body }) {
    const wrong = await checkRate(needs, body);
    if (wrong !== undefined) return err(wrong);
    const rate = rateOf(body);
    await needs.ledger.putRate(rate);
    return ok(showRate(rate));
  },
});

const listRates = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List the rates in force, including those in the price list file',
  reply: Type.Object({ rates: Type.Array(RateSchema) }),
  run: ({ ledger }) => ok({ rates: ledger.listRates().map(showRate) }),
});

const removeRate = adminRoute({
  ...common,
  method: 'DELETE',
  path: ROOT,
  alsoRefuses: [409],
  summary: 'Remove a rate. If the price list file has one, it applies again',
  status: 204,
  query: Type.Object({
    direction: oneOf(RATE_DIRECTIONS),
    prefix: Type.Optional(Type.String()),
    currency: currencyField(),
    account_id: Type.Optional(accountIdText()),
  }),
  run: async ({ ledger }, { query }) =>
    answered(
      await ledger.removeRate({
        direction: query.direction,
        prefix: query.prefix ?? '',
        currency: query.currency.toUpperCase(),
        accountId: query.account_id,
      }),
      () => undefined,
    ),
});

export const adminRateRoutes: readonly Route[] = [putRate, listRates, removeRate];
