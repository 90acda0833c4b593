import type { CallUuid, RequestUuid } from '../../../../base/ids.ts';
import type { CallControl, LiveCall } from '../../../../domain/dispatch/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type AccountInput, accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, callUuidOf, Type } from '../../http/schema.ts';
import { refused } from '../../refusal.ts';

export const callCommon = { tag: 'Calls', errors: 'resource' } as const;
export const callParams = Type.Object({ auth_id: accountIdText(), call_uuid: Type.String() });

type Whose = Pick<AccountInput, 'accountId' | 'subAccount'>;

/**
 * Returns whether a live or waiting call, or a request with such calls, belongs to the sub-account. A main account owns all.
 */
export async function ownsRequest(
  control: Pick<CallControl, 'liveCalls'>,
  { accountId, subAccount }: Whose,
  uuid: CallUuid | RequestUuid,
): Promise<boolean> {
  if (subAccount === undefined) return true;
  for (const status of ['live', 'queued'] as const) {
    const calls = await control.liveCalls(accountId, status);
    const isTheirs = (call: LiveCall): boolean =>
      call.subAccount === subAccount && (call.callUuid === uuid || call.requestUuid === uuid);
    if (calls.some(isTheirs)) return true;
  }
  return false;
}

async function ownsCall(
  { control, callRecords }: RouteNeeds,
  { accountId, subAccount }: Whose,
  callUuid: CallUuid,
): Promise<boolean> {
  const live = await control.liveCall(accountId, callUuid);
  if (live !== undefined) return live.subAccount === subAccount;
  return (await callRecords.get(accountId, callUuid, subAccount)).ok;
}

/** A route about one call. For a sub-account, calls of others do not exist. */
export const callRoute: typeof accountRoute = (definition) => {
  const route = accountRoute(definition);
  return {
    ...route,
    async run(needs, input) {
      const { call_uuid: callUuid } = input.params as { readonly call_uuid: string };
      const mine =
        input.subAccount === undefined || (await ownsCall(needs, input, callUuidOf(callUuid)));
      return mine ? route.run(needs, input) : refused({ kind: 'unknownCall' });
    },
  } satisfies Route;
};
