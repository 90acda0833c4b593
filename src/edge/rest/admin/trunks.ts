import { err, ok } from '../../../base/result.ts';
import { invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { accountIdText, Type, trunkIdText } from '../http/schema.ts';
import { isAddressOrRange } from '../http/values.ts';
import { refused } from '../refusal.ts';

const DESTINATIONS_MAX = 100;
const HOST = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;
/** Digits alone are a mistyped address and no name. */
const isDestination = (text: string): boolean =>
  isAddressOrRange(text) || (HOST.test(text) && /[a-z]/i.test(text));

const allowDestinations = adminRoute({
  tag: 'Operator: accounts',
  errors: 'admin',
  method: 'PATCH',
  path: '/admin/v1/accounts/{auth_id}/trunks/{trunk_id}',
  summary: 'Allow a trunk’s origination URIs to lead into private networks',
  params: Type.Object({ auth_id: accountIdText(), trunk_id: trunkIdText() }),
  body: Type.Object({
    egress_allow: Type.Array(Type.String({ maxLength: 253 }), { maxItems: DESTINATIONS_MAX }),
  }),
  reply: Type.Object({ trunk_id: Type.String(), egress_allow: Type.Array(Type.String()) }),
  async run({ provisioning }, { params: { auth_id: accountId, trunk_id: trunkId }, body }) {
    const { egress_allow: egressAllow } = body;
    const wrong = egressAllow.find((destination) => !isDestination(destination));
    if (wrong !== undefined) {
      const what = 'no address, CIDR range, host name or *.suffix';
      return err(invalidField('egress_allow', `holds ${wrong}, ${what}`));
    }
    const patched = await provisioning.trunks.patch(accountId, trunkId, { egressAllow });
    if (!patched.ok) return refused(patched.error);
    return ok({ trunk_id: trunkId, egress_allow: [...patched.value.egressAllow] });
  },
});

export const trunkAdminRoutes: readonly Route[] = [allowDestinations];
