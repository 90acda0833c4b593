import { err, ok } from '../../../../base/result.ts';
import { invalidField } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { flag, hinted, type Static, Type } from '../../http/schema.ts';
import { defined } from '../../wire/list.ts';
import { OriginationUriSchema, showOriginationUri } from '../../wire/trunk.ts';
import { accountParams, partCommon, partRoutes } from './trunk-part.ts';

const SIP_URI =
  /^sips?:([^@\s\u0000-\u001f\u007f<>]+@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:(?<port>[1-9]\d{0,4}))?(;[^\s\u0000-\u001f\u007f<>]*)?$/;

const originationFields = {
  name: Type.Optional(Type.String({ maxLength: 200 })),
  sip_uri: Type.Optional(Type.String({ maxLength: 512 })),
  uri: Type.Optional(Type.String({ maxLength: 512, description: 'same as sip_uri' })),
  priority: Type.Optional(
    hinted(Type.Integer({ minimum: 0, maximum: 65_535 }), 'must be a whole number, 0 or more'),
  ),
  weight: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
  enabled: Type.Optional(flag()),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
};
const OriginationBody = Type.Object(originationFields);

function originationPatch(body: Static<typeof OriginationBody>) {
  const sipUri = body.sip_uri ?? body.uri;
  const port = sipUri === undefined ? undefined : SIP_URI.exec(sipUri)?.groups?.['port'];
  if (sipUri !== undefined && (!SIP_URI.test(sipUri) || Number(port ?? 1) > 65_535)) {
    return err(invalidField('sip_uri', 'must have the form sip:<user>@<host>:<port>'));
  }
  return ok(
    defined({
      name: body.name,
      sipUri,
      priority: body.priority,
      weight: body.weight,
      enabled: body.enabled,
      description: body.description,
    }),
  );
}

const createOriginationUri = accountRoute({
  ...partCommon,
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/origination-uris',
  summary: 'Create an origination URI. The default port is 5060',
  status: 201,
  params: accountParams,
  body: OriginationBody,
  reply: OriginationUriSchema,
  async run({ provisioning }, { accountId, body }) {
    const patch = originationPatch(body);
    if (!patch.ok) return patch;
    const { sipUri, name = sipUri } = patch.value;
    if (sipUri === undefined || name === undefined) {
      return err(invalidField('sip_uri', 'is required'));
    }
    const created = await provisioning.trunks.createOriginationUri({
      accountId,
      ...patch.value,
      name,
      sipUri,
    });
    return ok(showOriginationUri(created));
  },
});

const originationUris = partRoutes({
  noun: 'origination URI',
  kind: 'origination-uris',
  body: OriginationBody,
  reply: OriginationUriSchema,
  show: showOriginationUri,
  check: originationPatch,
  operations: {
    get: (trunks, accountId, id) => trunks.getOriginationUri(accountId, id),
    list: (trunks, accountId, slice) => trunks.listOriginationUris(accountId, slice),
    patch: (trunks, accountId, id, patch) => trunks.patchOriginationUri(accountId, id, patch),
    remove: (trunks, accountId, id) => trunks.removeOriginationUri(accountId, id),
  },
});

export const originationUriRoutes: readonly Route[] = [createOriginationUri, ...originationUris];
