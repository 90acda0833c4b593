/** Runs one HTTP exchange of a callback: encodes, signs, sends and reports it. Callers handle retries. */

import { type AccountId, isUuid, type Random } from '../../base/ids.ts';
import type { Lease } from '../../base/lease.ts';
import { withoutUserInfo } from '../../base/mask.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { spanIdOf, traceIdOf, traceparent } from '../../base/trace-context.ts';
import { asSent, formEncode, withQuery } from './form.ts';
import type { HttpCaller, HttpFailure, HttpResponse, SigningTokens } from './needs.ts';
import { type CallbackSettings, MAX_REDIRECTS } from './settings.ts';
import {
  bodySignatureHeader,
  type CallbackTokens,
  type SignedStrings,
  signatureHeaders,
  signatureNonce,
  signedStrings,
} from './signature.ts';
import type { CallbackAttempt, CallbackParameters, HttpMethod } from './types.ts';
import type { RetryReason } from './url-options.ts';

export interface ExchangeRequest {
  readonly event: string;
  readonly accountId: AccountId;
  /** URL without fragment. */
  readonly url: string;
  readonly method: HttpMethod;
  readonly parameters: CallbackParameters;
  /** JSON body of a POST, sent instead of form parameters. */
  readonly json?: string;
  /** Signed content: the URL and its parameters (dialect §4), or only the body (§3.11). */
  readonly signs?: 'url' | 'body';
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly stallTimeoutMs?: number | undefined;
  readonly maxResponseBytes: number;
}

export interface ExchangeFailure {
  readonly detail: string;
  readonly cause: HttpFailure['kind'] | 'status' | 'invalidUrl';
  /** Failure class for the retry policy. Undefined if another attempt would fail the same way. */
  readonly retryReason: RetryReason | undefined;
}

export interface ExchangeNeeds {
  readonly http: HttpCaller;
  readonly tokens: SigningTokens;
  readonly random: Random;
  readonly settings: CallbackSettings;
  /** Delays requests while another node may have taken over this node's calls. Absent without a cluster. */
  readonly lease?: Lease | undefined;
  /** Receives every request with its bodies. */
  readonly journal?: ExchangeJournal | undefined;
}

/** Records requests as sent, and the bodies of their responses. */
interface ExchangeJournal {
  record(exchanged: {
    readonly request: ExchangeRequest;
    readonly attempt: CallbackAttempt;
    readonly requestBody: string;
    readonly responseBody: string;
  }): void;
}

const RETRY_REASONS: Readonly<Record<HttpFailure['kind'], RetryReason | undefined>> = {
  connect: 'connect',
  timeout: 'read',
  protocol: 'read',
  tooLarge: undefined,
  tooManyRedirects: undefined,
  refusedAddress: undefined,
  aborted: undefined,
};

export async function exchange(
  needs: ExchangeNeeds,
  request: ExchangeRequest,
  report: (attempt: CallbackAttempt) => void,
  signal: AbortSignal,
): Promise<Result<HttpResponse, ExchangeFailure>> {
  const address = readAddress(request.url);
  if (address === undefined) {
    const detail = 'not an absolute http:// or https:// URL';
    return err({ detail, cause: 'invalidUrl', retryReason: undefined });
  }
  const { url, body, headers, signedString, spanId } = await prepared(needs, request, address);
  try {
    await needs.lease?.held(signal);
  } catch {
    return err({ detail: 'aborted', cause: 'aborted', retryReason: undefined });
  }
  const { method, connectTimeoutMs, readTimeoutMs, stallTimeoutMs, maxResponseBytes } = request;
  const limits = { connectTimeoutMs, readTimeoutMs, stallTimeoutMs, maxResponseBytes };
  const result = await needs.http.send(
    { method, url, headers, body, ...limits, maxRedirects: MAX_REDIRECTS },
    signal,
  );
  const outcome = judge(result);
  const attempt: CallbackAttempt = {
    event: request.event,
    url,
    method,
    status: result.ok ? result.value.status : undefined,
    error: outcome.ok ? undefined : outcome.error.detail,
    durationMs: result.ok ? result.value.durationMs : result.error.durationMs,
    signedString,
    spanId,
    isUnsent: result.ok ? undefined : result.error.isUnsent,
  };
  report(attempt);
  const responseBody = result.ok ? result.value.body : '';
  needs.journal?.record({ request, attempt, requestBody: body ?? '', responseBody });
  return outcome;
}

