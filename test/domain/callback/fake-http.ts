import type { Random } from '../../../src/base/ids.ts';
import { err, ok, type Result } from '../../../src/base/result.ts';
import type {
  HttpCaller,
  HttpFailure,
  HttpFailureKind,
  HttpRequest,
  HttpResponse,
} from '../../../src/domain/callback/needs.ts';
import type { SimClock } from '../../sim/clock.ts';

/** A status with body, a failure, or silence until the read timeout or the abort. */
export type Reply = number | HttpFailureKind | 'silence' | { status: number; body: string };

/** Simulated customer servers in virtual time. `reply` answers each request after `delayMs`. */
export class FakeHttp implements HttpCaller {
  readonly requests: Array<{ readonly atMs: number; readonly request: HttpRequest }> = [];
  reply: (request: HttpRequest, count: number) => Reply = () => 200;
  delayMs = 0;
  running = 0;
  maxRunning = 0;
  readonly #clock: SimClock;

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  async send(
    request: HttpRequest,
    signal?: AbortSignal,
  ): Promise<Result<HttpResponse, HttpFailure>> {
    const startedMs = this.#clock.monotonicMs();
    this.requests.push({ atMs: startedMs, request });
    const reply = this.reply(request, this.requests.length);
    this.running += 1;
    this.maxRunning = Math.max(this.maxRunning, this.running);
    try {
      const { readTimeoutMs, stallTimeoutMs = readTimeoutMs } = request;
      const silenceMs = Math.min(readTimeoutMs, stallTimeoutMs);
      await this.#clock.sleep(reply === 'silence' ? silenceMs : this.delayMs, signal);
    } catch {
      return err({ kind: 'aborted', detail: 'aborted', durationMs: 0 });
    } finally {
      this.running -= 1;
    }
    const durationMs = this.#clock.monotonicMs() - startedMs;
    if (reply === 'silence') return err({ kind: 'timeout', detail: 'no answer', durationMs });
    if (typeof reply === 'string') return err({ kind: reply, detail: reply, durationMs });
    const { status, body } =
      typeof reply === 'number' ? { status: reply, body: '<Response/>' } : reply;
    return ok({ status, contentType: 'application/xml', body, durationMs });
  }
}

/** A seeded sequence of numbers for nonces and IDs in tests. */
export function seededRandom(seed = 1): Random {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24),
    integer: (below) => Math.floor((next() / 2 ** 32) * below),
  };
}
