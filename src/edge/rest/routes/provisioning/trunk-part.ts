import type { AccountId } from '../../../../base/ids.ts';
import type { Page, Slice } from '../../../../base/page.ts';
import { ok, type Result } from '../../../../base/result.ts';
import type { Trunks } from '../../../../domain/provisioning/provisioning.ts';
import type { Failure } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, type Static, sliceQuery, type TSchema, Type } from '../../http/schema.ts';
import { answered, type Refusal } from '../../refusal.ts';
import { sliceOf, TrunkMetaSchema, trunkMetaOf } from '../../wire/list.ts';

/** Only main accounts have trunk parts. */
export const partCommon = { tag: 'Trunks', errors: 'plain', mainAccountOnly: true } as const;
export const accountParams = Type.Object({ auth_id: accountIdText() });
const partParams = Type.Object({ auth_id: accountIdText(), id: Type.String() });

/** The four operations that every kind of part has in addition to creation. */
interface PartOperations<T, Patch> {
  get(trunks: Trunks, accountId: AccountId, id: string): Promise<Result<T, Refusal>>;
  list(trunks: Trunks, accountId: AccountId, slice: Slice): Promise<Page<T>>;
  patch(
    trunks: Trunks,
    accountId: AccountId,
    id: string,
    patch: Patch,
  ): Promise<Result<T, Refusal>>;
  remove(trunks: Trunks, accountId: AccountId, id: string): Promise<Result<void, Refusal>>;
}

interface PartKind<T, B extends TSchema, R extends TSchema, Patch> {
  readonly noun: string;
  /** Path segment: the collection is at `…/{kind}` and is also listed at `…/trunks/{kind}` (dialect §3.9). */
  readonly kind: string;
  readonly body: B;
  readonly reply: R;
  readonly show: (part: T) => Static<R>;
  readonly check: (body: Static<B>) => Result<Patch, Failure>;
  readonly operations: PartOperations<T, Patch>;
}

/** Creates all routes except creation, whose body differs most between the kinds. */
export function partRoutes<T, B extends TSchema, R extends TSchema, Patch>(
  part: PartKind<T, B, R, Patch>,
): readonly Route[] {
  const root = `/api/v1/Account/{auth_id}/${part.kind}`;
  const { operations, noun } = part;
  const one = { ...partCommon, path: `${root}/{id}`, params: partParams } as const;
  return [
    listRoute(part, root),
    listRoute(part, `/api/v1/Account/{auth_id}/trunks/${part.kind}`),
    accountRoute({
      ...one,
      method: 'GET',
      summary: `Get one ${noun}`,
      reply: part.reply as TSchema,
      run: async ({ provisioning }, { accountId, params }) =>
        answered(await operations.get(provisioning.trunks, accountId, params.id), part.show),
    }),
    accountRoute({
      ...one,
      method: 'PUT',
      summary: `Update one ${noun}`,
      body: part.body as TSchema,
      reply: part.reply as TSchema,
      async run({ provisioning: { trunks } }, { accountId, params, body }) {
        const patch = part.check(body as Static<B>);
        if (!patch.ok) return patch;
        return answered(
          await operations.patch(trunks, accountId, params.id, patch.value),
          part.show,
        );
      },
    }),
    accountRoute({
      ...one,
      method: 'DELETE',
      alsoRefuses: [409],
      summary: `Delete one ${noun}. Refused while a trunk uses it`,
      status: 204,
      run: async ({ provisioning }, { accountId, params }) =>
        answered(
          await operations.remove(provisioning.trunks, accountId, params.id),
          () => undefined,
        ),
    }),
  ];
}

function listRoute<T, B extends TSchema, R extends TSchema, Patch>(
  { noun, reply, show, operations }: PartKind<T, B, R, Patch>,
  path: string,
): Route {
  return accountRoute({
    ...partCommon,
    method: 'GET',
    path,
    summary: `List ${noun}s`,
    params: accountParams,
    query: Type.Object(sliceQuery),
    reply: Type.Object({ meta: TrunkMetaSchema, objects: Type.Array(reply) }) as TSchema,
    async run({ provisioning }, { accountId, query }) {
      const slice = sliceOf(query);
      const page = await operations.list(provisioning.trunks, accountId, slice);
      return ok({ meta: trunkMetaOf(page, slice), objects: page.items.map(show) });
    },
  });
}
