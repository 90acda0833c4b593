/** Multi-party calls (dialect §2.1 MultiPartyCall): rooms of agents, customers and supervisors, by `uuid_…` or `name_…`. */
import { ok } from '../../../../base/result.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { apiId, httpMethod, oneOf, optionalHttpUrl, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import {
  accountParams,
  common,
  findMpc,
  MPC_ONE,
  MPC_ROOT,
  MpcSchema,
  NOT_FOUND,
  params,
  showMpc,
} from '../../wire/multi-party.ts';
import { RecordReply } from './actions.ts';

export const multiPartyRoutes: readonly Route[] = [
  accountRoute({
    ...common,
    method: 'GET',
    path: MPC_ROOT,
    summary: 'Multi-party calls that run',
    params: accountParams,
    query: Type.Object({
      friendly_name: Type.Optional(Type.String()),
      status: Type.Optional(oneOf(['initialized', 'active', 'ended'])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    reply: Type.Object({ api_id: apiId(), objects: Type.Array(MpcSchema) }),
    async run({ control }, { accountId, query, apiId: id }) {
      const { friendly_name: name, status, limit = 20, offset = 0 } = query;
      const shown = (await control.multiPartyCalls(accountId))
        .map((mpc) => showMpc(mpc, accountId))
        .filter((mpc) => name === undefined || mpc.friendly_name === name)
        .filter((mpc) => status === undefined || mpc.status === status);
      return ok({ api_id: id, objects: shown.slice(offset, offset + limit) });
    },
  }),
  accountRoute({
    ...common,
    method: 'GET',
    path: MPC_ONE,
    summary: 'A multi-party call',
    params,
    reply: Type.Object({ api_id: apiId(), ...MpcSchema.properties }),
    async run({ control }, { accountId, params: path, apiId: id }) {
      const mpc = findMpc(await control.multiPartyCalls(accountId), path.mpc_id);
      return mpc === undefined
        ? refused(NOT_FOUND)
        : ok({ api_id: id, ...showMpc(mpc, accountId) });
    },
  }),
  accountRoute({
    ...common,
    method: 'POST',
    path: MPC_ONE,
    summary: 'Begin a multi-party call, whoever is there',
    params,
    body: Type.Object({ status: oneOf(['active']) }),
    reply: Type.Object({ api_id: apiId(), message: Type.String() }),
    async run({ control }, { accountId, params: path, apiId: id }) {
      const done = await control.changeMultiPartyCall(accountId, path.mpc_id, { kind: 'begin' });
      return answered(done, () => ({ api_id: id, message: 'MPC: active initiated' }));
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
  accountRoute({
    ...common,
    method: 'POST',
    path: `${MPC_ONE}Record/`,
    summary: 'Record a multi-party call',
    status: 202,
    params,
    body: Type.Object({
      file_format: Type.Optional(oneOf(['mp3', 'wav'], { default: 'mp3' })),
      recording_callback_url: Type.Optional(optionalHttpUrl()),
      recording_callback_method: Type.Optional(httpMethod()),
    }),
    reply: RecordReply,
    async run({ control }, { accountId, params: path, body, apiId: id }) {
      const started = await control.recordMultiPartyCall(accountId, path.mpc_id, {
        maxMs: 86_400_000,
        format: body.file_format ?? 'mp3',
        channels: 'mono',
        callback: callbackTarget(body.recording_callback_url, body.recording_callback_method),
      });
      return answered(started, ({ recordingId, url }) => ({
        api_id: id,
        message: 'MPC: recording started',
        recording_id: recordingId,
        url,
      }));
    },
  }),
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${MPC_ONE}Record/`,
    summary: 'Stop recording a multi-party call',
    status: 204,
    params,
    run: async ({ control }, { accountId, params: path }) =>
      answered(
        await control.changeMultiPartyCall(accountId, path.mpc_id, { kind: 'stopRecording' }),
        () => undefined,
      ),
  }),
];
