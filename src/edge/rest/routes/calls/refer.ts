import { err } from '../../../../base/result.ts';
import { referTarget } from '../../../../protocol/answer-xml/answer-xml.ts';
import { invalidField } from '../../http/failure.ts';
import type { Route } from '../../http/route.ts';
import {
  callUuidOf,
  hinted,
  httpMethod,
  messageReply,
  optionalHttpUrl,
  Type,
} from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import { callCommon, callParams, callRoute } from './call-route.ts';

const SECONDS_DEFAULT = 60;
const TARGET = 'must be a SIP URI (sip:user@host) or a telephone number';

const referCall = callRoute({
  ...callCommon,
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/Call/{call_uuid}/Refer/',
  summary: 'Transfer a call with SIP REFER: the carrier or trunk calls the target itself',
  status: 202,
  params: callParams,
  body: Type.Object({
    refer_to: hinted(Type.String({ minLength: 1, maxLength: 512 }), TARGET),
    timeout: Type.Optional(Type.Integer({ minimum: 5, maximum: 180, default: SECONDS_DEFAULT })),
    callback_url: Type.Optional(optionalHttpUrl()),
    callback_method: Type.Optional(httpMethod()),
  }),
  reply: messageReply,
  async run({ control }, { accountId, params, body, apiId: id }) {
    const destination = referTarget(body.refer_to.trim());
    if (destination === undefined) return err(invalidField('refer_to', TARGET));
    const preference = {
      destination,
      timeoutMs: (body.timeout ?? SECONDS_DEFAULT) * 1000,
      callback: callbackTarget(body.callback_url, body.callback_method),
    };
    return answered(
      await control.refer(accountId, callUuidOf(params.call_uuid), preference),
      () => ({
        api_id: id,
        message: 'refer sent',
      }),
    );
  },
});

export const referRoutes: readonly Route[] = [referCall];
