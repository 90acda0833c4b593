/** Common code of routes for resources of an account (applications, endpoints). */
import type { AccountId } from '../../../../base/ids.ts';
import type { Result } from '../../../../base/result.ts';
import type { RouteNeeds } from '../../deps.ts';
import type { AccountInput } from '../../http/route.ts';
import { accountIdText, apiId, type TSchema, Type } from '../../http/schema.ts';
import { MetaSchema } from '../../wire/list.ts';
import { visibleTo } from './scope.ts';

/** Returns the paths `…/{kind}/` and `…/{kind}/{id}/` with their parameter schemas. */
export const resourcePaths = <Name extends string, Id extends TSchema>(
  kind: string,
  name: Name,
  id: Id,
) => {
  const collection = `/api/v1/Account/{auth_id}/${kind}/`;
  const auth_id = accountIdText();
  return {
    collection,
    one: `${collection}{${name}}/`,
    collectionParams: Type.Object({ auth_id }),
    oneParams: Type.Object({ auth_id, [name]: id } as { auth_id: typeof auth_id } & Record<
      Name,
      Id
    >),
  };
};

export const listReply = <S extends TSchema>(item: S) =>
  Type.Object({ api_id: apiId(), meta: MetaSchema, objects: Type.Array(item) });

/** Finds a resource that the client may see. */
export const finder =
  <T extends { readonly subAccount: AccountId | undefined }, Id, E>(
    get: (
      provisioning: RouteNeeds['provisioning'],
      accountId: AccountId,
      id: Id,
    ) => Promise<Result<T, E>>,
    unknown: E,
  ) =>
  async (
    { provisioning }: Pick<RouteNeeds, 'provisioning'>,
    { accountId, subAccount }: Pick<AccountInput, 'accountId' | 'subAccount'>,
    id: Id,
  ): Promise<Result<T, E>> =>
    visibleTo(await get(provisioning, accountId, id), subAccount, unknown);
