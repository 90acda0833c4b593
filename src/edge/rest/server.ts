import type { IncomingMessage } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { isDeeper } from '../../base/depth.ts';
import { listenError } from '../../base/listen-error.ts';
import { LiveFeed } from './console/live-feed.ts';
import type { RestDeps } from './deps.ts';
import { readCertificate, type WatchedCertificate, watchCertificate } from './http/certificate.ts';
import { answerClientError, isRefused } from './http/client-error.ts';
import { checkBy, writeBy } from './http/compilers.ts';
import { Connections } from './http/connections.ts';
import { installErrorHandlers, JSON_TOO_DEEP } from './http/errors.ts';
import { failure } from './http/failure.ts';
import { Gate } from './http/gate.ts';
import { mount, newApiId, sendFailure } from './http/mount.ts';
import { Refusals } from './http/refusals.ts';
import { RequestRate } from './http/request-rate.ts';
import { UPLOAD_TYPES } from './http/route.ts';
import { securityHeaders } from './http/security-headers.ts';
import { handOnUpgrades, isUpgrade } from './http/upgrades.ts';
import { canonicalUrl } from './http/url.ts';
import type { LiveCalls } from './live-calls.ts';
import { ROUTES } from './routes.ts';
import { showLiveCall } from './wire/call.ts';

export { parseCarriersFile } from './admin/carriers-file.ts';
export { invitationLink } from './console/users.ts';
export type { RestDeps, RestSettings, StreamTestReport, StreamTestRequest } from './deps.ts';
export { CredentialUses } from './http/credential-uses.ts';
export type { OperatorPages } from './http/operator-authentication.ts';
export type {
  CallListeningAccess,
  LiveCalls,
  LiveQuality,
  MessageForms,
  SipMessageTrace,
  StillAllowed,
} from './live-calls.ts';
export type {
  DoctorReport,
  HistoryPeriod,
  LogQuery,
  LogView,
  MetricsHistory,
  NodeView,
  Operations,
  PartState,
  RegistrationView,
  ServiceStatus,
  SettingsView,
} from './operations.ts';

/** Rounds the score, so that a list is sent again only for a visible difference. */
const roundedMos = (mos: number | undefined): number | null =>
  mos === undefined ? null : Math.round(mos * 10) / 10;

/** Live updates of running calls for console pages. */
export const createLiveFeed = (clock: Clock, calls: Pick<LiveCalls, 'list' | 'scores'>): LiveFeed =>
  new LiveFeed({
    clock,
    list: () => calls.list(),
    scores: async (shown) => new Map(await calls.scores(shown)),
    show: (call, mos) => ({
      account_id: call.accountId,
      ...showLiveCall(call),
      mos: roundedMos(mos),
      bots: call.bots,
    }),
  });

export interface RestServer {
  /** Rejects with ServiceError PORT_IN_USE. */
  start(): Promise<{ readonly url: string }>;
  /** Finishes running requests and refuses new ones. */
  stop(): Promise<void>;
  /** Reloads the certificate. An invalid one is logged and the previous one stays in use. */
  reloadCertificate(): void;
  /** The underlying server, for test requests without a socket. */
  readonly app: FastifyInstance;
}

