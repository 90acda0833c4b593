import { unitsFromMicros } from '../../../base/money.ts';
import { ok } from '../../../base/result.ts';
import type { CarrierChoice } from '../../../domain/dispatch/types.ts';
import { adminRoute, type Route } from '../http/route.ts';
import {
  accountIdText,
  nullableInteger,
  nullableNumber,
  nullableText,
  type Static,
  Type,
} from '../http/schema.ts';
import { refused } from '../refusal.ts';

const ChoiceSchema = Type.Object({
  carrier: Type.String(),
  rank: nullableInteger(),
  why: nullableText(),
  prefix: nullableText(),
  priority: Type.Integer(),
  cost: nullableNumber(),
  weight: nullableInteger(),
  number: Type.String({ description: 'number in the request URI' }),
});

const showChoice = (choice: CarrierChoice): Static<typeof ChoiceSchema> => ({
  carrier: choice.name,
  rank: choice.rank ?? null,
  why: choice.why ?? null,
  prefix: choice.prefix ?? null,
  priority: choice.priority,
  cost: choice.cost ?? null,
  weight: choice.weight ?? null,
  number: choice.number,
});

const testRoute = adminRoute({
  tag: 'Operator: carriers',
  errors: 'admin',
  method: 'GET',
  path: '/admin/v1/routes',
  summary: 'Test the routing of a call to a number, without placing a call',
  query: Type.Object({
    account_id: accountIdText(),
    from: Type.String({ minLength: 1, maxLength: 128 }),
    to: Type.String({ minLength: 1, maxLength: 128 }),
  }),
  reply: Type.Object({
    to: Type.String(),
    country: nullableText(),
    caller_id: nullableText(),
    per_minute: nullableNumber(),
    currency: nullableText(),
    refusal: nullableText(),
    carriers: Type.Array(ChoiceSchema),
  }),
  async run({ control }, { query: { account_id: accountId, from, to } }) {
    const explained = await control.explainRoute({ accountId, from, to });
    if (!explained.ok) return refused(explained.error);
    const { country, callerId, price, refusal, carriers } = explained.value;
    return ok({
      to: explained.value.to,
      country: country ?? null,
      caller_id: callerId ?? null,
      per_minute: price === undefined ? null : unitsFromMicros(price.perMinute),
      currency: price?.currency ?? null,
      refusal: refusal ?? null,
      carriers: carriers.map(showChoice),
    });
  },
});

export const adminRouteRoutes: readonly Route[] = [testRoute];
