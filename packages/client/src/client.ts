/** Typed client of the REST API, based on the API description. No dependencies. */
import { ApiError, ConnectionError, ReplyError, TimeoutError } from './errors.ts';
import type { Arguments, Input, Method, PathOf, Reply } from './operations.ts';
import { waitBefore } from './retry.ts';

export type { Operations } from './api.ts';
export { ApiError, CarillonError, ConnectionError, ReplyError, TimeoutError } from './errors.ts';
export type { Input, Method, PathOf, Reply } from './operations.ts';
export { isSigned, isSignedBody } from './signatures.ts';

export interface ClientOptions {
  /** Base URL of the service without a path: `https://voice.example`. */
  readonly url: string;
  /** ID of the account. Needed for all paths except `/admin`. */
  readonly authId?: string;
  readonly authToken?: string;
  /** Read-only token instead of `authToken`, created by `POST …/access-token`. */
  readonly accessToken?: string;
  /** Operator's token for `/admin`. */
  readonly adminToken?: string;
  /** Timeout of one attempt in ms. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Number of retries after the first attempt. Default: 2. */
  readonly retries?: number;
  /** Maximum size in bytes of a reply held in memory. Default: 64 MiB. Files are not limited. */
  readonly maxReplyBytes?: number;
  /** Implementation of `fetch`; replaced in tests. */
  readonly fetch?: typeof fetch;
  readonly wait?: (ms: number) => Promise<void>;
  readonly random?: () => number;
}

/** Options of one request. */
export interface RequestOptions {
  readonly timeoutMs?: number;
  /** Signal that aborts the request, including its retries, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Idempotency key of a POST: the service executes a key once. Default: a random key per POST. */
  readonly idempotencyKey?: string;
}

