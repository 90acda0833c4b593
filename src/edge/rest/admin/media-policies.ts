import { ok } from '../../../base/result.ts';
import { CODEC_NAMES, CODEC_PREFERENCES } from '../../../domain/call/needs.ts';
import {
  type NamedPolicy,
  POLICY_SUBJECTS,
  SRTP_POLICIES,
} from '../../../domain/provisioning/provisioning.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { oneOf, type Static, Type } from '../http/schema.ts';
import { answered, refused } from '../refusal.ts';

const ROOT = '/admin/v1/media-policies';
const common = { tag: 'Operator: accounts', errors: 'admin' } as const;
const params = Type.Object({
  subject: oneOf(POLICY_SUBJECTS),
  name: Type.String({ minLength: 1, maxLength: 255 }),
});

const PolicyBody = Type.Object({
  srtp: Type.Optional(oneOf(SRTP_POLICIES)),
  codecs: Type.Optional(
    Type.Array(oneOf(CODEC_PREFERENCES), {
      contains: oneOf(CODEC_NAMES),
      maxItems: CODEC_PREFERENCES.length,
    }),
  ),
});
const PolicySchema = Type.Object({
  subject: Type.String(),
  name: Type.String({ description: 'auth_id, user name, trunk id or carrier name' }),
  srtp: Type.Optional(Type.String()),
  codecs: Type.Optional(Type.Array(Type.String())),
});

const show = ({ subject, name, srtp, codecs }: NamedPolicy): Static<typeof PolicySchema> => ({
  subject,
  name,
  ...(srtp && { srtp }),
  ...(codecs && { codecs: [...codecs] }),
});

const list = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary:
    'List the media policies: codecs and SRTP of accounts, endpoints, trunks and carriers that override the settings',
  reply: Type.Object({ policies: Type.Array(PolicySchema) }),
  run: ({ provisioning }) => ok({ policies: provisioning.mediaPolicies.list().map(show) }),
});

const set = adminRoute({
  ...common,
  method: 'PUT',
  path: `${ROOT}/{subject}/{name}`,
  alsoRefuses: [409],
  summary:
    'Set the codecs (in order of preference) and SRTP of an account, endpoint, trunk or carrier, starting with its next call. Absent fields use the settings',
  params,
  body: PolicyBody,
  reply: PolicySchema,
  async run({ provisioning }, { params: { subject, name }, body }) {
    const codecs = body.codecs && [...new Set(body.codecs)];
    const policy: NamedPolicy = { subject, name, srtp: body.srtp, codecs };
    const done = await provisioning.mediaPolicies.set(policy);
    return done.ok ? ok(show(policy)) : refused(done.error);
  },
});

const remove = adminRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{subject}/{name}`,
  summary: 'Delete a media policy, so that the settings apply again',
  status: 204,
  params,
  run: async ({ provisioning }, { params: { subject, name } }) =>
    answered(await provisioning.mediaPolicies.remove(subject, name), () => undefined),
});

export const mediaPolicyRoutes: readonly Route[] = [list, set, remove];
