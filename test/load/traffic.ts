/** REST requests of a busy customer and its operator, and the response times. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Service } from '../e2e/service.ts';

const MICROS = 1_000_000;
/** Delay between two requests of one client, ms. */
const THINK_MS = 10;

/** Response times by kind of request. */
export class Timings {
  readonly #ms = new Map<string, number[]>();
  readonly faults: string[] = [];

  async measure(what: string, request: () => Promise<Answer>): Promise<Answer> {
    const startMs = performance.now();
    const answer = await request();
    const known = this.#ms.get(what) ?? [];
    known.push(performance.now() - startMs);
    this.#ms.set(what, known);
    if (answer.status >= 400) this.faults.push(`${what}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** One line per kind of request: count, median and 99th percentile. */
  lines(): readonly string[] {
    return [...this.#ms].map(([what, times]) => {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): string =>
        (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
      return `  ${what.padEnd(32)}${String(sorted.length).padStart(7)}${at(0.5).padStart(9)}${at(0.99).padStart(9)}`;
    });
  }
}

/** Sends the requests of dashboards in turn until `over` aborts. */
export async function read(service: Service, timings: Timings, over: AbortSignal): Promise<void> {
  const paths = [
    ['GET balance', 'balance/USD'],
    ['GET transactions with summary', 'transactions?per_page=50'],
    [
      'GET transactions of a day',
      `transactions?from_date=${new Date().toISOString().slice(0, 10)}`,
    ],
    ['GET cdr list', 'cdr?per_page=20'],
    ['GET Call/?status=live', 'Call/?status=live'],
  ] as const;
  for (let turn = 0; !over.aborted; turn += 1) {
    const [what, path] = paths[turn % paths.length] ?? paths[0];
    await timings.measure(what, () => service.api('GET', path));
    await pause(THINK_MS);
  }
}

/**
 * Adds credit under unique idempotency keys. Sends each request twice simultaneously; it must count once. Returns the
 * total, millionths.
 */
export async function credit(
  service: Service,
  timings: Timings,
  name: string,
  over: AbortSignal,
): Promise<number> {
  let credited = 0;
  for (let turn = 1; !over.aborted; turn += 1) {
    const amount = (turn % 7) + 1;
    const body = {
      amount: amount / 100,
      currency: 'USD',
      description: 'load',
      key: `${name}:${turn}`,
    };
    const path = `/accounts/${service.demo.authId}/credit`;
    await Promise.all(
      ['first', 'again'].map(() =>
        timings.measure('POST credit (admin)', () => service.admin('POST', path, body)),
      ),
    );
    credited += amount * (MICROS / 100);
    await pause(THINK_MS);
  }
  return credited;
}

/** Creates and deletes applications and endpoints. */
export async function provision(
  service: Service,
  timings: Timings,
  name: string,
  over: AbortSignal,
): Promise<void> {
  for (let turn = 1; !over.aborted; turn += 1) {
    const application = await timings.measure('POST Application/', () =>
      service.api('POST', 'Application/', {
        app_name: `${name} ${turn}`,
        answer_url: 'http://127.0.0.1/',
      }),
    );
    const endpoint = await timings.measure('POST Endpoint/', () =>
      service.api('POST', 'Endpoint/', {
        username: `${name}n${turn}`,
        alias: name,
        password: 'correct-horse-9',
        application: Number(application.body['app_id']),
      }),
    );
    await timings.measure('DELETE Endpoint/{id}/', () =>
      service.api('DELETE', `Endpoint/${endpoint.body['endpoint_id']}/`),
    );
    await timings.measure('DELETE Application/{id}/', () =>
      service.api('DELETE', `Application/${application.body['app_id']}/`),
    );
    await pause(THINK_MS);
  }
}