interface Parts {
  readonly path?: Readonly<Record<string, string | undefined>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface Sending extends RequestOptions {
  readonly method: Method;
  /** Method and path as in the API description. */
  readonly operation: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'];
  /** Whether the request is idempotent, so that it can be retried safely. */
  readonly isRepeatable: boolean;
  readonly attempts: number;
}

type With<T> = Arguments<T & RequestOptions>;
type UploadPath = PathOf<'POST'>;

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const MAX_REPLY_BYTES = 64 << 20;

export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
  }

  get<P extends PathOf<'GET'>>(
    path: P,
    ...[input]: With<Input<'GET', P>>
  ): Promise<Reply<'GET', P>> {
    return this.#json('GET', path, input);
  }

  post<P extends PathOf<'POST'>>(
    path: P,
    ...[input]: With<Input<'POST', P>>
  ): Promise<Reply<'POST', P>> {
    return this.#json('POST', path, input);
  }

  put<P extends PathOf<'PUT'>>(
    path: P,
    ...[input]: With<Input<'PUT', P>>
  ): Promise<Reply<'PUT', P>> {
    return this.#json('PUT', path, input);
  }

  patch<P extends PathOf<'PATCH'>>(
    path: P,
    ...[input]: With<Input<'PATCH', P>>
  ): Promise<Reply<'PATCH', P>> {
    return this.#json('PATCH', path, input);
  }

  delete<P extends PathOf<'DELETE'>>(
    path: P,
    ...[input]: With<Input<'DELETE', P>>
  ): Promise<Reply<'DELETE', P>> {
    return this.#json('DELETE', path, input);
  }

  /** Returns a response with an unread body, for files of any size. The timeout applies to the response headers. */
  async file<P extends PathOf<'GET'>>(
    path: P,
    ...[input]: With<Input<'GET', P>>
  ): Promise<Response> {
    return this.#send(this.#request('GET', path, input ?? {}), async (response) => response);
  }

  /** Streams a file to the service. Does not retry, because the stream cannot be read again. */
  async upload<P extends UploadPath>(
    path: P,
    file: { readonly type: string; readonly body: RequestInit['body'] },
    ...[input]: With<Input<'POST', P>>
  ): Promise<Reply<'POST', P>> {
    const request = this.#request('POST', path, input ?? {});
    const headers = { ...request.headers, 'content-type': file.type };
    const once = { ...request, headers, body: file.body ?? null, attempts: 1 };
    return (await this.#send(once, (response) => this.#read(response))) as Reply<'POST', P>;
  }

  async #json<T>(method: Method, path: string, input: object = {}): Promise<T> {
    const request = this.#request(method, path, input);
    return (await this.#send(request, (response) => this.#read(response))) as T;
  }

  #request(method: Method, template: string, input: Parts & RequestOptions): Sending {
    const { path = {}, query = {}, body, ...options } = input;
    const { url, authId, retries = RETRIES } = this.#options;
    const address = fill(template, { auth_id: authId, ...path });
    const headers: Record<string, string> = { ...this.#credentials(template) };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (method === 'POST') {
      headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID();
    }
    return {
      ...options,
      method,
      operation: `${method} ${template}`,
      url: `${url}${address}${queryOf(query)}`,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      isRepeatable: method === 'GET' || method === 'POST',
      attempts: 1 + Math.max(0, retries),
    };
  }

  #credentials(path: string): Readonly<Record<string, string>> {
    const { authId, authToken, accessToken, adminToken } = this.#options;
    if (path.startsWith('/admin/')) {
      return adminToken === undefined ? {} : { authorization: `Bearer ${adminToken}` };
    }
    if (accessToken !== undefined) return { authorization: `Bearer ${accessToken}` };
    if (authId === undefined || authToken === undefined) return {};
    return { 'x-auth-id': authId, 'x-auth-token': authToken };
  }

  async #send<T>(request: Sending, read: (response: Response) => Promise<T>): Promise<T> {
    const { wait = sleep, random = Math.random } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(request, read);
      } catch (error) {
        if (request.signal?.aborted || attempt >= request.attempts) throw error;
        const waitMs = waitBefore(error, attempt, request.isRepeatable, random);
        if (waitMs === undefined) throw error;
        await wait(waitMs);
        request.signal?.throwIfAborted();
      }
    }
  }

  async #once<T>(request: Sending, read: (response: Response) => Promise<T>): Promise<T> {
    const { fetch: ask = fetch, timeoutMs: usual = TIMEOUT_MS } = this.#options;
    const { method, operation, url, headers, body, signal, timeoutMs = usual } = request;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const signals = signal === undefined ? [late.signal] : [late.signal, signal];
    try {
      const response = await ask(url, {
        method,
        headers,
        redirect: 'error',
        signal: AbortSignal.any(signals),
        ...(body !== undefined && { body, duplex: 'half' }),
      } as RequestInit);
      if (response.ok) return await read(response);
      const text = await this.#text(response);
      const again = retryAfter(response.headers.get('retry-after'));
      throw new ApiError(operation, response.status, text, again);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (late.signal.aborted) {
        throw new TimeoutError(`${operation}: no reply within ${timeoutMs} ms`);
      }
      if (error instanceof ApiError || error instanceof ReplyError) throw error;
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      throw new ConnectionError(`cannot reach the service at ${this.#options.url}`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  async #read(response: Response): Promise<unknown> {
    const text = await this.#text(response);
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new ReplyError(`the reply to ${response.url} is not JSON`);
    }
  }

  async #text(response: Response): Promise<string> {
    const { maxReplyBytes = MAX_REPLY_BYTES } = this.#options;
    const decoder = new TextDecoder();
    let [text, bytes] = ['', 0];
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > maxReplyBytes) {
        throw new ReplyError(`the reply to ${response.url} is larger than ${maxReplyBytes} bytes`);
      }
      text += decoder.decode(part, { stream: true });
    }
    return text + decoder.decode();
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Replaces `{name}` in a path with encoded values. */
function fill(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === '') throw new TypeError(`${template}: no ${name}`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** Converts `Retry-After` in seconds to milliseconds. */
function retryAfter(value: string | null): number | undefined {
  return value !== null && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
