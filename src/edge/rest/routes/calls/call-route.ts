import type { Result } from '../../../../base/result.ts';
import type { Failure } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { Type } from '../../http/schema.ts';
import { refused } from '../../refusal.ts';

export const callCommon = { tag: 'Calls', errors: 'resource' } as const;
export const callParams = Type.Object({ auth_id: Type.String(), call_uuid: Type.String() });

/** A route about one live call: to a sub-account, calls of others do not exist. */
export const callRoute: typeof accountRoute = (definition) => {
  const route = accountRoute(definition);
  return {
    ...route,
    run(rooms, input) {
      const { call_uuid: callUuid } = input.params as { readonly call_uuid: string };
      const { accountId, subAccount } = input;
      const hidden =
        subAccount !== undefined &&
        rooms.control.liveCall(accountId, callUuid)?.subAccount !== subAccount;
      const answer: Result<unknown, Failure> | Promise<Result<unknown, Failure>> = hidden
        ? refused({ kind: 'unknownCall' })
        : route.run(rooms, input);
      return answer;
    },
  } satisfies Route;
};
