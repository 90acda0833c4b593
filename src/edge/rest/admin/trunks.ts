import { err } from '../../../base/result.ts';
import type { Trunk } from '../../../domain/provisioning/types.ts';
import { invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { accountIdText, described, type Static, Type, trunkIdText } from '../http/schema.ts';
import { isAddressOrRange } from '../http/values.ts';
import { answered } from '../refusal.ts';
import { defined } from '../wire/list.ts';
import { namedInPeer, PeerSchema, peerFields, showPeer, wrongHeaders } from './peer-policy.ts';

const DESTINATIONS_MAX = 100;
const HOST = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;
/** Text of digits only is a mistyped address, not a host name. */
const isDestination = (text: string): boolean =>
  isAddressOrRange(text) || (HOST.test(text) && /[a-z]/i.test(text));

export const TrunkPolicyBody = Type.Object({
  egress_allow: Type.Optional(
    described(
      Type.Array(Type.String({ maxLength: 253 }), { maxItems: DESTINATIONS_MAX }),
      'private destinations that its origination URIs may use: addresses, CIDR ranges, host names, *.suffix',
    ),
  ),
  ...peerFields,
});

const common = {
  tag: 'Operator: accounts',
  errors: 'admin',
  path: '/admin/v1/accounts/{auth_id}/trunks/{trunk_id}',
} as const;
const trunkParams = Type.Object({ auth_id: accountIdText(), trunk_id: trunkIdText() });
const PolicySchema = Type.Object({
  trunk_id: Type.String(),
  egress_allow: Type.Array(Type.String()),
  ...PeerSchema,
});

const showPolicy = ({ trunkId, egressAllow, policy }: Trunk): Static<typeof PolicySchema> => ({
  trunk_id: trunkId,
  egress_allow: [...egressAllow],
  ...showPeer(policy),
});

const getPolicy = adminRoute({
  ...common,
  method: 'GET',
  summary: 'Get the header and identity policy of a trunk',
  params: trunkParams,
  reply: PolicySchema,
  run: async ({ provisioning: { trunks } }, { params }) =>
    answered(await trunks.get(params.auth_id, params.trunk_id), showPolicy),
});

const trunkPolicy = adminRoute({
  ...common,
  method: 'PATCH',
  summary:
    'Set the header and identity policy of a trunk, and the private networks that its origination URIs may use',
  params: trunkParams,
  body: TrunkPolicyBody,
  reply: PolicySchema,
  async run({ provisioning: { trunks } }, { params, body }) {
    const { auth_id: accountId, trunk_id: trunkId } = params;
    const { egress_allow: egressAllow } = body;
    const wrong = egressAllow?.find((destination) => !isDestination(destination));
    if (wrong !== undefined) {
      const what = 'no address, CIDR range, host name or *.suffix';
      return err(invalidField('egress_allow', `holds ${wrong}, ${what}`));
    }
    const unfit = wrongHeaders(body);
    if (unfit !== undefined) return unfit;
    const patch = egressAllow === undefined ? {} : { egressAllow };
    const changes = defined(namedInPeer(body));
    return answered(await trunks.patch(accountId, trunkId, patch, changes), showPolicy);
  },
});

export const trunkAdminRoutes: readonly Route[] = [getPolicy, trunkPolicy];