/** Time in which a request must arrive completely (milliseconds). Uploads have a longer limit. */
const REQUEST_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 15 * 60_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Idle timeout of a connection, milliseconds. It includes clients that do not read. */
const IDLE_CONNECTION_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const SLOW_CLIENT_CHECK_MS = 2000;
const MAX_HEADER_BYTES = 16_384;
/** Maximum number of connections. Beyond it, the longest-idle connection is closed. */
const MAX_CONNECTIONS = 10_000;
/** Number of extra connections for those that are closing. */
const CLOSING_CONNECTIONS = 1000;
/** Time after stop at which running requests, such as slow downloads, are aborted, milliseconds. */
const STOP_WITHIN_MS = 5000;
/** Maximum length of a path parameter (a conference name). */
const MAX_PARAM_LENGTH = 256;
/** Allowed format of request IDs from clients and proxies, which are echoed in `X-Request-ID` and logged. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;

export function createRestServer(deps: RestDeps): RestServer {
  const app = build(deps);
  const { requestsPerSecond, refusedPerSecond, operatorPages } = deps.settings;
  const gate = new Gate({
    ...deps,
    operatorPages,
    rate: new RequestRate(requestsPerSecond),
    refusals: new Refusals(refusedPerSecond),
  });
  for (const route of ROUTES.filter(({ streamsBody }) => !streamsBody)) {
    mount(app, route, gate, deps);
  }
  void app.register((uploads, _options, done) => {
    acceptStreams(uploads);
    for (const route of ROUTES.filter(({ streamsBody }) => streamsBody)) {
      mount(uploads, route, gate, deps);
    }
    done();
  });
  installErrorHandlers(app, ROUTES, deps.logger);
  const { tls, host, port } = deps.settings;
  let certificate: WatchedCertificate | undefined;
  return {
    app,
    async start() {
      app.server.maxConnections = MAX_CONNECTIONS + CLOSING_CONNECTIONS;
      const { connectionsPerAddress: perAddress, trustProxy: proxies } = deps.settings;
      new Connections({ perAddress, total: MAX_CONNECTIONS, proxies }).watch(app.server);
      handOnUpgrades(app.server, proxies, deps.takeUpgrade);
      const url = await listen(app, host, port);
      if (tls !== undefined) {
        certificate = watchCertificate(app.server as unknown as HttpsServer, tls, deps.logger);
      }
      return { url };
    },
    reloadCertificate: () => certificate?.reload(),
    async stop() {
      certificate?.close();
      deps.liveFeed.stop();
      deps.callListening.stop();
      const cancel = deps.clock.at(deps.clock.monotonicMs() + STOP_WITHIN_MS, () =>
        app.server.closeAllConnections(),
      );
      await app.close();
      cancel();
    },
  };
}

function build(deps: RestDeps): FastifyInstance {
  const { settings } = deps;
  const isEncrypted = settings.tls !== undefined || settings.publicUrl.startsWith('https:');
  const headers = securityHeaders(isEncrypted);
  const common = commonOptions(deps, headers);
  const app =
    settings.tls === undefined
      ? (fastify({ ...common, http: SERVER_LIMITS }) as unknown as FastifyInstance)
      : // The typings tell HTTP and HTTPS servers apart; everything below treats them alike.
        (fastify({
          ...common,
          https: { ...SERVER_LIMITS, ...readCertificate(settings.tls) },
        }) as unknown as FastifyInstance);
  app.setValidatorCompiler(checkBy);
  app.setSerializerCompiler(writeBy);
  acceptJson(app);
  prepareRequests(app, deps, headers);
  logServed(app, deps.logger);
  return app;
}

/** Limits of the HTTP server below Fastify. */
const SERVER_LIMITS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: SLOW_CLIENT_CHECK_MS,
  shouldUpgradeCallback: isUpgrade,
};

type Headers = ReturnType<typeof securityHeaders>;

