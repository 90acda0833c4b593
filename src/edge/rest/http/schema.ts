/** Building blocks of request and reply schemas. */

import { type Static, type TSchema, Type } from 'typebox';
import {
  type AccountId,
  type AgentId,
  type AppId,
  asCallUuid,
  asRecordingId,
  asStreamId,
  type CallUuid,
  type CampaignId,
  type EndpointId,
  type RecordingId,
  type StreamId,
  type TrunkId,
} from '../../../base/ids.ts';
import { hinted } from '../../../base/schema-hint.ts';

export type { Static, TSchema };
export { hinted, Type };

/** Adds a description, which the API page and the command line show. */
export const described = <S extends TSchema>(schema: S, description: string): S => ({
  ...schema,
  description,
});

/** Matches text without control characters (C0, DEL, C1). */
const NO_CONTROL = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/**
 * Text that becomes part of a SIP header field. Control characters are rejected, because they could end the line and start
 * another one.
 */
export const headerText = (options: { readonly minLength?: number; readonly maxLength: number }) =>
  hinted(
    Type.String({ ...options, pattern: NO_CONTROL }),
    `must have ${options.minLength ?? 0} to ${options.maxLength} characters and no control characters`,
  );

/** Text that contains an identifier; the result has the identifier's type. */
const idText =
  <Id extends string>() =>
  (options: { readonly description?: string; readonly minLength?: number } = {}) =>
    Type.Unsafe<Id>({ type: 'string', ...options });
export const accountIdText = idText<AccountId>();
export const endpointIdText = idText<EndpointId>();
export const trunkIdText = idText<TrunkId>();
export const callUuidText = idText<CallUuid>();
export const recordingIdText = idText<RecordingId>();
export const streamIdText = idText<StreamId>();
export const campaignIdText = idText<CampaignId>();
export const agentIdText = idText<AgentId>();
/** Converts the call UUID of a path or filter, in any case. */
export const callUuidOf = (typed: string): CallUuid => asCallUuid(typed.toLowerCase());
export const recordingIdOf = (typed: string): RecordingId => asRecordingId(typed.toLowerCase());
export const streamIdOf = (typed: string): StreamId => asStreamId(typed.toLowerCase());

export const nullableAccountId = () => Type.Unsafe<AccountId | null>({ type: ['string', 'null'] });

export const nullableText = () => Type.Unsafe<string | null>({ type: ['string', 'null'] });
export const nullableNumber = () => Type.Unsafe<number | null>({ type: ['number', 'null'] });
export const nullableBoolean = (description: string) =>
  Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description });
export const nullableInteger = () => Type.Unsafe<number | null>({ type: ['integer', 'null'] });

/** Filter by the UUID of a call, conference or recording. */
export const uuidFilter = <Id extends string = string>() =>
  Type.Optional(
    hinted(
      Type.Unsafe<Id>({
        type: 'string',
        pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      }),
      'must be a UUID',
    ),
  );

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export const timestamp = () => Type.String({ description: 'ISO 8601, UTC, microseconds' });
export const nullableTimestamp = () =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'ISO 8601, UTC, microseconds',
  });

export const oneOf = <const V extends readonly string[]>(
  values: V,
  options: { readonly default?: V[number]; readonly description?: string } = {},
) => Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });

/** A JSON boolean, or "true"/"false" in any case (dialect §0.2 rule 11). */
export const flag = (initial?: boolean) =>
  Type.Boolean(initial === undefined ? {} : { default: initial });

/** HTTP method without a default in the schema, because an update must not set fields that it does not name. */
export const httpMethod = () =>
  hinted(
    Type.Unsafe<'GET' | 'POST'>({
      type: 'string',
      enum: ['GET', 'POST'],
      description: 'default POST',
    }),
    'must be GET or POST',
  );

const PORT = '(?::(?:[0-5]?[0-9]{0,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?';
/** Optional user, host and optional port of a URL, and the begin of its path. Addresses such as `host:80800` do not match. */
export const URL_AUTHORITY = `(?:[^\\s/?#@]*@)?(?:\\[[0-9a-fA-F:.]+\\]|[^\\s/?#:@\\[\\]\\\\^|<>%]+)${PORT}(?=[/?#]|$)`;
const HTTP_URL = `^[hH][tT][tT][pP][sS]?://${URL_AUTHORITY}`;
const URL_MAX = 2048;
/** An absolute http(s) URL. Whether its address may be reached is checked when it is requested. */
export const httpUrl = () =>
  hinted(
    Type.String({ pattern: HTTP_URL, maxLength: URL_MAX }),
    'must be an absolute http or https URL',
  );
/** Like `httpUrl`; empty means not set. */
export const optionalHttpUrl = () =>
  hinted(
    Type.String({ pattern: `^$|${HTTP_URL}`, maxLength: URL_MAX }),
    'must be an absolute http or https URL',
  );

/** Like `httpUrl`; empty or null removes the value. */
export const nullableHttpUrl = () =>
  hinted(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: `^$|${HTTP_URL}`,
      maxLength: URL_MAX,
    }),
    'must be an absolute http or https URL',
  );

/** A numeric application ID, as a JSON number or a string of digits (dialect §3.2). */
export const appIdField = () =>
  hinted(
    Type.Unsafe<AppId>({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    'must be a numeric application ID',
  );

/** An application ID in an update; null removes it. */
export const nullableAppId = () => Type.Unsafe<AppId | null>({ type: ['integer', 'null'] });

/** Default page size of Plivo-style lists (dialect §3.0). The maximum is 100. */
export const LIST_LIMIT_DEFAULT = 20;
const LIST_LIMIT_MAX = 100;
export const sliceQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIST_LIMIT_MAX, default: LIST_LIMIT_DEFAULT }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
};

export const apiId = () => Type.String({ description: 'ID of this request' });
export const messageReply = Type.Object({ api_id: apiId(), message: Type.String() });
