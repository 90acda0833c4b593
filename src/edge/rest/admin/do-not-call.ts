import { ok } from '../../../base/result.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { searchedNumber } from '../http/values.ts';
import { answered } from '../refusal.ts';
import {
  DoNotCallAdded,
  DoNotCallBody,
  DoNotCallList,
  DoNotCallQuery,
  showListed,
} from '../wire/do-not-call.ts';
import { sliceOf } from '../wire/list.ts';

const ROOT = '/admin/v1/do-not-call';
const common = { tag: 'Operator: campaigns', errors: 'admin' } as const;

const addNumbers = adminRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  alsoRefuses: [409],
  summary: 'Add numbers that campaigns of all accounts must not call, starting with the next call',
  status: 201,
  body: DoNotCallBody,
  reply: DoNotCallAdded,
  run: async ({ campaigns }, { body }) =>
    answered(await campaigns.addDoNotCall('operator', body.numbers), (added) => ({ added })),
});

const listNumbers = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List the numbers that campaigns of all accounts must not call, in ascending order',
  query: DoNotCallQuery,
  reply: DoNotCallList,
  async run({ campaigns }, { query }) {
    const search = searchedNumber(query.search);
    const { items, total } = await campaigns.doNotCall('operator', search, sliceOf(query));
    return ok({ objects: items.map(showListed), total });
  },
});

const removeNumber = adminRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{number}`,
  summary: 'Remove a number from the do-not-call list',
  status: 204,
  params: Type.Object({ number: Type.String({ maxLength: 32 }) }),
  run: async ({ campaigns }, { params }) =>
    answered(await campaigns.removeDoNotCall('operator', params.number), () => undefined),
});

export const adminDoNotCallRoutes: readonly Route[] = [addNumbers, listNumbers, removeNumber];
