import { isoMicros } from '../../../base/time-format.ts';
import type {
  IpAcl,
  OriginationUri,
  Trunk,
  TrunkCredential,
  TrunkPatch,
} from '../../../domain/provisioning/types.ts';
import {
  flag,
  hinted,
  httpMethod,
  nullableHttpUrl,
  nullableText,
  oneOf,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import { defined } from './list.ts';

const LIMIT_MAX = 1_000_000;
const NAME_MAX = 200;
const name = () =>
  hinted(
    Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: '\\S' }),
    `must have 1 to ${NAME_MAX} characters`,
  );
const limit = () =>
  hinted(Type.Integer({ minimum: 1, maximum: LIMIT_MAX }), 'must be a whole number, 1 or more');

const fields = {
  trunk_direction: Type.Optional(oneOf(['inbound', 'outbound', 'both'])),
  trunk_status: Type.Optional(oneOf(['enabled', 'disabled'])),
  transport: Type.Optional(oneOf(['udp', 'tcp', 'tls'], { description: 'signalling' })),
  secure: Type.Optional(flag()),
  primary_uri_uuid: Type.Optional(nullableText()),
  fallback_uri_uuid: Type.Optional(nullableText()),
  credential_uuid: Type.Optional(nullableText()),
  ipacl_uuid: Type.Optional(nullableText()),
  concurrent_calls_limit: Type.Optional(limit()),
  cps_limit: Type.Optional(limit()),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  recording: Type.Optional(flag()),
  webhook_url: Type.Optional(nullableHttpUrl()),
  webhook_method: Type.Optional(httpMethod()),
};

export const TrunkCreateBody = Type.Object({ name: name(), ...fields });
export const TrunkUpdateBody = Type.Object({ name: Type.Optional(name()), ...fields });

/** null or empty text removes the part from the trunk. */
const part = <K extends string>(key: K, value: string | null | undefined) =>
  (value === undefined ? {} : { [key]: value || undefined }) as { readonly [Key in K]?: string };

export const trunkPatch = (body: Static<typeof TrunkUpdateBody>): TrunkPatch => ({
  ...defined({
    name: body.name,
    direction: body.trunk_direction,
    enabled: body.trunk_status === undefined ? undefined : body.trunk_status === 'enabled',
    transport: body.transport,
    secure: body.secure,
    concurrentCallsLimit: body.concurrent_calls_limit,
    cpsLimit: body.cps_limit,
    description: body.description,
    recording: body.recording,
    webhookMethod: body.webhook_method,
  }),
  ...part('primaryUriUuid', body.primary_uri_uuid),
  ...part('fallbackUriUuid', body.fallback_uri_uuid),
  ...part('credentialUuid', body.credential_uuid),
  ...part('ipaclUuid', body.ipacl_uuid),
  ...part('webhookUrl', body.webhook_url),
});

export const TrunkSchema = Type.Object({
  trunk_id: Type.String(),
  account_id: Type.String(),
  name: Type.String(),
  trunk_domain: Type.String(),
  trunk_direction: Type.String(),
  trunk_status: Type.String(),
  transport: Type.String(),
  secure: Type.Boolean(),
  concurrent_calls_limit: Type.Integer(),
  cps_limit: Type.Integer(),
  primary_uri_uuid: nullableText(),
  fallback_uri_uuid: nullableText(),
  credential_uuid: nullableText(),
  ipacl_uuid: nullableText(),
  inbound_destination: nullableText(),
  description: Type.String(),
  recording: Type.Boolean(),
  enable_transcription: Type.Boolean(),
  pii_redaction: Type.Boolean(),
  pii_entity_types: nullableText(),
  webhook_url: nullableText(),
  webhook_method: Type.String(),
  recording_webhook_enabled: Type.Boolean(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

/** `trunk_domain` is the first 8 hex digits of the ID before the registrar's host (dialect §3.9). */
export const showTrunk = (trunk: Trunk, registrarHost: string): Static<typeof TrunkSchema> => ({
  trunk_id: trunk.trunkId,
  account_id: trunk.accountId,
  name: trunk.name,
  trunk_domain: `${trunk.trunkId.slice(0, 8)}.${registrarHost}`,
  trunk_direction: trunk.direction,
  trunk_status: trunk.enabled ? 'enabled' : 'disabled',
  transport: trunk.transport,
  secure: trunk.secure,
  concurrent_calls_limit: trunk.concurrentCallsLimit,
  cps_limit: trunk.cpsLimit,
  primary_uri_uuid: trunk.primaryUriUuid ?? null,
  fallback_uri_uuid: trunk.fallbackUriUuid ?? null,
  credential_uuid: trunk.credentialUuid ?? null,
  ipacl_uuid: trunk.ipaclUuid ?? null,
  inbound_destination: null,
  description: trunk.description,
  recording: trunk.recording,
  enable_transcription: false,
  pii_redaction: false,
  pii_entity_types: null,
  webhook_url: trunk.webhookUrl ?? null,
  webhook_method: trunk.webhookMethod,
  recording_webhook_enabled: false,
  created_at: isoMicros(trunk.createdUs),
  updated_at: isoMicros(trunk.updatedUs),
});

export const OriginationUriSchema = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  name: Type.String(),
  uri: Type.String(),
  sip_uri: Type.String(),
  priority: Type.Integer(),
  weight: Type.Integer(),
  enabled: Type.Boolean(),
  transport: Type.String(),
  description: Type.String(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

const URI_TRANSPORT = /;transport=(udp|tcp|tls)\b/i;

export const showOriginationUri = (uri: OriginationUri): Static<typeof OriginationUriSchema> => ({
  id: uri.id,
  account_id: uri.accountId,
  name: uri.name,
  uri: uri.sipUri,
  sip_uri: uri.sipUri,
  priority: uri.priority,
  weight: uri.weight,
  enabled: uri.enabled,
  transport: URI_TRANSPORT.exec(uri.sipUri)?.[1]?.toLowerCase() ?? 'udp',
  description: uri.description,
  created_at: isoMicros(uri.createdUs),
  updated_at: isoMicros(uri.updatedUs),
});

export const CredentialSchema = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  username: Type.String(),
  password: Type.String({ description: 'never shown' }),
  realm: Type.String(),
  enabled: Type.Boolean(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const showCredential = (credential: TrunkCredential): Static<typeof CredentialSchema> => ({
  id: credential.id,
  account_id: credential.accountId,
  username: credential.username,
  password: '<redacted>',
  realm: credential.realm,
  enabled: credential.enabled,
  created_at: isoMicros(credential.createdUs),
  updated_at: isoMicros(credential.updatedUs),
});

export const IpAclSchema = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  ip_address: Type.String(),
  description: Type.String(),
  enabled: Type.Boolean(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

export const showIpAcl = (acl: IpAcl): Static<typeof IpAclSchema> => ({
  id: acl.id,
  account_id: acl.accountId,
  ip_address: acl.ipAddress,
  description: acl.description,
  enabled: acl.enabled,
  created_at: isoMicros(acl.createdUs),
  updated_at: isoMicros(acl.updatedUs),
});
