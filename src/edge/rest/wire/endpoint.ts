import type { AccountId } from '../../../base/ids.ts';
import { isoMicros } from '../../../base/time-format.ts';
import type {
  Endpoint,
  EndpointPatch,
  EndpointPermissions,
} from '../../../domain/provisioning/types.ts';
import {
  accountIdText,
  appIdField,
  flag,
  hinted,
  nullableAppId,
  nullableText,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import { callerIdField, callerIdPatch } from '../http/values.ts';
import type { RegistrationView } from '../operations.ts';
import { applicationUri } from './application.ts';
import { defined } from './list.ts';

const NAME_MAX = 64;
const PASSWORD_MIN = 8;
const PASSWORD_MAX = 128;

const password = () =>
  hinted(
    Type.String({ minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX }),
    `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`,
  );
const alias = () =>
  hinted(
    Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: NAME_MAX }),
    'must contain only letters, digits, hyphen and underscore',
  );

const permissions = {
  allow_voice: Type.Optional(flag()),
  allow_message: Type.Optional(flag()),
  allow_video: Type.Optional(flag()),
  allow_same_domain: Type.Optional(flag()),
  allow_other_domains: Type.Optional(flag()),
  allow_phones: Type.Optional(flag()),
  allow_apps: Type.Optional(flag()),
};

export const EndpointCreateBody = Type.Object({
  username: hinted(
    Type.String({ pattern: '^[A-Za-z0-9]+$', maxLength: NAME_MAX }),
    'must be alphanumeric',
  ),
  password: password(),
  alias: alias(),
  application: Type.Optional(appIdField()),
  app_id: Type.Optional(appIdField()),
  sub_account: Type.Optional(accountIdText()),
  caller_id: Type.Optional(callerIdField()),
  ...permissions,
});

/** Omits `application`, which this operation ignores (spec: POST …/Endpoint/{endpoint_id}/). */
export const EndpointUpdateBody = Type.Object({
  app_id: Type.Optional(hinted(nullableAppId(), 'must be a numeric application ID')),
  alias: Type.Optional(alias()),
  password: Type.Optional(password()),
  caller_id: Type.Optional(callerIdField()),
  ...permissions,
});

type Permissions = Static<ReturnType<typeof permissionsObject>>;
const permissionsObject = () => Type.Object(permissions);

export const permissionsOf = (body: Permissions): Partial<EndpointPermissions> =>
  defined({
    allowVoice: body.allow_voice,
    allowMessage: body.allow_message,
    allowVideo: body.allow_video,
    allowSameDomain: body.allow_same_domain,
    allowOtherDomains: body.allow_other_domains,
    allowPhones: body.allow_phones,
    allowApps: body.allow_apps,
  });

export const endpointPatch = (
  body: Static<typeof EndpointUpdateBody>,
): EndpointPatch & { readonly password?: string } => ({
  ...permissionsOf(body),
  ...defined({ alias: body.alias, password: body.password }),
  ...(body.app_id !== undefined && { appId: body.app_id ?? undefined }),
  ...callerIdPatch(body.caller_id),
});

/** The long shape plus the members of the short one. With compat.strictVobizSdk only the short shape is sent. */
export const EndpointCreatedSchema = Type.Object({
  api_id: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
  endpoint_id: Type.String(),
  sip_uri: Type.Optional(Type.String()),
  resource_uri: Type.Optional(Type.String()),
  alias: Type.String(),
  username: Type.String({ description: 'stored username, used to register' }),
});

const whenFull = {
  api_id: Type.Optional(Type.String()),
  app_id: Type.Optional(nullableAppId()),
  caller_id: Type.Optional(nullableText()),
  allow_voice: Type.Optional(Type.Boolean()),
  allow_message: Type.Optional(Type.Boolean()),
  allow_video: Type.Optional(Type.Boolean()),
  allow_same_domain: Type.Optional(Type.Boolean()),
  allow_other_domains: Type.Optional(Type.Boolean()),
  allow_phones: Type.Optional(Type.Boolean()),
  allow_apps: Type.Optional(Type.Boolean()),
  created_at: Type.Optional(timestamp()),
  updated_at: Type.Optional(timestamp()),
  sip_contact: Type.Optional(Type.String({ description: 'while registered' })),
  sip_expires: Type.Optional(Type.String({ description: 'while registered' })),
  sip_user_agent: Type.Optional(Type.String({ description: 'while registered' })),
};

export const EndpointSchema = Type.Object({
  endpoint_id: Type.String(),
  username: Type.String(),
  alias: Type.String(),
  sip_uri: Type.String(),
  sip_registered: Type.String({ description: '"true" or "false"' }),
  application: nullableText(),
  sub_account: nullableText(),
  resource_uri: Type.String(),
  ...whenFull,
});

export interface EndpointContext {
  /** Host, with the port unless it is 5060. */
  readonly registrar: string;
  readonly strictVobizSdk: boolean;
  /** Account of the client, whose credentials open `resource_uri`. */
  readonly authId: AccountId;
  readonly registrationOf: (username: string) => RegistrationView | undefined;
}

const resourceUri = ({ endpointId }: Endpoint, { authId }: EndpointContext): string =>
  `/v1/Account/${authId}/Endpoint/${endpointId}/`;
const sipUri = (endpoint: Endpoint, registrar: string): string =>
  `sip:${endpoint.username}@${registrar}`;

export function showCreatedEndpoint(
  endpoint: Endpoint,
  apiId: string,
  context: EndpointContext,
): Static<typeof EndpointCreatedSchema> {
  const short = {
    alias: endpoint.alias,
    endpoint_id: endpoint.endpointId,
    username: endpoint.username,
  };
  if (context.strictVobizSdk) return short;
  return {
    api_id: apiId,
    message: 'created',
    ...short,
    sip_uri: sipUri(endpoint, context.registrar),
    resource_uri: resourceUri(endpoint, context),
  };
}

export function showEndpoint(
  endpoint: Endpoint,
  context: EndpointContext,
): Static<typeof EndpointSchema> {
  const registration = context.registrationOf(endpoint.username);
  const common = {
    endpoint_id: endpoint.endpointId,
    username: endpoint.username,
    alias: endpoint.alias,
    sip_uri: sipUri(endpoint, context.registrar),
    sip_registered: String(registration !== undefined),
    application:
      endpoint.appId === undefined ? null : applicationUri(context.authId, endpoint.appId),
    sub_account: endpoint.subAccount ?? null,
    resource_uri: resourceUri(endpoint, context),
  };
  if (context.strictVobizSdk) return common;
  return {
    ...common,
    app_id: endpoint.appId ?? null,
    caller_id: endpoint.callerId ?? null,
    allow_voice: endpoint.allowVoice,
    allow_message: endpoint.allowMessage,
    allow_video: endpoint.allowVideo,
    allow_same_domain: endpoint.allowSameDomain,
    allow_other_domains: endpoint.allowOtherDomains,
    allow_phones: endpoint.allowPhones,
    allow_apps: endpoint.allowApps,
    created_at: isoMicros(endpoint.createdUs),
    updated_at: isoMicros(endpoint.updatedUs),
    ...(registration && {
      sip_contact: registration.contactUri,
      sip_expires: isoMicros(registration.expiresUs),
      sip_user_agent: registration.userAgent,
    }),
  };
}
