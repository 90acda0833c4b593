/** One HTTP request and its response over undici, bounded in time and size. The caller handles redirects. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ServiceError } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { HttpFailureKind } from '../../domain/callback/needs.ts';

export interface HopRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly connectTimeoutMs: number;
  /** Time limit from sending the request to the last byte of the response, ms. */
  readonly readTimeoutMs: number;
  /** Longest gap between bytes of the response, including the wait for the first one, ms. */
  readonly stallTimeoutMs?: number | undefined;
  readonly maxBytes: number;
}

export interface HopResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HopFailure {
  readonly kind: HttpFailureKind;
  readonly detail: string;
  /** Whether a kept-alive connection closed before any response byte arrived. */
  readonly staleConnection: boolean;
  /** True if the request was aborted before it was sent. */
  readonly isUnsent?: boolean | undefined;
}

/**
 * Sends a request. Never rejects. Calls `done` when the connection is free, possibly after the result if the request
 * timed out.
 */
export function sendHop(
  dispatcher: Dispatcher,
  request: HopRequest,
  signal: AbortSignal | undefined,
  done: () => void,
): Promise<Result<HopResponse, HopFailure>> {
  if (signal?.aborted === true) {
    done();
    const failure = { kind: 'aborted', detail: 'aborted', staleConnection: false } as const;
    return Promise.resolve(err({ ...failure, isUnsent: true }));
  }
  return new Promise((resolve) => {
    const hop = new Hop(request, signal, resolve, done);
    const { url } = request;
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method,
          headers: flat(request.headers),
          body: request.body ?? null,
          // The timers of undici are coarse. The hop uses exact ones.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        hop,
      );
      hop.awaitConnection();
    } catch (error) {
      hop.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/**
 * Adds `Accept-Encoding: identity`. Without it any content coding is acceptable (RFC 9110 §12.5.3), and sizes could not
 * be limited.
 */
function flat(headers: HopRequest['headers']): string[] {
  const list: string[] = [];
  for (const name of Object.keys(headers)) list.push(name, headers[name] ?? '');
  list.push('Accept-Encoding', 'identity');
  return list;
}

class Hop implements Dispatcher.DispatchHandler {
  readonly #request: HopRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (result: Result<HopResponse, HopFailure>) => void;
  readonly #done: () => void;
  readonly #onAbort = (): void => this.#fail('aborted', 'aborted');
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #settled = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;

  constructor(
    request: HopRequest,
    signal: AbortSignal | undefined,
    resolve: (result: Result<HopResponse, HopFailure>) => void,
    done: () => void,
  ) {
    this.#request = request;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#done = done;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Starts the connect timer. A free kept-alive connection is used immediately at dispatch. */
  awaitConnection(): void {
    if (this.#settled || this.#controller !== undefined) return;
    const ms = this.#request.connectTimeoutMs;
    this.#timer = setTimeout(() => this.#fail('connect', `no connection within ${ms} ms`), ms);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) {
      controller.abort(new Error('no longer wanted'));
      return;
    }
    clearTimeout(this.#timer);
    const ms = this.#request.readTimeoutMs;
    this.#timer = setTimeout(() => this.#fail('timeout', `no answer within ${ms} ms`), ms);
    this.#watchForStall();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#watchForStall();
    this.#status = statusCode;
    this.#headers = headers;
    if (Number(headers['content-length'] ?? 0) > this.#request.maxBytes) this.#tooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#watchForStall();
    this.#bytes += chunk.length;
    if (this.#bytes > this.#request.maxBytes) this.#tooLarge();
    else if (!this.#settled) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...others] = this.#chunks;
    const body = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#settle(ok({ status: this.#status, headers: this.#headers, body }));
    this.#done();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#settle(err(this.#explain(error)));
    this.#done();
  }

  #watchForStall(): void {
    if (this.#stallTimer !== undefined && !this.#settled) {
      this.#stallTimer.refresh();
      return;
    }
    const { readTimeoutMs, stallTimeoutMs: ms = readTimeoutMs } = this.#request;
    if (this.#settled || ms >= readTimeoutMs) return;
    const stalled = (): void => this.#fail('timeout', `nothing came for ${ms} ms`);
    this.#stallTimer = setTimeout(stalled, ms);
  }

  #tooLarge(): void {
    this.#fail('tooLarge', `the response has more than ${this.#request.maxBytes} bytes`);
  }

  #fail(kind: HttpFailureKind, detail: string): void {
    if (this.#settled) return;
    const isUnsent = (kind === 'aborted' && this.#controller === undefined) || undefined;
    this.#settle(err({ kind, detail, staleConnection: false, isUnsent }));
    this.#controller?.abort(new Error(detail));
  }

  #settle(result: Result<HopResponse, HopFailure>): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stallTimer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#resolve(result);
  }

  #explain(error: Error): HopFailure {
    const isConnected = this.#controller !== undefined;
    if (error instanceof ServiceError && error.code === 'EGRESS_REFUSED') {
      return { kind: 'refusedAddress', detail: error.message, staleConnection: false };
    }
    const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
    const detail =
      code === '' || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
    if (!isConnected) return { kind: 'connect', detail, staleConnection: false };
    const isStale = this.#status === 0 && STALE.has(code);
    return { kind: 'protocol', detail, staleConnection: isStale };
  }
}

const STALE = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
