import { err, ok } from '../../../base/result.ts';
import { isoMicros, isoOrNull } from '../../../base/time-format.ts';
import { notFound } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { nullableText, nullableTimestamp, Type, timestamp } from '../http/schema.ts';

const common = { tag: 'Operator: service', errors: 'admin' } as const;

const AlarmSchema = Type.Object({
  kind: Type.String(),
  subject: Type.String(),
  detail: Type.String(),
  since: timestamp(),
});

const alarms = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/alarms',
  summary: 'List active alarms, oldest first',
  reply: Type.Object({
    alarms: Type.Array(
      Type.Object({
        ...AlarmSchema.properties,
        acknowledged_at: nullableTimestamp(),
        acknowledged_by: nullableText(),
      }),
    ),
  }),
  run: ({ operations }) =>
    ok({
      alarms: operations.alarms().map(({ kind, subject, detail, sinceUs, acknowledged }) => ({
        kind,
        subject,
        detail,
        since: isoMicros(sinceUs),
        acknowledged_at: isoOrNull(acknowledged?.atUs),
        acknowledged_by: acknowledged?.by ?? null,
      })),
    }),
});

const history = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/alarms/history',
  summary: 'List the alarms that ended since the start of the service, latest first, at most 500',
  reply: Type.Object({
    alarms: Type.Array(Type.Object({ ...AlarmSchema.properties, cleared_at: timestamp() })),
  }),
  run: ({ operations }) =>
    ok({
      alarms: operations.endedAlarms().map(({ kind, subject, detail, sinceUs, clearedUs }) => ({
        kind,
        subject,
        detail,
        since: isoMicros(sinceUs),
        cleared_at: isoMicros(clearedUs),
      })),
    }),
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
  }),
  alsoRefuses: [404],
  auditDetail: (body) => Object.values(body as Record<string, unknown>).join(' '),
  run({ operations }, { body, user }) {
    const isActive = operations.acknowledgeAlarm(body, user?.email ?? 'operator token');
    return isActive ? ok(undefined) : err(notFound('alarm'));
  },
});

export const adminAlarmRoutes: readonly Route[] = [alarms, history, acknowledge];
