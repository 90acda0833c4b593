/** Reads the history of metrics from the operator's Prometheus server, for the charts of the console. */
import type { Clock } from '../base/clock.ts';
import { HOUR_MS } from '../base/duration.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { HistoryPeriod, MetricsHistory } from '../edge/rest/server.ts';

const LIMIT_MS = 10_000;
/** Points per series. */
const POINTS = 240;
const ANSWER_MAX = 2_000_000;
/** Minimum range of a rate, seconds. It must include several scrapes. */
const RATE_RANGE_S = 300;

const PERIODS_MS: Readonly<Record<HistoryPeriod, number>> = {
  '6h': 6 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

/** Queries by the names of their series. They cover all nodes. */
const QUERIES = {
  calls: 'sum(voice_calls_active)',
  rate: 'sum(rate(voice_call_attempts_total[$range]))',
} as const;

export interface PrometheusHistoryParts {
  /** Base URL of the server, with user and password if it needs them. Empty: no history. */
  readonly url: string;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Sends a GET request. Replaced in tests. */
  readonly get?: (url: URL) => Promise<string>;
}

interface RangeAnswer {
  readonly data?: {
    readonly result?: readonly { readonly values?: readonly (readonly [number, string])[] }[];
  };
}

export class PrometheusHistory {
  readonly #parts: PrometheusHistoryParts;

  constructor(parts: PrometheusHistoryParts) {
    this.#parts = parts;
  }

  get isAvailable(): boolean {
    return this.#parts.url !== '';
  }

  /** Returns the series of the period. The error is a sentence. */
  async read(period: HistoryPeriod): Promise<Result<MetricsHistory, string>> {
    const endS = Math.floor(this.#parts.clock.wallMs() / 1000);
    const stepS = Math.ceil(PERIODS_MS[period] / 1000 / POINTS);
    const startS = endS - stepS * POINTS;
    try {
      const [calls, rate] = await Promise.all([
        this.#range(QUERIES.calls, { startS, endS, stepS }),
        this.#range(QUERIES.rate, { startS, endS, stepS }),
      ]);
      return ok({ stepS, calls, rate });
    } catch (error) {
      // The URL may contain a password, so only the reason is returned.
      const reason = error instanceof Error ? error.name : 'error';
      return err(`the Prometheus server cannot be read (${reason}); check telemetry.prometheusUrl`);
    }
  }

  async #range(
    query: string,
    { startS, endS, stepS }: { startS: number; endS: number; stepS: number },
  ): Promise<MetricsHistory['calls']> {
    const url = new URL(`${this.#parts.url.replace(/\/+$/, '')}/api/v1/query_range`);
    const range = `${Math.max(RATE_RANGE_S, stepS)}s`;
    url.searchParams.set('query', query.replace('$range', range));
    url.searchParams.set('start', String(startS));
    url.searchParams.set('end', String(endS));
    url.searchParams.set('step', String(stepS));
    const answer = JSON.parse(await (this.#parts.get ?? get)(url)) as RangeAnswer;
    const [series] = answer.data?.result ?? [];
    return (series?.values ?? [])
      .slice(0, POINTS + 1)
      .map(([atS, value]) => ({ atS, value: Number(value) }))
      .filter(({ atS, value }) => Number.isFinite(atS) && Number.isFinite(value));
  }
}

async function get(url: URL): Promise<string> {
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const token = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const reply = await fetch(url, {
    signal: AbortSignal.timeout(LIMIT_MS),
    redirect: 'error',
    headers: username === '' ? {} : { authorization: `Basic ${token.toString('base64')}` },
  });
  const text = await reply.text();
  if (!reply.ok || text.length > ANSWER_MAX) throw new Error(`HTTP ${reply.status}`);
  return text;
}
