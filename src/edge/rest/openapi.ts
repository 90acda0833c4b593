/** Generates the OpenAPI document from the same records that the server mounts. */
import type { ErrorFamily } from './http/error-body.ts';
import { takesKeys } from './http/once.ts';
import { type Audience, type Route, UPLOAD_TYPES } from './http/route.ts';
import type { TSchema } from './http/schema.ts';
import { refusalStatuses, STATUS_TEXT } from './http/statuses.ts';

type Json = Readonly<Record<string, unknown>>;

const SECURITY: Readonly<Record<Audience, readonly Json[]>> = {
  account: [{ authId: [], authToken: [] }, { basic: [] }],
  accountOrAccessToken: [{ authId: [], authToken: [] }, { basic: [] }, { accessToken: [] }],
  caller: [{ authId: [], authToken: [] }, { basic: [] }],
  callerOrAccessToken: [{ authId: [], authToken: [] }, { basic: [] }, { accessToken: [] }],
  link: [{ signature: [] }, { authId: [], authToken: [] }, { basic: [] }],
  admin: [{ adminToken: [] }],
  operator: [{ adminToken: [] }, { basic: [] }],
  scraper: [{ adminToken: [] }, { basic: [] }],
  anyone: [],
  guest: [],
  user: [{ session: [] }],
  public: [],
};

const SECURITY_SCHEMES: Json = {
  authId: { type: 'apiKey', in: 'header', name: 'X-Auth-ID' },
  authToken: { type: 'apiKey', in: 'header', name: 'X-Auth-Token' },
  basic: { type: 'http', scheme: 'basic', description: 'auth id and auth token' },
  accessToken: { type: 'http', scheme: 'bearer', description: 'access token of an account' },
  adminToken: { type: 'http', scheme: 'bearer', description: "the operator's token" },
  session: { type: 'apiKey', in: 'cookie', name: 'carillon_session' },
  signature: { type: 'apiKey', in: 'query', name: 'sig', description: 'signed link' },
};

const text = { type: 'string' };
const coded = {
  type: 'object',
  properties: {
    error: { type: 'object', properties: { code: { type: 'integer' }, message: text } },
  },
};
const named = {
  type: 'object',
  properties: { error: text, details: { type: 'object', additionalProperties: text } },
};

const ERROR_SCHEMAS: Readonly<Record<ErrorFamily, Json>> = {
  ledger: { oneOf: [coded, named] },
  plain: { oneOf: [coded, named] },
  resource: {
    type: 'object',
    properties: {
      api_id: text,
      error: text,
      message: text,
      details: { type: 'object', additionalProperties: text },
    },
  },
  endpoint: named,
  export: { type: 'object', properties: { api_id: text, status: text, message: text } },
  admin: coded,
};

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function parameters(location: 'path' | 'query', schema: TSchema | undefined): readonly Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    ...(typeof property['description'] === 'string' && { description: property['description'] }),
    schema: property,
  }));
}

const IDEMPOTENCY_HEADER: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'makes retries safe for one day: a request repeated with the same key runs once and returns the first response; a different request with the key gets 409',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
};

const json = (schema: unknown): Json => ({ 'application/json': { schema } });

/** The description of the route lists the columns. */
const UPLOAD_BODY: Json = {
  required: true,
  content: Object.fromEntries(
    UPLOAD_TYPES.map((type) => [
      type,
      {
        schema:
          type === 'multipart/form-data'
            ? {
                type: 'object',
                properties: { file: { type: 'string', format: 'binary' } },
                required: ['file'],
              }
            : type === 'application/json'
              ? { type: 'array', items: { type: 'object' } }
              : { type: 'string' },
      },
    ]),
  ),
};

function success(route: Route): Json {
  const description = route.status === 204 ? 'Done; no body' : 'Success';
  if (route.reply !== undefined) return { description, content: json(route.reply) };
  if (route.produces !== undefined) return { description, content: { [route.produces]: {} } };
  return { description };
}

function operation(route: Route): Json {
  const noBody = ((route.body ?? {}) as ObjectSchema).properties;
  const hasBody = noBody !== undefined && Object.keys(noBody).length > 0;
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    security: SECURITY[route.audience],
    parameters: [
      ...parameters('path', route.params),
      ...parameters('query', route.query),
      ...(takesKeys(route) || route.ownKeys ? [IDEMPOTENCY_HEADER] : []),
    ],
    ...(route.streamsBody && { requestBody: UPLOAD_BODY }),
    ...(hasBody && {
      requestBody: {
        required: (((route.body ?? {}) as ObjectSchema).required ?? []).length > 0,
        content: json(route.body),
      },
    }),
    responses: {
      [route.status ?? 200]: success(route),
      ...Object.fromEntries(
        refusalStatuses(route).map((status) => [
          status,
          { description: STATUS_TEXT[status], content: json(ERROR_SCHEMAS[route.errors]) },
        ]),
      ),
    },
  };
}

export const operationId = (route: Pick<Route, 'method' | 'path'>): string =>
  `${route.method.toLowerCase()}${route.path
    .replace(/^\/api\/v1/, '')
    .replaceAll(/\{(\w+)\}/g, 'by_$1')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replace(/_$/, '')}`;

/** Returns an OpenAPI 3.1 document, which uses JSON Schema like the routes. */
export function openApiDocument(routes: readonly Route[], serverUrl: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const item = paths[route.path] ?? {};
    item[route.method.toLowerCase()] = operation(route);
    paths[route.path] = item;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Voice telephony API',
      version: '1.0',
      description:
        'Paths under /api/v1 are also served under /v1, with and without a trailing slash. Only POST …/Call/ requires the slash.',
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES },
  };
}
