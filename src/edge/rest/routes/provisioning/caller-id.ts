/** Allowed caller IDs of an account, and its default for calls that name none. The operator records who owns a number. */
import { err, ok } from '../../../../base/result.ts';
import { wrongCallerId } from '../../caller-id.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type AccountInput, accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, nullableText, Type } from '../../http/schema.ts';
import { callerIdField, callerIdPatch } from '../../http/values.ts';
import { refused } from '../../refusal.ts';

const PATH = '/api/v1/Account/{auth_id}/caller-ids';
const common = { tag: 'Numbers', errors: 'plain', mainAccountOnly: true } as const;
const params = Type.Object({ auth_id: accountIdText() });

const reply = Type.Object({
  default_caller_id: nullableText(),
  caller_ids: Type.Array(Type.Object({ number: Type.String() })),
});

async function shown(
  { provisioning }: RouteNeeds,
  { accountId }: AccountInput<unknown>,
  defaultCallerId: string | undefined,
) {
  const callerIds = await provisioning.callerIds.list(accountId);
  return {
    default_caller_id: defaultCallerId ?? null,
    caller_ids: callerIds.map(({ e164 }) => ({ number: e164 })),
  };
}

const listCallerIds = accountRoute({
  ...common,
  method: 'GET',
  path: PATH,
  summary:
    'List the verified caller IDs that the account may present in addition to its numbers, and its default caller ID',
  params,
  reply,
  run: async (needs, input) => ok(await shown(needs, input, input.access.owner.defaultCallerId)),
});

const setDefault = accountRoute({
  ...common,
  method: 'PUT',
  path: `${PATH}/default`,
  summary:
    'Set the default caller ID, used if call, endpoint and application name none; null removes it',
  params,
  body: Type.Object({ number: callerIdField() }),
  reply,
  async run(needs, input) {
    const { accountId, body } = input;
    const wrong = await wrongCallerId(needs, accountId, 'number', body.number);
    if (wrong !== undefined) return err(wrong);
    const { callerId } = callerIdPatch(body.number);
    const patched = await needs.accounts.patch(accountId, { defaultCallerId: callerId });
    return patched.ok
      ? ok(await shown(needs, input, patched.value.defaultCallerId))
      : refused(patched.error);
  },
});

export const callerIdRoutes: readonly Route[] = [listCallerIds, setDefault];
