/** Multi-party calls (dialect §2.1 MultiPartyCall): rooms of agents, customers and supervisors, named `uuid_…` or `name_…`. */
import { ok, type Result } from '../../../../base/result.ts';
import type { Conference } from '../../../../domain/dispatch/types.ts';
import type { Failure } from '../../http/failure.ts';
import { type Range, timeRangeOf, timeRangeQuery } from '../../http/range.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { apiId, oneOf, type Static, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { MetaSchema, metaOf } from '../../wire/list.ts';
import {
  accountParams,
  anyMpc,
  common,
  MPC_ONE,
  MPC_ROOT,
  MpcSchema,
  NOT_FOUND,
  params,
  showMpc,
  statusOf,
} from '../../wire/multi-party.ts';

const filters = {
  friendly_name: Type.Optional(Type.String()),
  status: Type.Optional(oneOf(['initialized', 'active', 'ended'])),
  termination_cause_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999 })),
  ...timeRangeQuery('end_time'),
  ...timeRangeQuery('creation_time'),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
};
const FilterQuery = Type.Object(filters);

/** Returns a function that applies the filters. A time that is not set yet matches no range. */
function matcherOf(
  query: Static<typeof FilterQuery>,
): Result<(mpc: Conference) => boolean, Failure> {
  const ended = timeRangeOf(query, 'end_time');
  if (!ended.ok) return ended;
  const created = timeRangeOf(query, 'creation_time');
  if (!created.ok) return created;
  const { friendly_name: name, status, termination_cause_code: code } = query;
  return ok(
    (mpc) =>
      (name === undefined || mpc.name === name) &&
      (status === undefined || statusOf(mpc).toLowerCase() === status) &&
      (code === undefined || showMpc(mpc, '').termination_cause_code === code) &&
      isWithin(ended.value, mpc.party?.endedUs) &&
      isWithin(created.value, mpc.party?.createdUs),
  );
}

function isWithin({ from, to }: Range, us: number | undefined): boolean {
  if (from === undefined && to === undefined) return true;
  return us !== undefined && us >= (from ?? us) && us <= (to ?? us);
}

export const multiPartyRoutes: readonly Route[] = [
  accountRoute({
    ...common,
    method: 'GET',
    path: MPC_ROOT,
    summary:
      'List multi-party calls: running ones, then those that ended in the last week, latest first',
    params: accountParams,
    query: Type.Object(filters),
    reply: Type.Object({ api_id: apiId(), meta: MetaSchema, objects: Type.Array(MpcSchema) }),
    async run({ control }, { accountId, query, apiId: id }) {
      const matching = matcherOf(query);
      if (!matching.ok) return matching;
      const all = [
        ...(await control.multiPartyCalls(accountId)),
        ...(await control.endedMultiPartyCalls(accountId)),
      ];
      const found = all.filter(matching.value);
      const slice = { limit: query.limit ?? 20, offset: query.offset ?? 0 };
      const items = found.slice(slice.offset, slice.offset + slice.limit);
      const resource = `/v1/Account/${accountId}/MultiPartyCall/`;
      const meta = metaOf({ items, total: found.length }, slice, resource, query);
      return ok({ api_id: id, meta, objects: items.map((mpc) => showMpc(mpc, accountId)) });
    },
  }),
  accountRoute({
    ...common,
    method: 'GET',
    path: MPC_ONE,
    summary: 'Get a running or ended multi-party call',
    params,
    reply: Type.Object({ api_id: apiId(), ...MpcSchema.properties }),
    async run({ control }, { accountId, params: path, apiId: id }) {
      const mpc = await anyMpc(control, accountId, path.mpc_id);
      return mpc === undefined
        ? refused(NOT_FOUND)
        : ok({ api_id: id, ...showMpc(mpc, accountId) });
    },
  }),
  accountRoute({
    ...common,
    method: 'POST',
    path: MPC_ONE,
    summary: 'Start a multi-party call, regardless of its participants',
    params,
    // plivo-python sends a list.
    body: Type.Object({
      status: Type.Union([oneOf(['active']), Type.Array(oneOf(['active']), { minItems: 1 })]),
    }),
    reply: Type.Object({ api_id: apiId(), message: Type.String() }),
    async run({ control }, { accountId, params: path, apiId: id }) {
      const done = await control.changeMultiPartyCall(accountId, path.mpc_id, { kind: 'begin' });
      return answered(done, () => ({ api_id: id, message: 'MPC: started' }));
    },
  }),
  accountRoute({
    ...common,
    method: 'DELETE',
    path: MPC_ONE,
    summary: 'End a multi-party call and the calls in it',
    status: 204,
    params,
    run: async ({ control }, { accountId, params: path }) =>
      answered(
        await control.changeMultiPartyCall(accountId, path.mpc_id, { kind: 'end' }),
        () => undefined,
      ),
  }),
];
