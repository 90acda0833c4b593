import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError, type ServiceErrorCode } from '../../../base/errors.ts';
import type { Logger } from '../../../base/logger.ts';
import { type Failure, failure } from './failure.ts';
import { fieldProblems } from './field-problems.ts';
import { sendFailure } from './mount.ts';
import { type Route, UPLOAD_TYPES } from './route.ts';
import { familyOfPath, unmatchedFailure } from './unmatched.ts';

/** Environment failures with a response other than 500. */
const SERVICE_FAILURES: Partial<Record<ServiceErrorCode, Failure>> = {
  STORE_BUSY: failure(503, 'service temporarily unavailable', { headers: { 'retry-after': '1' } }),
  STORE_FULL: failure(507, 'storage is full', { headers: { 'retry-after': '60' } }),
  STORE_GONE: failure(503, 'service temporarily unavailable', { headers: { 'retry-after': '5' } }),
  BACKUP_EXTERNAL: failure(
    409,
    'the store is on PostgreSQL: back it up with pg_dump, together with the folder keys of the data folder',
  ),
  CONFLICT: failure(409, 'already exists'),
  REFERENCE_GONE: failure(409, 'an object that the request refers to was deleted'),
  STORE_UNREADABLE: failure(500, 'a stored record cannot be read; the operator is informed'),
  STORE_CLOSED: failure(503, 'service is shutting down', { headers: { 'retry-after': '5' } }),
  MEDIA_UNAVAILABLE: failure(503, 'media engine unavailable', { headers: { 'retry-after': '5' } }),
  OBJECTS_UNAVAILABLE: failure(503, 'file storage unavailable', {
    headers: { 'retry-after': '30' },
  }),
  CLUSTER_UNAVAILABLE: failure(502, 'other nodes are unreachable', {
    headers: { 'retry-after': '1' },
  }),
  NODE_UNREACHABLE: failure(504, 'the node of the call does not answer', {
    headers: { 'retry-after': '1' },
  }),
  MEDIA_NO_PORTS: failure(503, 'no media port free', { headers: { 'retry-after': '5' } }),
};

/** Messages for errors of the HTTP layer. */
const HTTP_FAILURES: Readonly<Record<number, string>> = {
  400: 'malformed request',
  413: 'request body too large',
  414: 'request target too long',
  415: 'content type must be application/json',
};

const UPLOAD_TYPE_WANTED = `content type must be one of ${UPLOAD_TYPES.join(', ')}`;

/** Returns every error, including unknown paths, in the body shape of the route's family. */
export function installErrorHandlers(
  app: FastifyInstance,
  routes: readonly Route[],
  logger: Logger,
): void {
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    if (isForBrowser(request, path)) {
      return reply.code(404).type('text/html; charset=utf-8').send(NOT_FOUND_PAGE);
    }
    return sendFailure(
      reply,
      unmatchedFailure(request.method, path, routes),
      familyOfPath(path),
      request.apiId,
    );
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const route = request.routeOptions.config.route;
    const refusal = failureOf(error, route);
    if (refusal.status >= 500) {
      logger.error(
        { requestId: request.id, method: request.method, path: pathOf(request), error },
        'request failed',
      );
    }
    const family = route?.errors ?? familyOfPath(pathOf(request));
    return sendFailure(reply, refusal, family, request.apiId);
  });
}

const PROGRAMS = /^\/(api|v1|admin|openapi|metrics|console\/api)(\/|$)/;

/** Returns true for a page that a person opened. Programs get the error of their API. */
const isForBrowser = ({ method, headers }: FastifyRequest, path: string): boolean =>
  method === 'GET' && !PROGRAMS.test(path) && (headers.accept ?? '').includes('text/html');

const NOT_FOUND_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>404: Page not found</title>
</head>
<body>
<main>
<h1>404: Page not found</h1>
<p>This address does not exist. Open the <a href="/console">console</a> or the <a href="/docs">API reference</a>.</p>
</main>
</body>
</html>
`;

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '';

/** Code of the error for a body that is nested too deeply. */
export const JSON_TOO_DEEP = 'JSON_TOO_DEEP';

const BODY_FAILURES: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed JSON',
  [JSON_TOO_DEEP]: 'JSON is nested too deeply',
};

function failureOf(error: FastifyError, route: Route | undefined): Failure {
  if (error.validation !== undefined) return invalidParameters(error, route);
  if (error instanceof ServiceError) {
    return SERVICE_FAILURES[error.code] ?? failure(500, internal(route));
  }
  const status = error.statusCode ?? 500;
  if (status === 415 && route?.streamsBody) return failure(415, UPLOAD_TYPE_WANTED);
  if (status >= 400 && status < 500) {
    return failure(status, BODY_FAILURES[error.code] ?? HTTP_FAILURES[status] ?? 'bad request');
  }
  return failure(500, internal(route));
}

const internal = (route: Route | undefined): string =>
  route?.internalError ?? 'internal server error';

/** Builds one sentence per invalid field, using the schema's hint if it has one. */
function invalidParameters(error: FastifyError, route: Route | undefined): Failure {
  const part = error.validationContext ?? 'body';
  const schema = part === 'body' ? route?.body : route?.query;
  const details = fieldProblems(error.validation ?? [], schema, part);
  const detail = Object.entries(details)
    .map(([field, problem]) => `${field} ${problem}`)
    .join('; ');
  return failure(400, 'invalid request parameters', { detail, details });
}
