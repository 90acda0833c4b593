/** Listening to a running call, and viewing the messages between its bots and the service. */
import type { Readable } from 'node:stream';
import type { CallUuid } from '../../../../base/ids.ts';
import { err, ok } from '../../../../base/result.ts';
import type { RouteNeeds } from '../../deps.ts';
import { failure } from '../../http/failure.ts';
import type { AccountInput, Method, Route } from '../../http/route.ts';
import { callUuidOf } from '../../http/schema.ts';
import type { StillAllowed } from '../../live-calls.ts';
import { refused } from '../../refusal.ts';
import { callCommon, callParams, callRoute } from './call-route.ts';

const ONE = '/api/v1/Account/{auth_id}/Call/{call_uuid}/';

/** Returns whether the session is valid, the role of its user still permits the request and the account is active. */
const stillAllowed =
  ({ users, accounts }: RouteNeeds, { user, access }: AccountInput, method: Method): StillAllowed =>
  async () => {
    const asked = { method, tag: callCommon.tag, isCredential: false };
    if (user !== undefined && !(await users.stillMay(user.session, asked))) return false;
    return (await accounts.get(access.account.authId))?.status === 'active';
  };

async function described(
  needs: RouteNeeds,
  input: AccountInput,
  { method, contentType }: { readonly method: Method; readonly contentType: string },
  begin: (callUuid: CallUuid, isAllowed: StillAllowed) => Promise<Readable | 'unknown' | 'busy'>,
) {
  const callUuid = callUuidOf((input.params as { readonly call_uuid: string }).call_uuid);
  const call = (await needs.liveCalls.quality(callUuid))?.call;
  if (call?.accountId !== input.accountId) return refused({ kind: 'unknownCall' });
  const body = await begin(callUuid, stillAllowed(needs, input, method));
  if (body === 'unknown') return refused({ kind: 'unknownCall' });
  if (body === 'busy') {
    const headers = { 'retry-after': '10' };
    return err(failure(429, 'too many listeners on this call', { headers }));
  }
  return ok({ contentType, headers: { 'cache-control': 'no-store' }, body });
}

/** POST instead of GET, so that listening appears in the audit log. */
const listen = callRoute({
  ...callCommon,
  method: 'POST',
  path: `${ONE}listen`,
  summary:
    'Listen to an answered call: an endless WAV file. Left: audio from the other party. Right: audio sent to it',
  params: callParams,
  produces: 'audio/wav',
  longRunning: true,
  run: (needs, input) =>
    described(needs, input, { method: 'POST', contentType: 'audio/wav' }, (uuid, isAllowed) =>
      needs.callListening.listen(uuid, isAllowed),
    ),
});

const watch = callRoute({
  ...callCommon,
  method: 'GET',
  path: `${ONE}stream-events`,
  summary:
    "Stream the messages of a running call's bots and the audio levels of both directions, as server-sent events",
  params: callParams,
  produces: 'text/event-stream',
  longRunning: true,
  run: (needs, input) =>
    described(
      needs,
      input,
      { method: 'GET', contentType: 'text/event-stream; charset=utf-8' },
      (uuid, isAllowed) => needs.callListening.watchStreams(uuid, isAllowed),
    ),
});

export const listenInRoutes: readonly Route[] = [listen, watch];
