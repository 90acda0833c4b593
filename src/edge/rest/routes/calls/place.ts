import { err } from '../../../../base/result.ts';
import { IDEMPOTENCY_KEY, WRONG_KEY } from '../../http/once.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, apiId, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { MakeCallBody, placeCallsRequest } from '../../wire/make-call.ts';

/** `POST …/Call/`; 200 means accepted and queued, not answered. */
export const placeCallRoute: Route = accountRoute({
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/Call/',
  tag: 'Calls',
  summary: 'Place calls to 1 to 1000 destinations',
  errors: 'resource',
  unknownAccountStatus: 404,
  ownKeys: true,
  alsoRefuses: [402],
  params: Type.Object({ auth_id: accountIdText() }),
  body: MakeCallBody,
  reply: Type.Object({ api_id: apiId(), request_uuid: Type.String(), message: Type.String() }),
  successStatus: (settings) => settings.makeCallStatus,
  async run({ control }, { accountId, subAccount, body, headers, apiId: id }) {
    const key = headers['idempotency-key'];
    const idempotencyKey = typeof key === 'string' ? key : undefined;
    if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
      return err(WRONG_KEY);
    }
    const request = placeCallsRequest(body, { accountId, subAccount, idempotencyKey });
    if (!request.ok) return request;
    return answered(await control.placeCalls(request.value), ({ requestUuid }) => ({
      api_id: id,
      request_uuid: requestUuid,
      message: 'Call fired',
    }));
  },
});
