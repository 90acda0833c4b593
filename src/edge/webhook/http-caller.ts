/** Entry point: HTTP requests to customers. Implements `HttpCaller` for callbacks, and downloads audio files. */
import type { Agent } from 'undici';
import type { EgressGuard } from '../../base/egress.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type {
  HttpCaller,
  HttpFailure,
  HttpFailureKind,
  HttpResponse,
} from '../../domain/callback/needs.ts';
import { decodeBody } from './charset.ts';
import { createGuardedAgent, type GuardedAgentOptions } from './guarded-agent.ts';
import { type HopFailure, type HopRequest, type HopResponse, sendHop } from './hop.ts';
import { HostLimiter, type SlotRefusal } from './host-limiter.ts';

interface ByteRequest {
  readonly maxBytes: number;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly stallTimeoutMs?: number | undefined;
  readonly maxRedirects: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface ByteResponse {
  readonly status: number;
  readonly contentType: string;
  readonly etag: string | undefined;
  readonly bytes: Uint8Array;
  readonly durationMs: number;
}

export interface CustomerHttp extends HttpCaller {
  /** Downloads a file. Every status counts as a response. Never rejects. */
  getBytes(url: string, request: ByteRequest): Promise<Result<ByteResponse, HttpFailure>>;
  /** Number of hosts, running and waiting requests; for metrics. */
  counts(): { readonly hosts: number; readonly running: number; readonly waiting: number };
  close(): Promise<void>;
}

/** Maximum number of requests per host that wait for a connection. Further requests fail immediately. */
const QUEUED_PER_HOST = 1000;

export function createHttpCaller(options: GuardedAgentOptions): CustomerHttp {
  const agent = createGuardedAgent(options);
  const limiter = new HostLimiter({
    perHost: options.connectionsPerHost,
    queuedPerHost: QUEUED_PER_HOST,
  });
  const exchange = (plan: Plan): Promise<Result<HopResponse, HopFailure>> =>
    follow(plan, options.egress, (hop) => oneHop(agent, limiter, hop, plan.signal));
  return {
    send: async (request, signal) => {
      const startedMs = performance.now();
      const { method, url, headers, body, connectTimeoutMs, readTimeoutMs } = request;
      const result = await exchange({
        method,
        url,
        headers,
        body,
        connectTimeoutMs,
        readTimeoutMs,
        stallTimeoutMs: request.stallTimeoutMs,
        maxBytes: request.maxResponseBytes,
        maxRedirects: request.maxRedirects,
        signal,
      });
      return finish(
        result,
        startedMs,
        ({ status, headers, body }): Timeless<HttpResponse> => ({
          status,
          contentType: headers['content-type'] ?? '',
          body: decodeBody(body, headers),
        }),
      );
    },
    getBytes: async (url, request) => {
      const startedMs = performance.now();
      const { headers = {}, signal } = request;
      const result = await exchange({
        ...request,
        method: 'GET',
        url,
        headers,
        body: undefined,
        signal,
      });
      return finish(
        result,
        startedMs,
        ({ status, headers: received, body }): Timeless<ByteResponse> => ({
          status,
          contentType: received['content-type'] ?? '',
          etag: received.etag,
          bytes: body,
        }),
      );
    },
    counts: () => limiter.counts(),
    close: () => agent.destroy(),
  };
}

type Timeless<T> = Omit<T, 'durationMs'>;

function finish<T extends object>(
  result: Result<HopResponse, HopFailure>,
  startedMs: number,
  shape: (response: HopResponse) => T,
): Result<T & { readonly durationMs: number }, HttpFailure> {
  const durationMs = performance.now() - startedMs;
  if (result.ok) return ok({ ...shape(result.value), durationMs });
  const { kind, detail, isUnsent } = result.error;
  return err({ kind, detail, durationMs, isUnsent });
}

interface Plan extends Omit<HopRequest, 'url'> {
  readonly url: string;
  readonly maxRedirects: number;
  readonly signal: AbortSignal | undefined;
}

/** Parsed URLs of POST requests, which repeat because their parameters are in the body. Never modified. */
const urls = new RecentMap<URL>(1000);

function knownUrl(text: string): URL | null {
  const known = urls.get(text);
  if (known !== undefined) return known;
  const url = URL.parse(text);
  if (url !== null) urls.set(text, url);
  return url;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Follows redirects, each hop through the guard. A POST remains a POST with its body (RFC 9110 §15.4 allows it for 301 and 302),
 * because customers redirect moved paths and http to https, where the parameters are still needed. 303 becomes GET.
 */
async function follow(
  plan: Plan,
  egress: EgressGuard,
  send: (hop: HopRequest) => Promise<Result<HopResponse, HopFailure>>,
): Promise<Result<HopResponse, HopFailure>> {
  const url = plan.method === 'POST' ? knownUrl(plan.url) : URL.parse(plan.url);
  if (url === null) return failure('protocol', 'not an absolute URL');
  let hop: HopRequest = { ...plan, url };
  for (let redirects = 0; ; redirects += 1) {
    const refusal = egress.refuses(hop.url);
    if (refusal !== undefined) return failure('refusedAddress', refusal);
    const result = await send(hop);
    if (!result.ok) return result;
    const { status, headers } = result.value;
    const { location } = headers;
    if (!REDIRECTS.has(status) || location === undefined) return result;
    if (redirects >= plan.maxRedirects) {
      return failure('tooManyRedirects', `more than ${plan.maxRedirects} redirects`);
    }
    if (!URL.canParse(location, hop.url.href)) {
      return failure('protocol', 'the redirect has no usable Location');
    }
    hop = redirected(hop, new URL(location, hop.url), status);
  }
}

function redirected(hop: HopRequest, url: URL, status: number): HopRequest {
  const toGet = status === 303;
  const dropped = new Set([
    ...(toGet ? ['content-type'] : []),
    // Credentials apply only to their configured origin (RFC 9110 §15.4).
    ...(url.origin === hop.url.origin ? [] : ['authorization']),
  ]);
  const headers = Object.fromEntries(
    Object.entries(hop.headers).filter(([name]) => !dropped.has(name.toLowerCase())),
  );
  return { ...hop, url, headers, ...(toGet ? { method: 'GET', body: undefined } : {}) };
}

async function oneHop(
  agent: Agent,
  limiter: HostLimiter,
  hop: HopRequest,
  signal: AbortSignal | undefined,
): Promise<Result<HopResponse, HopFailure>> {
  const maxWaitMs = hop.connectTimeoutMs + hop.readTimeoutMs;
  for (let attempt = 0; ; attempt += 1) {
    const slot = await limiter.acquire(hop.url.origin, maxWaitMs, signal);
    if (typeof slot === 'string') return SLOT_FAILURES[slot];
    const result = await sendHop(agent, hop, signal, slot);
    // Retries once on a new connection. Receivers of callbacks must accept duplicates, and a caller is waiting.
    if (result.ok || !result.error.staleConnection || attempt > 0) return result;
  }
}

const failure = (
  kind: HttpFailureKind,
  detail: string,
): { readonly ok: false; readonly error: HopFailure } =>
  err({ kind, detail, staleConnection: false });

const SLOT_FAILURES: Readonly<Record<SlotRefusal, ReturnType<typeof failure>>> = {
  queueFull: failure('connect', `${QUEUED_PER_HOST} requests are waiting for this host already`),
  waitedTooLong: failure('timeout', 'all connections to this host were busy for too long'),
  aborted: err({ kind: 'aborted', detail: 'aborted', staleConnection: false, isUnsent: true }),
};
