import { err, ok } from '../../../base/result.ts';
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import { notFound } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import {
  nullableText,
  nullableTimestamp,
  type Static,
  sliceQuery,
  Type,
  timestamp,
} from '../http/schema.ts';
import type { Operations } from '../operations.ts';
import { sliceOf } from '../wire/list.ts';

const common = { tag: 'Operator: service', errors: 'admin' } as const;

const AlarmSchema = Type.Object({
  node: Type.String({ description: 'ID of the node that raised the alarm' }),
  kind: Type.String(),
  subject: Type.String(),
  detail: Type.String(),
  since: timestamp(),
  acknowledged_at: nullableTimestamp(),
  acknowledged_by: nullableText(),
});

type Shown = Awaited<ReturnType<Operations['alarms']>>[number];

const show = (alarm: Shown): Static<typeof AlarmSchema> => ({
  node: alarm.nodeId,
  kind: alarm.kind,
  subject: alarm.subject,
  detail: alarm.detail,
  since: isoMicros(alarm.sinceUs),
  acknowledged_at: isoOrNull(alarm.acknowledgedUs),
  acknowledged_by: alarm.acknowledgedBy ?? null,
});

const alarms = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/alarms',
  summary: 'List the active alarms of all nodes, oldest first',
  reply: Type.Object({ alarms: Type.Array(AlarmSchema) }),
  run: async ({ operations }) => ok({ alarms: (await operations.alarms()).map(show) }),
});

const history = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/alarms/history',
  summary: 'List the alarms of all nodes that have ended, latest first. They are kept for a year',
  query: Type.Object({
    ...sliceQuery,
    kind: Type.Optional(Type.String({ maxLength: 64 })),
    search: Type.Optional(
      Type.String({ maxLength: 256, description: 'part of the subject or detail' }),
    ),
  }),
  reply: Type.Object({
    alarms: Type.Array(Type.Object({ ...AlarmSchema.properties, cleared_at: timestamp() })),
    total: Type.Integer(),
  }),
  async run({ operations }, { query }) {
    const { kind, search } = query;
    const found = await operations.endedAlarms({ kind, search }, sliceOf(query));
    return ok({
      total: found.total,
      alarms: found.items.map((alarm) => ({
        ...show(alarm),
        cleared_at: isoMicros(alarm.clearedUs ?? alarm.sinceUs),
      })),
    });
  },
});

const acknowledge = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/alarms/acknowledge',
  summary: 'Acknowledge an active alarm, until it ends. Other operators see who knows of it',
  status: 204,
  body: Type.Object({
    kind: Type.String({ maxLength: 64 }),
    subject: Type.String({ maxLength: 512 }),
    node: Type.Optional(
      Type.String({ maxLength: 128, description: 'node of the alarm; default: all nodes' }),
    ),
  }),
  alsoRefuses: [404],
  auditDetail: (body) => Object.values(body as Record<string, unknown>).join(' '),
  async run({ operations }, { body: { kind, subject, node }, user }) {
    const alarm = { kind, subject, ...(node !== undefined && { nodeId: node }) };
    const isActive = await operations.acknowledgeAlarm(alarm, user?.email ?? 'operator token');
    return isActive ? ok(undefined) : err(notFound('alarm'));
  },
});

export const adminAlarmRoutes: readonly Route[] = [alarms, history, acknowledge];
