import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { type AccountId, asAccountId, uuid } from '../../../base/ids.ts';
import type { RouteNeeds } from '../deps.ts';
import type { Admission } from './admission.ts';
import { ERROR_BODY, type ErrorFamily } from './error-body.ts';
import { type Failure, MISSING_ACCOUNT_ID } from './failure.ts';
import type { Gate } from './gate.ts';
import { oncePerKey } from './once.ts';
import type { AccountInput, RawReply, Route } from './route.ts';
import type { TSchema } from './schema.ts';
import { beyondSchema } from './unknown.ts';
import { routerPath } from './url.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the gate before the body is read. */
    admission: Admission | undefined;
    /** UUID of this request, returned as `api_id`. */
    apiId: string;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

/** Idle timeout of long-running requests, milliseconds. Equals the timeout of the command line. */
const LONG_RUNNING_MS = 600_000;

/** Characters of a detail in the audit log. */
const MAX_DETAIL = 500;

/** The socket of a request that tests inject has no `setTimeout`. */
const keepConnection = (socket: Partial<Socket>): void => {
  socket.setTimeout?.(LONG_RUNNING_MS);
};

/** Registers one route on the server. */
export function mount(app: FastifyInstance, route: Route, gate: Gate, needs: RouteNeeds): void {
  if (route.anyOrigin) answerPreflight(app, route);
  const status = route.successStatus?.(needs.settings) ?? route.status ?? 200;
  const schema: FastifySchema = {
    ...(route.params && { params: route.params }),
    ...(route.query && { querystring: route.query }),
    ...(route.body && { body: route.body }),
    ...(route.reply && { response: { [status]: route.reply } }),
  };
  app.route({
    method: route.method,
    url: routerPath(route.method, route.path),
    schema,
    config: { route },
    ...(route.bodyLimitBytes !== undefined && { bodyLimit: route.bodyLimitBytes }),
    exposeHeadRoute: HEAD_TOO.has(route.audience) && route.method === 'GET',
    onRequest: admitter(route, gate),
    preValidation: normaliser(route),
    handler: handlerOf(route, { gate, needs, status }),
  });
}

/** Refuses requests without permission, before their body is read. */
const admitter =
  (route: Route, gate: Gate) => async (request: FastifyRequest, reply: FastifyReply) => {
    const refuse = (failure: Failure) => sendFailure(reply, failure, route.errors, request.apiId);
    if (route.anyOrigin) reply.header('access-control-allow-origin', '*');
    const authId = pathAccount(route, request);
    if (authId === '') return refuse(MISSING_ACCOUNT_ID);
    if (route.audience === 'link' && carriesSignature(request)) {
      const refusal = await gate.refusesLink(authId ?? asAccountId(''));
      return refusal === undefined ? undefined : refuse(refusal);
    }
    const admitted = await gate.admit(route, request.headers, authId, request.ip);
    if (!admitted.ok) return refuse(admitted.error);
    request.admission = admitted.value;
    return undefined;
  };

/** Refuses fields beyond the schema, and brings booleans into the form that the schema expects. */
function normaliser(route: Route) {
  const booleans = { body: booleanFields(route.body), query: booleanFields(route.query) };
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const beyond = beyondSchema(route, request.query, request.body);
    if (beyond !== undefined) return sendFailure(reply, beyond, route.errors, request.apiId);
    if (route.body !== undefined) request.body = normalised(request.body, booleans.body);
    if (booleans.query.length > 0) normalised(request.query, booleans.query);
    return undefined;
  };
}

/** Runs the route, writes the audit entry and sends the result. */
const handlerOf =
  (
    route: Route,
    {
      gate,
      needs,
      status,
    }: { readonly gate: Gate; readonly needs: RouteNeeds; readonly status: number },
  ) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    if (route.longRunning) keepConnection(request.raw.socket);
    const result = await oncePerKey(needs.accounts, { request, reply, route }, async () =>
      route.run(needs, inputOf(request)),
    );
    noteChange(request, route, {
      users: needs.users,
      status: result.ok ? status : result.error.status,
    });
    if (!result.ok) {
      if (route.audience === 'guest' && result.error.status === 401) gate.guestRefused(request.ip);
      return sendFailure(reply, result.error, route.errors, request.apiId);
    }
    reply.code(status);
    if (status === 204) return reply.send();
    if (route.reply !== undefined) return reply.send(result.value);
    return sendRaw(reply, result.value as RawReply);
  };

