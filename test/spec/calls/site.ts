/** A fake customer web server: answers by path and records the requests. */
import { err, ok, type Result } from '../../../src/base/result.ts';
import type {
  HttpCaller,
  HttpFailure,
  HttpFailureKind,
  HttpRequest,
  HttpResponse,
} from '../../../src/domain/callback/needs.ts';
import type { SimClock } from '../../sim/clock.ts';

export const SITE = 'https://app.test';

/** A body with status 200, another status, a failed exchange, or no response. */
export type Reply = string | number | { readonly fails: HttpFailureKind | 'silence' };

export interface Asked {
  readonly path: string;
  readonly method: string;
  readonly atMs: number;
  /** Parameters in the query and in the form body. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

export const document = (body: string): string => `<Response>${body}</Response>`;

export class Site implements HttpCaller {
  readonly requested: Asked[] = [];
  readonly #clock: SimClock;
  readonly #replies = new Map<string, Reply | ((requested: Asked) => Reply)>();

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  /** Sets the response of `path`. Unknown paths return an empty body. */
  on(path: string, reply: Reply | ((requested: Asked) => Reply)): void {
    this.#replies.set(path, reply);
  }

  /** Returns the parameters of all requests to a path, in order. */
  reported(path: string): ReadonlyArray<Readonly<Record<string, string>>> {
    return this.requested
      .filter((requested) => requested.path === path)
      .map(({ parameters }) => parameters);
  }

  /** Returns the parameters of the only request to a path. */
  onlyCallback(path: string): Readonly<Record<string, string>> {
    const [only, ...more] = this.reported(path);
    if (only === undefined || more.length > 0) {
      throw new Error(`${path} received ${this.reported(path).length} requests`);
    }
    return only;
  }

  events(path: string): readonly string[] {
    return this.reported(path).map(({ Event }) => Event ?? '');
  }

  async send(
    request: HttpRequest,
    signal?: AbortSignal,
  ): Promise<Result<HttpResponse, HttpFailure>> {
    const { pathname, search } = new URL(request.url);
    const body = request.method === 'GET' ? '' : (request.body ?? '');
    const requested: Asked = {
      path: pathname,
      method: request.method,
      atMs: this.#clock.monotonicMs(),
      parameters: Object.fromEntries([
        ...new URLSearchParams(search),
        ...new URLSearchParams(body),
      ]),
      headers: request.headers,
    };
    this.requested.push(requested);
    const known = this.#replies.get(pathname) ?? '';
    const reply = typeof known === 'function' ? known(requested) : known;
    if (typeof reply === 'object') return this.#fail(reply.fails, request.readTimeoutMs, signal);
    const [status, text] = typeof reply === 'number' ? [reply, ''] : [200, reply];
    return ok({ status, contentType: 'application/xml', body: text, durationMs: 0 });
  }

  async #fail(kind: HttpFailureKind | 'silence', readTimeoutMs: number, signal?: AbortSignal) {
    if (kind !== 'silence') return err({ kind, detail: kind, durationMs: 0 });
    try {
      await this.#clock.sleep(readTimeoutMs, signal);
    } catch {
      return err({ kind: 'aborted', detail: 'aborted', durationMs: 0 } as const);
    }
    return err({ kind: 'timeout', detail: 'no answer', durationMs: readTimeoutMs } as const);
  }
}
