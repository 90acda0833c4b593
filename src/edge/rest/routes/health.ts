import { err, ok } from '../../../base/result.ts';
import { failure } from '../http/failure.ts';
import { publicRoute, type Route, scraperRoute } from '../http/route.ts';
import { Type } from '../http/schema.ts';

const common = { method: 'GET', tag: 'Health', errors: 'plain' } as const;

const healthz = publicRoute({
  ...common,
  path: '/healthz',
  summary: 'Check that the process responds',
  reply: Type.Object({ status: Type.String() }),
  run: () => ok({ status: 'ok' }),
});

const readyz = publicRoute({
  ...common,
  path: '/readyz',
  summary: 'Check readiness: 200 only while SIP, media and store are up and the node accepts calls',
  reply: Type.Object({ status: Type.String(), parts: Type.Array(Type.String()) }),
  async run({ operations }) {
    const parts = await operations.readiness();
    const missing = parts.filter((part) => !part.ready);
    if (missing.length === 0) return ok({ status: 'ready', parts: parts.map(({ part }) => part) });
    const details = Object.fromEntries(missing.map(({ part, detail }) => [part, detail]));
    return err(failure(503, 'not ready', { details, headers: { 'retry-after': '1' } }));
  },
});

const metrics = scraperRoute({
  ...common,
  path: '/metrics',
  summary: 'Get Prometheus metrics, or OpenMetrics with exemplars if Accept requests it',
  produces: 'text/plain',
  async run({ operations }, { headers }) {
    const { contentType, text } = await operations.metrics(String(headers['accept'] ?? ''));
    return ok({ contentType, body: text });
  },
});

export const healthRoutes: readonly Route[] = [healthz, readyz, metrics];
