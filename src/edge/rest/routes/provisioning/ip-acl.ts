import { err, ok } from '../../../../base/result.ts';
import { invalidField } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { flag, Type } from '../../http/schema.ts';
import { isAddressOrRange } from '../../http/values.ts';
import { defined } from '../../wire/list.ts';
import { IpAclSchema, showIpAcl } from '../../wire/trunk.ts';
import { accountParams, partCommon, partRoutes } from './trunk-part.ts';

const ipAclFields = {
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  enabled: Type.Optional(flag()),
};

function ipAclPatch(body: {
  readonly ip_address?: string;
  readonly description?: string;
  readonly enabled?: boolean;
}) {
  if (body.ip_address !== undefined && !isAddressOrRange(body.ip_address)) {
    return err(invalidField('ip_address', 'must be an IP address or CIDR range'));
  }
  return ok(
    defined({
      ipAddress: body.ip_address,
      description: body.description,
      enabled: body.enabled,
    }),
  );
}

const createIpAcl = accountRoute({
  ...partCommon,
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/ip-acl',
  summary: 'Allow an address or range for trunks',
  status: 201,
  params: accountParams,
  body: Type.Object({ ip_address: Type.String(), ...ipAclFields }),
  reply: IpAclSchema,
  async run({ provisioning }, { accountId, body }) {
    const patch = ipAclPatch(body);
    if (!patch.ok) return patch;
    const created = await provisioning.trunks.createIpAcl({
      accountId,
      ...patch.value,
      ipAddress: body.ip_address,
    });
    return ok(showIpAcl(created));
  },
});

const ipAcls = partRoutes({
  noun: 'IP ACL',
  kind: 'ip-acl',
  body: Type.Object({ ip_address: Type.Optional(Type.String()), ...ipAclFields }),
  reply: IpAclSchema,
  show: showIpAcl,
  check: ipAclPatch,
  operations: {
    get: (trunks, accountId, id) => trunks.getIpAcl(accountId, id),
    list: (trunks, accountId, slice) => trunks.listIpAcls(accountId, slice),
    patch: (trunks, accountId, id, patch) => trunks.patchIpAcl(accountId, id, patch),
    remove: (trunks, accountId, id) => trunks.removeIpAcl(accountId, id),
  },
});

export const ipAclRoutes: readonly Route[] = [createIpAcl, ...ipAcls];
