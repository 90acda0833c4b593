import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, campaignIdText, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import {
  PoolBody,
  PoolNumberBody,
  PoolNumberSchema,
  showPoolNumber,
} from '../../wire/campaign-contact.ts';
import { ACCOUNTS, campaignParams, common, ownerOf } from './scope.ts';

const addNumbers = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: root,
    alsoRefuses: [409],
    summary: 'Add caller numbers to the pool of a campaign',
    status: 201,
    params: campaignParams,
    body: PoolBody,
    reply: Type.Object({ added: Type.Array(PoolNumberSchema) }),
    async run({ campaigns }, input) {
      const numbers = input.body.numbers.map(({ from_number: number, label = '' }) => ({
        number,
        label,
      }));
      return answered(
        await campaigns.addNumbers(ownerOf(input), input.params.campaign_id, numbers),
        (added) => ({ added: added.map(showPoolNumber) }),
      );
    },
  });

const listNumbers = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: root,
    summary: 'List the numbers of the pool and how often each was used',
    params: campaignParams,
    reply: Type.Object({ objects: Type.Array(PoolNumberSchema), total: Type.Integer() }),
    run: async ({ campaigns }, input) =>
      answered(await campaigns.numbers(ownerOf(input), input.params.campaign_id), (numbers) => ({
        objects: numbers.map(showPoolNumber),
        total: numbers.length,
      })),
  });

const numberParams = Type.Object({
  auth_id: accountIdText(),
  campaign_id: campaignIdText(),
  number_id: Type.String(),
});

const updateNumber = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'PUT',
    path: `${root}/{number_id}`,
    alsoRefuses: [409],
    summary:
      'Update a number of the pool. Absent fields stay unchanged; a new number resets the counts',
    params: numberParams,
    body: PoolNumberBody,
    reply: PoolNumberSchema,
    async run({ campaigns }, input) {
      const { from_number: number, label } = input.body;
      const patch = {
        ...(number !== undefined && { number }),
        ...(label !== undefined && { label }),
      };
      const { campaign_id: id, number_id: numberId } = input.params;
      return answered(
        await campaigns.updateNumber(ownerOf(input), id, numberId, patch),
        showPoolNumber,
      );
    },
  });

const removeNumber = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${root}/{number_id}`,
    alsoRefuses: [409],
    summary: 'Remove a number from the pool',
    status: 204,
    params: numberParams,
    async run({ campaigns }, input) {
      const { campaign_id: id, number_id: numberId } = input.params;
      return answered(await campaigns.removeNumber(ownerOf(input), id, numberId), () => undefined);
    },
  });

export const poolRoutes: readonly Route[] = ACCOUNTS.flatMap((account) => {
  const root = `${account}/campaigns/{campaign_id}/pool`;
  return [addNumbers(root), listNumbers(root), updateNumber(root), removeNumber(root)];
});