/** Options of Fastify for HTTP and HTTPS: limits, request IDs, and answers to requests that match no route. */
function commonOptions(deps: RestDeps, headers: Headers) {
  const { settings } = deps;
  return {
    logger: false as const,
    bodyLimit: settings.bodyLimitBytes,
    trustProxy: settings.trustProxy.length === 0 ? false : [...settings.trustProxy],
    requestTimeout: UPLOAD_TIMEOUT_MS,
    connectionTimeout: IDLE_CONNECTION_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle' as const,
    exposeHeadRoutes: false,
    requestIdHeader: false as const,
    genReqId: ({ headers: sent }: Pick<IncomingMessage, 'headers'>) => {
      const given = sent['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : newApiId(deps);
    },
    rewriteUrl: ({ method = 'GET', url = '/' }: IncomingMessage) => canonicalUrl(method, url),
    // An invalid URL, for example with a stray percent sign, matches no route.
    frameworkErrors: (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      const id = newApiId(deps);
      reply.headers({ ...headers, 'x-request-id': request.id });
      return sendFailure(reply, failure(400, 'malformed request'), 'plain', id);
    },
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      answerClientError(error, socket, headers),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
  };
}

/** Gives each request its IDs, security headers and time limit. */
function prepareRequests(app: FastifyInstance, deps: RestDeps, headers: Headers): void {
  const { settings, logger, clock } = deps;
  app.decorateRequest('admission', undefined);
  app.decorateRequest('apiId', '');
  const noticeProxy = once(() =>
    logger.warn(
      {},
      'requests have X-Forwarded-For but http.trustProxy is empty: rate limits treat all clients behind the proxy as one',
    ),
  );
  const forwarded = ({ headers: given }: FastifyRequest): boolean =>
    settings.trustProxy.length === 0 && given['x-forwarded-for'] !== undefined;
  app.addHook('onRequest', async (request, reply) => {
    // The request ID is generated unless the client sent one; a client cannot choose api_id.
    const ours = request.id !== request.headers['x-request-id'];
    request.apiId = ours ? request.id : newApiId(deps);
    reply.headers({ ...headers, 'x-request-id': request.id });
    if (forwarded(request)) noticeProxy();
    if (!request.routeOptions.config.route?.streamsBody) {
      limitArrival(clock, request.raw, headers);
    }
  });
  app.addHook('preHandler', async (request, reply) => {
    // The request arrived completely after it was answered as failed.
    if (!isRefused(request.raw.socket)) return;
    reply.hijack();
    request.raw.destroy();
  });
}

function logServed(app: FastifyInstance, logger: RestDeps['logger']): void {
  app.addHook('onResponse', async (request, reply) => {
    logger.debug(
      {
        requestId: request.id,
        client: request.ip,
        method: request.method,
        // The query is omitted, because it contains the signatures of links.
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        accountId: request.admission?.principal?.account.authId,
      },
      'request served',
    );
  });
}

/** Limits the arrival time of a request; the server's own limit is the longer one for uploads. */
function limitArrival(
  clock: RestDeps['clock'],
  request: IncomingMessage,
  headers: Readonly<Record<string, string>>,
): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && Number(length ?? 0) === 0) return;
  const cancel = clock.at(clock.monotonicMs() + REQUEST_TIMEOUT_MS, () => {
    // Injected test requests do not set `complete`.
    if (request.complete === false) answerClientError(TIMEOUT, request.socket, headers);
  });
  request.once('end', cancel);
  request.once('close', cancel);
}

const TIMEOUT = Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

/** Parses JSON only. An empty body with a JSON content type counts as no body (SDKs send it with DELETE). */
function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'ignore');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, body, done) => {
      if (body.trim() === '') done(null, undefined);
      else
        void parse(request, body, (error, value) =>
          isDeeper(value, JSON_DEPTH_MAX) ? done(TOO_DEEP) : done(error, value),
        );
    },
  );
}

/** Maximum nesting of objects and arrays in a body. */
const JSON_DEPTH_MAX = 64;
const TOO_DEEP = Object.assign(new Error('the JSON is nested too deeply'), {
  code: JSON_TOO_DEEP,
  statusCode: 400,
});

/** Leaves the body unread; the handler reads it. */
function acceptStreams(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([...UPLOAD_TYPES], (_request, body, done) => done(null, body));
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    throw listenError(cause, {
      what: 'HTTP address',
      host,
      port,
      portSetting: 'CARILLON_HTTP_PORT',
      hostSetting: 'CARILLON_HTTP_HOST',
    });
  }
}
