import { ok } from '../../../../base/result.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, sliceQuery, Type, trunkIdText } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { sliceOf, TrunkMetaSchema, trunkMetaOf } from '../../wire/list.ts';
import {
  showTrunk,
  TrunkCreateBody,
  TrunkSchema,
  TrunkUpdateBody,
  trunkPatch,
} from '../../wire/trunk.ts';

const ROOT = '/api/v1/Account/{auth_id}/trunks';
const common = { tag: 'Trunks', errors: 'plain', mainAccountOnly: true } as const;
const accountParams = Type.Object({ auth_id: accountIdText() });
const params = Type.Object({ auth_id: accountIdText(), trunk_id: trunkIdText() });

const createTrunk = accountRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  summary: 'Create a trunk',
  status: 201,
  params: accountParams,
  body: TrunkCreateBody,
  reply: TrunkSchema,
  run: async ({ provisioning, settings }, { accountId, body }) =>
    answered(
      await provisioning.trunks.create({ accountId, ...trunkPatch(body), name: body.name }),
      (trunk) => showTrunk(trunk, settings.registrarHost),
    ),
});

const listTrunks = accountRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List trunks',
  params: accountParams,
  query: Type.Object(sliceQuery),
  reply: Type.Object({ meta: TrunkMetaSchema, objects: Type.Array(TrunkSchema) }),
  async run({ provisioning, settings }, { accountId, query }) {
    const slice = sliceOf(query);
    const page = await provisioning.trunks.list(accountId, slice);
    return ok({
      meta: trunkMetaOf(page, slice),
      objects: page.items.map((trunk) => showTrunk(trunk, settings.registrarHost)),
    });
  },
});

const getTrunk = accountRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/{trunk_id}`,
  summary: 'Get a trunk',
  params,
  reply: TrunkSchema,
  run: async ({ provisioning, settings }, { accountId, params: path }) =>
    answered(await provisioning.trunks.get(accountId, path.trunk_id), (trunk) =>
      showTrunk(trunk, settings.registrarHost),
    ),
});

const updateTrunk = accountRoute({
  ...common,
  method: 'PUT',
  path: `${ROOT}/{trunk_id}`,
  summary: 'Update a trunk. Absent fields stay unchanged, null removes a part',
  params,
  body: TrunkUpdateBody,
  reply: TrunkSchema,
  run: async ({ provisioning, settings }, { accountId, params: path, body }) =>
    answered(await provisioning.trunks.patch(accountId, path.trunk_id, trunkPatch(body)), (trunk) =>
      showTrunk(trunk, settings.registrarHost),
    ),
});

const deleteTrunk = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{trunk_id}`,
  alsoRefuses: [409],
  summary: 'Delete a trunk. Refused while numbers are assigned to it',
  status: 204,
  params,
  run: async ({ provisioning }, { accountId, params: path }) =>
    answered(await provisioning.trunks.remove(accountId, path.trunk_id), () => undefined),
});

export const trunkRoutes: readonly Route[] = [
  createTrunk,
  listTrunks,
  getTrunk,
  updateTrunk,
  deleteTrunk,
];