/** Writes an audit entry for changes by users and by the operator's token, including refused ones. */
function noteChange(
  { admission, method, originalUrl, ip, body }: FastifyRequest,
  { audience, summary, changesNothing, auditDetail }: Route,
  { users, status }: { readonly users: RouteNeeds['users']; readonly status: number },
): void {
  const { user, access, principal } = admission ?? {};
  const isOperator = audience === 'admin' && user === undefined;
  const onlyAsks = method === 'GET' || method === 'HEAD' || changesNothing === true;
  if (onlyAsks || (user === undefined && !isOperator)) return;
  users.note({
    who: user?.email ?? 'operator',
    accountId: access?.account.authId ?? principal?.account.authId ?? user?.accountId,
    what: summary,
    method,
    path: originalUrl.split('?', 1)[0] ?? '',
    status,
    address: ip,
    detail: auditDetail?.(body).slice(0, MAX_DETAIL),
  });
}

/** Answers the preflight request of a browser for a page of another origin (Fetch standard, 3.3). */
function answerPreflight(app: FastifyInstance, { method, path }: Route): void {
  app.options(routerPath(method, path), async (_request, reply) =>
    reply
      .code(204)
      .headers({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': method,
        'access-control-allow-headers': 'content-type',
        'access-control-max-age': '86400',
      })
      .send(),
  );
}

export function sendFailure(
  reply: FastifyReply,
  failure: Failure,
  family: ErrorFamily,
  apiId: string,
): FastifyReply {
  reply.code(failure.status);
  for (const [name, value] of Object.entries(failure.headers ?? {})) reply.header(name, value);
  // Omits the Basic challenge for requests of a page, which would open the browser's password dialog.
  if (failure.status === 401 && !reply.hasHeader('www-authenticate'))
    reply.header('www-authenticate', 'Basic realm="API", charset="UTF-8"');
  if (failure.bare) return reply.send();
  // Bypasses the reply serializers, which describe successful responses only.
  return reply
    .serializer(JSON.stringify)
    .type('application/json; charset=utf-8')
    .send(ERROR_BODY[family](failure, apiId));
}

export const newApiId = (needs: Pick<RouteNeeds, 'random'>): string => uuid(needs.random);

function inputOf(request: FastifyRequest): AccountInput {
  const { principal, access } = request.admission ?? {};
  const owner = access?.owner ?? principal?.owner;
  const account = access?.account ?? principal?.account;
  // Routes without an account have input types that omit the members that are empty here.
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    apiId: request.apiId,
    headers: request.headers,
    url: request.originalUrl,
    isOperator: request.admission?.operator === true,
    user: request.admission?.user,
    address: request.ip,
    principal,
    access,
    accountId: owner?.authId ?? '',
    subAccount: account?.parentAuthId === undefined ? undefined : account.authId,
  } as AccountInput;
}

function sendRaw(reply: FastifyReply, raw: RawReply): FastifyReply {
  for (const [name, value] of Object.entries(raw.headers ?? {})) reply.header(name, value);
  if (raw.status !== undefined) reply.code(raw.status);
  return reply.type(raw.contentType).send(raw.body);
}

const HEAD_TOO: ReadonlySet<Route['audience']> = new Set(['public', 'anyone']);

const ABOUT_AN_ACCOUNT: ReadonlySet<Route['audience']> = new Set([
  'account',
  'accountOrAccessToken',
  'link',
]);

const carriesSignature = ({ query }: FastifyRequest): boolean =>
  typeof (query as { readonly sig?: unknown }).sig === 'string';

/** Returns the account in the path of an account route. */
function pathAccount(route: Route, request: FastifyRequest): AccountId | undefined {
  if (!ABOUT_AN_ACCOUNT.has(route.audience)) return undefined;
  const { auth_id: authId } = request.params as { readonly auth_id?: AccountId };
  return authId ?? asAccountId('');
}

function booleanFields(schema: TSchema | undefined): readonly string[] {
  const { properties = {} } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  };
  return Object.keys(properties).filter((name) => properties[name]?.type === 'boolean');
}

/** Treats an absent body as an empty object and parses booleans written as text in any case (dialect §0.2 rule 11). */
function normalised(body: unknown, booleans: readonly string[]): unknown {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object') return body;
  const fields = body as Record<string, unknown>;
  for (const name of booleans) {
    const value = fields[name];
    if (typeof value === 'string') fields[name] = value.trim().toLowerCase();
  }
  return fields;
}
