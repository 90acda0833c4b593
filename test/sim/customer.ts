/** A customer's web server: answers by path after a delay and records its requests. */
import type { Clock } from '../../src/base/clock.ts';
import { err, ok, type Result } from '../../src/base/result.ts';
import type {
  HttpCaller,
  HttpFailure,
  HttpFailureKind,
  HttpRequest,
  HttpResponse,
} from '../../src/domain/callback/needs.ts';
import type { SimRandom } from './random.ts';

export interface Asked {
  readonly atMs: number;
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly request: HttpRequest;
}

/** A document, a status, a kind of failure, or no response until the timeout. */
export type Reply = string | number | { readonly failure: HttpFailureKind } | 'silence';
export type Answering = Reply | ((requested: Asked) => Reply);

export const SITE = 'https://app.test';
/** Document with the given content. */
export const xml = (body: string): string => `<Response>${body}</Response>`;

const SLOWEST_MS = 60;
/** Promise for requests of a dead process, which never settles. */
const NEVER = new Promise<never>(() => undefined);

export class Customer {
  readonly requested: Asked[] = [];
  readonly #clock: Clock;
  readonly #random: SimRandom;
  readonly #notify: (line: string) => void;
  readonly #paths = new Map<string, Answering>();

  constructor(clock: Clock, random: SimRandom, notify: (line: string) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#notify = notify;
  }

  /** Sets the response of `path`. Unknown paths are answered 404. */
  on(path: string, answer: Answering): void {
    this.#paths.set(path, answer);
  }

  at(path: string): readonly Asked[] {
    return this.requested.filter((requested) => requested.path === path);
  }

  /** Requests to a path about one call. */
  reported(path: string, callUuid: string): readonly Asked[] {
    return this.at(path).filter(({ parameters }) => parameters['CallUUID'] === callUuid);
  }

  /** Connection to the server for one process, cut when that process dies. */
  line(): HttpCaller & { cut(): void } {
    let isCut = false;
    return {
      send: (request, signal) => (isCut ? NEVER : this.#answer(request, signal)),
      cut: () => {
        isCut = true;
      },
    };
  }

  async #answer(
    request: HttpRequest,
    signal?: AbortSignal,
  ): Promise<Result<HttpResponse, HttpFailure>> {
    const startedMs = this.#clock.monotonicMs();
    const url = new URL(request.url);
    const sent = request.method === 'GET' ? url.search : (request.body ?? '');
    const parameters = Object.fromEntries(new URLSearchParams(sent));
    const requested = { atMs: startedMs, path: url.pathname, parameters, request };
    this.requested.push(requested);
    const known = this.#paths.get(url.pathname) ?? 404;
    const reply = typeof known === 'function' ? known(requested) : known;
    this.#notify(`${request.method} ${url.pathname} ${parameters['Event'] ?? ''}`);
    const waitMs =
      reply === 'silence' ? request.readTimeoutMs : this.#random.between(2, SLOWEST_MS);
    const passed = (): number => this.#clock.monotonicMs() - startedMs;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch {
      return err({ kind: 'aborted', detail: 'aborted', durationMs: passed() });
    }
    const durationMs = passed();
    if (reply === 'silence') return err({ kind: 'timeout', detail: 'no answer', durationMs });
    if (typeof reply === 'object') {
      return err({ kind: reply.failure, detail: reply.failure, durationMs });
    }
    const status = typeof reply === 'number' ? reply : 200;
    const body = typeof reply === 'number' ? '' : reply;
    return ok({ status, contentType: 'application/xml', body, durationMs });
  }
}