/** Builds the URL, the body and the signed headers of a request. */
async function prepared(
  needs: ExchangeNeeds,
  request: ExchangeRequest,
  address: NonNullable<ReturnType<typeof readAddress>>,
) {
  const isGet = request.method === 'GET';
  const url = isGet ? withQuery(address.url, request.parameters) : address.url;
  // Bodies that are not forms are not signed (dialect §4.2: POST without params).
  const bodyParameters = isGet || request.json !== undefined ? [] : request.parameters;
  const signed = signedStrings(
    { method: request.method, url, bodyParameters },
    signatureNonce(needs.random),
  );
  const tokens = await needs.tokens.tokensOf(request.accountId);
  const headers = headersOf(needs.settings, request, signed, tokens);
  if (address.authorization !== undefined) headers['Authorization'] = address.authorization;
  const spanId = tracedBy(needs, request, headers);
  const body = isGet ? undefined : (request.json ?? formEncode(request.parameters));
  return { url, body, headers, signedString: signed.plivoV3, spanId };
}

/** Adds the call's trace context to the headers. Returns the ID of the request's span. */
function tracedBy(
  { settings, random }: ExchangeNeeds,
  { parameters }: ExchangeRequest,
  headers: Record<string, string>,
): string | undefined {
  if (settings.traceparent !== true) return undefined;
  const callUuid = parameters.find(([name]) => name === 'CallUUID')?.[1] ?? '';
  if (!isUuid(callUuid)) return undefined;
  const spanId = spanIdOf(random.bytes(8));
  headers['traceparent'] = traceparent(traceIdOf(callUuid), spanId);
  return spanId;
}

function headersOf(
  { userAgent, signatureHeaders: prefixes }: CallbackSettings,
  request: ExchangeRequest,
  signed: SignedStrings,
  tokens: CallbackTokens | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {
    'User-Agent': userAgent,
    Accept: 'application/xml, text/xml, */*;q=0.5',
  };
  if (request.method === 'POST')
    headers['Content-Type'] =
      request.json === undefined ? 'application/x-www-form-urlencoded' : 'application/json';
  Object.assign(headers, request.headers);
  if (tokens === undefined) return headers;
  if (request.signs === 'body')
    return Object.assign(headers, bodySignatureHeader(request.json ?? '', tokens));
  signatureHeaders(signed, tokens, prefixes, headers);
  return headers;
}

/** Treats only 2xx as success (dialect §6). Redirects were followed before. */
function judge(result: Result<HttpResponse, HttpFailure>): Result<HttpResponse, ExchangeFailure> {
  if (!result.ok) {
    const { kind, detail } = result.error;
    return err({ detail, cause: kind, retryReason: RETRY_REASONS[kind] });
  }
  const { status } = result.value;
  if (status >= 200 && status < 300) return ok(result.value);
  const retryReason = status >= 500 ? '5xx' : status >= 400 ? '4xx' : undefined;
  return err({ detail: `HTTP status ${status}`, cause: 'status', retryReason });
}

interface Address {
  readonly url: string;
  readonly authorization: string | undefined;
}

/** Parsed addresses of recently called URLs. Applications reuse the same URLs. */
const addresses = new RecentMap<Address>(1000);

function readAddress(text: string): Address | undefined {
  const known = addresses.get(text);
  if (known !== undefined) return known;
  const address = splitCredentials(text);
  if (address !== undefined) addresses.set(text, address);
  return address;
}

/** Moves user information into an Authorization header, so that signatures and logs do not contain it. */
function splitCredentials(text: string): Address | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const parsed = new URL(text);
  const url = asSent(text);
  if (parsed.username === '' && parsed.password === '') return { url, authorization: undefined };
  const user = `${decodePart(parsed.username)}:${decodePart(parsed.password)}`;
  return {
    url: withoutUserInfo(url),
    authorization: `Basic ${Buffer.from(user, 'utf8').toString('base64')}`,
  };
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
