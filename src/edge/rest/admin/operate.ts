/** Operator's view of the processes: settings, doctor, log and nodes. */
import { err, ok } from '../../../base/result.ts';
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import { failure, notFound } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import {
  callUuidText,
  nullableInteger,
  nullableText,
  nullableTimestamp,
  oneOf,
  type Static,
  Type,
  timestamp,
} from '../http/schema.ts';
import type { DoctorReport, MetricsHistory, NodeView } from '../operations.ts';

const common = { tag: 'Operator: service', errors: 'admin' } as const;
const LINES_DEFAULT = 200;
const LINES_MAX = 1000;

const settings = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/settings',
  summary: 'List the settings in force with their sources. Secrets are masked',
  reply: Type.Object({
    settings: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        value: Type.String(),
        default_value: Type.String(),
        source: oneOf(['default', 'file', 'environment', 'console']),
        place: Type.String({ description: 'line of the settings file, or the variable' }),
        secret: Type.Boolean(),
        live: Type.Boolean({ description: 'whether a reload applies a change' }),
        next_value: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'value of file and environment, if it differs from the value in force',
        }),
      }),
    ),
    problems: Type.Array(
      Type.String({ description: 'problem of the current file or environment' }),
    ),
  }),
  async run({ operations }) {
    const { settings: listed, problems } = await operations.settings();
    return ok({
      settings: listed.map((setting) => ({
        name: setting.name,
        description: setting.description,
        value: setting.value,
        default_value: setting.defaultValue,
        source: setting.source,
        place: setting.place,
        secret: setting.isSecret,
        live: setting.isLive,
        next_value: setting.nextValue ?? null,
      })),
      problems: [...problems],
    });
  },
});

const ReportSchema = Type.Object({
  finished_at: nullableTimestamp(),
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      verdict: oneOf(['ok', 'warning', 'problem', 'skipped']),
      found: Type.String(),
      advice: nullableText(),
    }),
  ),
});

const showReport = (report: DoctorReport | undefined): Static<typeof ReportSchema> => ({
  finished_at: isoOrNull(report?.finishedUs),
  findings: (report?.findings ?? []).map(({ check, verdict, found, advice }) => ({
    check,
    verdict,
    found,
    advice: advice ?? null,
  })),
});

const lastDoctor = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/doctor',
  summary: 'Get the last doctor report of this node since its start',
  reply: ReportSchema,
  run: ({ operations }) => ok(showReport(operations.lastDoctor())),
});

const runDoctor = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/doctor',
  summary: 'Run `carillon doctor` on this node: checks of settings, machine and network',
  longRunning: true,
  reply: ReportSchema,
  async run({ operations }) {
    const done = await operations.runDoctor();
    if (!done.ok) return err(failure(500, 'doctor failed', { detail: done.error }));
    return ok(showReport(done.value));
  },
});

const log = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/log',
  summary: 'List the latest log lines of a node, oldest first. A node keeps 5000 in memory',
  query: Type.Object({
    node: Type.Optional(Type.String({ maxLength: 128, description: 'default: this node' })),
    level: Type.Optional(oneOf(['debug', 'info', 'warn', 'error'])),
    call_uuid: Type.Optional(callUuidText()),
    search: Type.Optional(Type.String({ maxLength: 256, description: 'part of a line' })),
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'lines after the one with this number',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LINES_MAX })),
  }),
  reply: Type.Object({
    node: Type.String(),
    lines: Type.Array(
      Type.Object({
        number: Type.Integer({ description: 'number of the line since the start of the node' }),
        time: Type.String(),
        level: Type.String(),
        message: Type.String(),
        call_uuid: nullableText(),
        fields: Type.String({ description: 'JSON of the other fields' }),
      }),
    ),
  }),
  alsoRefuses: [404],
  async run({ operations }, { query }) {
    const { level, call_uuid: callUuid, search, after, limit = LINES_DEFAULT } = query;
    const found = await operations.log({ level, callUuid, search, after, limit }, query.node);
    if (found === undefined) return err(notFound('node'));
    return ok({
      node: found.node,
      lines: found.lines.map(({ callUuid: call, ...line }) => ({
        ...line,
        call_uuid: call ?? null,
      })),
    });
  },
});

