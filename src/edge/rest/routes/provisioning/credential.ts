import { ok } from '../../../../base/result.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { flag, headerText, hinted, Type } from '../../http/schema.ts';
import { defined } from '../../wire/list.ts';
import { CredentialSchema, showCredential } from '../../wire/trunk.ts';
import { accountParams, partCommon, partRoutes } from './trunk-part.ts';

const CREDENTIAL_PASSWORD_MIN = 8;
const credentialPassword = () =>
  hinted(
    Type.String({ minLength: CREDENTIAL_PASSWORD_MIN, maxLength: 128 }),
    `must have at least ${CREDENTIAL_PASSWORD_MIN} characters`,
  );
const credentialName = () =>
  hinted(
    Type.String({ pattern: '^[A-Za-z0-9._-]+$', maxLength: 64 }),
    'must be letters, digits, . _ or -',
  );
const credentialFields = {
  realm: Type.Optional(headerText({ maxLength: 200 })),
  enabled: Type.Optional(flag()),
};

const createCredential = accountRoute({
  ...partCommon,
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/credentials',
  summary: 'Create credentials for trunks',
  status: 201,
  params: accountParams,
  body: Type.Object({
    username: credentialName(),
    password: credentialPassword(),
    ...credentialFields,
  }),
  reply: CredentialSchema,
  run: async ({ provisioning }, { accountId, body }) =>
    ok(
      showCredential(
        await provisioning.trunks.createCredential({
          accountId,
          username: body.username,
          password: body.password,
          ...defined({ realm: body.realm, enabled: body.enabled }),
        }),
      ),
    ),
});

const credentials = partRoutes({
  noun: 'credential',
  kind: 'credentials',
  body: Type.Object({
    username: Type.Optional(credentialName()),
    password: Type.Optional(credentialPassword()),
    ...credentialFields,
  }),
  reply: CredentialSchema,
  show: showCredential,
  check: (body) => ok(defined(body)),
  operations: {
    get: (trunks, accountId, id) => trunks.getCredential(accountId, id),
    list: (trunks, accountId, slice) => trunks.listCredentials(accountId, slice),
    patch: (trunks, accountId, id, patch) => trunks.patchCredential(accountId, id, patch),
    remove: (trunks, accountId, id) => trunks.removeCredential(accountId, id),
  },
});

export const credentialRoutes: readonly Route[] = [createCredential, ...credentials];
