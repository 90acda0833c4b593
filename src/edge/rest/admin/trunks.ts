import { ok } from '../../../base/result.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { hinted, Type } from '../http/schema.ts';
import { refused } from '../refusal.ts';

const DESTINATIONS_MAX = 100;

const allowDestinations = adminRoute({
  tag: 'Operator: accounts',
  errors: 'admin',
  method: 'PATCH',
  path: '/admin/v1/accounts/{auth_id}/trunks/{trunk_id}',
  summary: 'Allow a trunk’s origination URIs to lead into private networks',
  params: Type.Object({ auth_id: Type.String(), trunk_id: Type.String() }),
  body: Type.Object({
    egress_allow: Type.Array(
      hinted(
        Type.String({ maxLength: 253, pattern: '^[A-Za-z0-9*._:/-]+$' }),
        'must be an address, a CIDR range, a host name or *.suffix',
      ),
      { maxItems: DESTINATIONS_MAX },
    ),
  }),
  reply: Type.Object({ trunk_id: Type.String(), egress_allow: Type.Array(Type.String()) }),
  async run({ provisioning }, { params: { auth_id: accountId, trunk_id: trunkId }, body }) {
    const { egress_allow: egressAllow } = body;
    const patched = await provisioning.trunks.patch(accountId, trunkId, { egressAllow });
    if (!patched.ok) return refused(patched.error);
    return ok({ trunk_id: trunkId, egress_allow: [...patched.value.egressAllow] });
  },
});

export const trunkAdminRoutes: readonly Route[] = [allowDestinations];