const PointsSchema = Type.Array(
  Type.Object({ at: Type.Integer({ description: 'seconds since 1970' }), value: Type.Number() }),
);

const history = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/history',
  summary:
    'Get running calls and new calls per second of all nodes from the Prometheus server of the settings',
  query: Type.Object({ period: Type.Optional(oneOf(['6h', '24h', '7d', '30d'])) }),
  reply: Type.Object({
    available: Type.Boolean({ description: 'whether telemetry.prometheusUrl is set' }),
    step_seconds: Type.Integer(),
    calls: PointsSchema,
    calls_per_second: PointsSchema,
  }),
  alsoRefuses: [502],
  async run({ operations: { history: from } }, { query: { period } }) {
    // Without a period, the client asks only whether a history exists.
    if (!from.isAvailable || period === undefined) {
      return ok({ available: from.isAvailable, step_seconds: 0, calls: [], calls_per_second: [] });
    }
    const found = await from.read(period);
    if (!found.ok) return err(failure(502, 'no history', { detail: found.error }));
    const shown = (points: MetricsHistory['calls']) =>
      points.map(({ atS, value }) => ({ at: Math.round(atS), value }));
    const { stepS, calls, rate } = found.value;
    return ok({
      available: true,
      step_seconds: stepS,
      calls: shown(calls),
      calls_per_second: shown(rate),
    });
  },
});

const NodeSchema = Type.Object({
  node: Type.String(),
  epoch: Type.Integer({ description: 'number of its starts' }),
  self: Type.Boolean({ description: 'whether this node answers the request' }),
  state: oneOf(['serving', 'draining', 'not_ready', 'unreachable']),
  detail: Type.String({ description: 'parts that are not ready, with the reason' }),
  version: nullableText(),
  started_at: timestamp(),
  calls_active: nullableInteger(),
  calls_limit: nullableInteger(),
  registrations: nullableInteger(),
});

function showNode({ id, epoch, isSelf, begunUs, status }: NodeView): Static<typeof NodeSchema> {
  const failing = status?.parts.filter(({ ready }) => !ready) ?? [];
  const isFailing = failing.some(({ part }) => part !== 'admission');
  const working = isFailing ? 'not_ready' : 'serving';
  return {
    node: id,
    epoch,
    self: isSelf,
    state: status === undefined ? 'unreachable' : status.draining ? 'draining' : working,
    detail: failing.map(({ part, detail }) => `${part}: ${detail}`).join('; '),
    version: status?.version ?? null,
    started_at: isoMicros(status?.startedUs ?? begunUs),
    calls_active: status?.callsActive ?? null,
    calls_limit: status?.callsLimit ?? null,
    registrations: status?.registrations ?? null,
  };
}

const nodes = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/nodes',
  summary: 'List the live nodes that share the database',
  reply: Type.Object({ nodes: Type.Array(NodeSchema) }),
  run: async ({ operations }) => ok({ nodes: (await operations.nodes()).map(showNode) }),
});

const drain = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/nodes/{node}/drain',
  summary: 'Refuse new calls on a node. Running calls continue',
  status: 202,
  params: Type.Object({ node: Type.String({ maxLength: 128 }) }),
  reply: Type.Object({ draining: Type.Boolean() }),
  alsoRefuses: [404],
  async run({ operations }, { params: { node } }) {
    return (await operations.drainNode(node)) ? ok({ draining: true }) : err(notFound('node'));
  },
});

export const operateRoutes: readonly Route[] = [
  settings,
  lastDoctor,
  runDoctor,
  log,
  history,
  nodes,
  drain,
];
