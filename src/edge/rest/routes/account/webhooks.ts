/** Latest requests of the service to the URLs of an account. */
import { ok } from '../../../../base/result.ts';
import { isoMicros } from '../../../../base/time-format.ts';
import type { Delivery } from '../../../../domain/callback/types.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  callUuidOf,
  callUuidText,
  httpMethod,
  httpUrl,
  nullableInteger,
  nullableText,
  oneOf,
  type Static,
  sliceQuery,
  Type,
  timestamp,
} from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { sliceOf } from '../../wire/list.ts';

const ROOT = '/api/v1/Account/{auth_id}/webhooks';
const common = { tag: 'Webhooks', errors: 'resource' } as const;
const accountParams = Type.Object({ auth_id: accountIdText() });
const params = Type.Object({ auth_id: accountIdText(), delivery_id: Type.String() });

const listed = {
  id: Type.String(),
  at: timestamp(),
  event: Type.String(),
  method: Type.String(),
  url: Type.String(),
  status: nullableInteger(),
  error: nullableText(),
  duration_ms: Type.Number(),
  call_uuid: nullableText(),
  replay_of: nullableText(),
};
const ListedSchema = Type.Object(listed);
const DeliverySchema = Type.Object({
  ...listed,
  request_body: Type.String({ description: 'at most 16 KiB' }),
  response_body: Type.String({ description: 'at most 16 KiB' }),
  signed_string: Type.String({ description: 'text that was signed' }),
});

const showListed = ({
  id,
  atUs,
  attempt,
  callUuid,
  replayOf,
}: Delivery): Static<typeof ListedSchema> => ({
  id,
  at: isoMicros(atUs),
  event: attempt.event,
  method: attempt.method,
  url: attempt.url,
  status: attempt.status ?? null,
  error: attempt.error ?? null,
  duration_ms: Math.round(attempt.durationMs * 10) / 10,
  call_uuid: callUuid ?? null,
  replay_of: replayOf ?? null,
});

const showDelivery = (delivery: Delivery): Static<typeof DeliverySchema> => ({
  ...showListed(delivery),
  request_body: delivery.requestBody,
  response_body: delivery.responseBody,
  signed_string: delivery.attempt.signedString,
});

const list = accountRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary:
    'List the latest requests to the URLs of the account, latest first. Up to 500 are kept for 7 days',
  params: accountParams,
  query: Type.Object({
    ...sliceQuery,
    outcome: Type.Optional(oneOf(['delivered', 'failed'])),
    event: Type.Optional(Type.String({ maxLength: 64 })),
    call_uuid: Type.Optional(callUuidText()),
    search: Type.Optional(
      Type.String({ maxLength: 256, description: 'part of the URL, or a call UUID' }),
    ),
  }),
  reply: Type.Object({
    objects: Type.Array(ListedSchema),
    total: Type.Integer(),
    summary: Type.Object({
      deliveries: Type.Integer(),
      failed: Type.Integer(),
      median_ms: Type.Integer(),
      p95_ms: Type.Integer(),
      pending: Type.Integer({ description: 'stored notifications that are retried' }),
    }),
  }),
  async run({ deliveries }, { access, query }) {
    const { authId } = access.account;
    const filter = {
      callUuid: query.call_uuid && callUuidOf(query.call_uuid),
      event: query.event,
      isDelivered: query.outcome === undefined ? undefined : query.outcome === 'delivered',
      search: query.search,
    };
    const found = await deliveries.list(authId, filter, sliceOf(query));
    const { medianMs, p95Ms, ...counts } = await deliveries.summary(authId);
    return ok({
      objects: found.items.map(showListed),
      total: found.total,
      summary: { ...counts, median_ms: medianMs, p95_ms: p95Ms },
    });
  },
});

const get = accountRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/{delivery_id}`,
  summary: 'Get a request with its bodies and the signed text',
  params,
  reply: DeliverySchema,
  run: async ({ deliveries }, { access, params: { delivery_id: id } }) =>
    answered(await deliveries.get(access.account.authId, id), showDelivery),
});

const replay = accountRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/{delivery_id}/replay`,
  summary: 'Send the same request again with a new signature. It has no effect on the call',
  longRunning: true,
  params,
  body: Type.Object({}),
  reply: DeliverySchema,
  run: async ({ deliveries }, { access, params: { delivery_id: id } }) =>
    answered(await deliveries.replay(access.account.authId, id), showDelivery),
});

const test = accountRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/test`,
  summary: 'Send a signed test request to a URL, and get the answer',
  longRunning: true,
  params: accountParams,
  body: Type.Object({ url: httpUrl(), method: Type.Optional(httpMethod()) }),
  reply: DeliverySchema,
  run: async ({ deliveries }, { access, body }) =>
    ok(showDelivery(await deliveries.test(access.account.authId, body.url, body.method ?? 'POST'))),
});

export const webhookRoutes: readonly Route[] = [list, get, replay, test];
