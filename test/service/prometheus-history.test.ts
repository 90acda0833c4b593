import { describe, expect, it } from 'vitest';
import { PrometheusHistory } from '../../src/service/prometheus-history.ts';

const NOW_MS = 1_800_000_000_000;

const historyWith = (get: (url: URL) => Promise<string>, url = 'http://prometheus.test:9090/') =>
  new PrometheusHistory({ url, clock: { wallMs: () => NOW_MS }, get });

const answer = (...values: (readonly [number, string])[]): string =>
  JSON.stringify({ status: 'success', data: { result: [{ values }] } });

describe('the history of metrics', () => {
  it('asks for the range of the period, and skips values that are not numbers', async () => {
    const asked: URL[] = [];
    const history = historyWith(async (url) => {
      asked.push(url);
      return answer([NOW_MS / 1000 - 360, '3'], [NOW_MS / 1000, 'NaN']);
    });
    const point = { atS: NOW_MS / 1000 - 360, value: 3 };
    expect(await history.read('24h')).toEqual({
      ok: true,
      value: { stepS: 360, calls: [point], rate: [point] },
    });
    const [calls, rate] = asked;
    expect(calls?.href.split('?')[0]).toBe('http://prometheus.test:9090/api/v1/query_range');
    expect(Object.fromEntries(calls?.searchParams ?? [])).toEqual({
      query: 'sum(voice_calls_active)',
      start: String(NOW_MS / 1000 - 86_400),
      end: String(NOW_MS / 1000),
      step: '360',
    });
    expect(rate?.searchParams.get('query')).toBe('sum(rate(voice_call_attempts_total[360s]))');
  });

  it('returns no points without a series, and an error without the password of the URL', async () => {
    const empty = historyWith(async () => JSON.stringify({ data: { result: [] } }));
    expect(await empty.read('6h')).toMatchObject({ ok: true, value: { calls: [] } });
    const failing = historyWith(async () => {
      throw new Error('http://ada:s3cret@prometheus.test does not answer');
    }, 'http://ada:s3cret@prometheus.test');
    const found = await failing.read('6h');
    expect(found).toMatchObject({ ok: false });
    expect(JSON.stringify(found)).not.toContain('s3cret');
    expect(historyWith(async () => '', '').isAvailable).toBe(false);
  });
});
