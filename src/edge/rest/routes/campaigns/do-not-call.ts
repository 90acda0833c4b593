import { ok } from '../../../../base/result.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, Type } from '../../http/schema.ts';
import { searchedNumber } from '../../http/values.ts';
import { answered } from '../../refusal.ts';
import {
  DoNotCallAdded,
  DoNotCallBody,
  DoNotCallList,
  DoNotCallQuery,
  showListed,
} from '../../wire/do-not-call.ts';
import { sliceOf } from '../../wire/list.ts';
import { ACCOUNTS, accountParams, common } from './scope.ts';

const addNumbers = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: root,
    alsoRefuses: [409],
    summary: 'Add numbers that campaigns of the account must not call, starting with the next call',
    status: 201,
    params: accountParams,
    body: DoNotCallBody,
    reply: DoNotCallAdded,
    run: async ({ campaigns }, { accountId, body }) =>
      answered(await campaigns.addDoNotCall(accountId, body.numbers), (added) => ({ added })),
  });

const listNumbers = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: root,
    summary: 'List the numbers that campaigns of the account must not call, in ascending order',
    params: accountParams,
    query: DoNotCallQuery,
    reply: DoNotCallList,
    async run({ campaigns }, { accountId, query }) {
      const search = searchedNumber(query.search);
      const { items, total } = await campaigns.doNotCall(accountId, search, sliceOf(query));
      return ok({ objects: items.map(showListed), total });
    },
  });

const removeNumber = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${root}/{number}`,
    mainAccountOnly: true,
    summary: 'Remove a number from the do-not-call list',
    status: 204,
    params: Type.Object({ auth_id: accountIdText(), number: Type.String({ maxLength: 32 }) }),
    run: async ({ campaigns }, { accountId, params }) =>
      answered(await campaigns.removeDoNotCall(accountId, params.number), () => undefined),
  });

export const doNotCallRoutes: readonly Route[] = ACCOUNTS.flatMap((account) => {
  const root = `${account}/do-not-call`;
  return [addNumbers(root), listNumbers(root), removeNumber(root)];
});
