/** Transfers of a caller from a bot to a colleague. An addition to the dialect. */

import { dialledNumber } from '../../../../base/phone-number.ts';
import { err } from '../../../../base/result.ts';
import { isSipUri } from '../../../../base/sip-uri.ts';
import { invalidField } from '../../http/failure.ts';
import type { Route } from '../../http/route.ts';
import {
  callUuidOf,
  headerText,
  hinted,
  httpMethod,
  messageReply,
  oneOf,
  optionalHttpUrl,
  Type,
} from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { callbackTarget } from '../../wire/make-call.ts';
import { callCommon, callParams, callRoute } from './call-route.ts';

const PATH = '/api/v1/Account/{auth_id}/Call/{call_uuid}/Transfer/';
const TIMEOUT_S = 30;
const TARGET = 'must be a SIP URI (sip:user@host) or a telephone number';

const startTransfer = callRoute({
  ...callCommon,
  method: 'POST',
  path: PATH,
  summary: 'Transfer the caller of a bot to a colleague: blind, attended or warm',
  status: 202,
  params: callParams,
  body: Type.Object({
    to: hinted(Type.String({ minLength: 1, maxLength: 512 }), TARGET),
    mode: Type.Optional(oneOf(['blind', 'attended', 'warm'], { default: 'blind' })),
    stream: Type.Optional(
      oneOf(['end', 'caller', 'colleague'], {
        default: 'end',
        description: 'what happens to the stream when the parties are connected',
      }),
    ),
    introduction: Type.Optional(
      Type.String({ maxLength: 1000, description: 'text that the colleague hears (warm)' }),
    ),
    music: Type.Optional(optionalHttpUrl()),
    caller_id: Type.Optional(headerText({ maxLength: 32 })),
    timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 120, default: TIMEOUT_S })),
    on_failure: Type.Optional(
      oneOf(['next', 'stream'], {
        default: 'next',
        description:
          'after a failed blind transfer: next element of the document, or the stream opens again',
      }),
    ),
    callback_url: Type.Optional(optionalHttpUrl()),
    callback_method: Type.Optional(httpMethod()),
  }),
  reply: messageReply,
  async run({ control }, { accountId, params, body, apiId: id }) {
    const { mode = 'blind', stream = 'end', on_failure: onFailure = 'next' } = body;
    const to = body.to.trim();
    const isUri = isSipUri(to);
    if (!isUri && dialledNumber(to) === undefined) return err(invalidField('to', TARGET));
    if (mode === 'blind' && stream !== 'end')
      return err(invalidField('stream', 'must be end with mode blind'));
    if (mode !== 'warm' && body.introduction)
      return err(invalidField('introduction', 'needs mode warm'));
    const request = {
      mode,
      to,
      stream,
      onFailure,
      introduction: body.introduction || undefined,
      music: body.music || undefined,
      callerId: body.caller_id || undefined,
      timeoutMs: (body.timeout ?? TIMEOUT_S) * 1000,
      callback: callbackTarget(body.callback_url, body.callback_method),
    };
    const callUuid = callUuidOf(params.call_uuid);
    return answered(await control.handOver(accountId, callUuid, request), () => ({
      api_id: id,
      message: 'transfer started',
    }));
  },
});

const cancelTransfer = callRoute({
  ...callCommon,
  method: 'DELETE',
  path: PATH,
  summary: 'Cancel a transfer: the colleague is hung up and the caller is with the bot again',
  status: 204,
  params: callParams,
  run: async ({ control }, { accountId, params }) =>
    answered(
      await control.cancelHandOver(accountId, callUuidOf(params.call_uuid)),
      () => undefined,
    ),
});

export const handOverRoutes: readonly Route[] = [startTransfer, cancelTransfer];
