import { ok } from '../../../../base/result.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import {
  DoNotCallAdded,
  DoNotCallBody,
  DoNotCallList,
  DoNotCallQuery,
  digitsOf,
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
    summary: 'Numbers that no campaign of the account calls, from the next call on',
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
    summary: 'Numbers that no campaign of the account calls, in their order',
    params: accountParams,
    query: DoNotCallQuery,
    reply: DoNotCallList,
    async run({ campaigns }, { accountId, query }) {
      const search = digitsOf(query.search);
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
    summary: 'A number may be called again',
    status: 204,
    params: Type.Object({ auth_id: accountIdText(), number: Type.String({ maxLength: 32 }) }),
    run: async ({ campaigns }, { accountId, params }) =>
      answered(await campaigns.removeDoNotCall(accountId, params.number), () => undefined),
  });

export const doNotCallRoutes: readonly Route[] = ACCOUNTS.flatMap((account) => {
  const root = `${account}/do-not-call`;
  return [addNumbers(root), listNumbers(root), removeNumber(root)];
});
