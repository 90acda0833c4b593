import { err, ok } from '../../../base/result.ts';
import { isoMicros } from '../../../base/time-format.ts';
import { failure } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { accountIdText, hinted, Type, timestamp } from '../http/schema.ts';

const common = { tag: 'Operator: service', errors: 'admin' } as const;

const PartSchema = Type.Object({
  part: Type.String(),
  ready: Type.Boolean(),
  detail: Type.String(),
  count: Type.Optional(
    Type.Integer({ description: 'waiting units, waiting recordings or live nodes' }),
  ),
});

const status = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/status',
  summary: 'Get the state of this node',
  reply: Type.Object({
    version: Type.String(),
    started_at: timestamp(),
    uptime_seconds: Type.Integer(),
    draining: Type.Boolean(),
    calls_active: Type.Integer(),
    calls_limit: Type.Integer(),
    calls_per_second: Type.Number({
      description: 'mean rate of new calls in the last ten seconds',
    }),
    registrations: Type.Integer(),
    parts: Type.Array(PartSchema),
  }),
  async run({ operations }) {
    const state = await operations.status();
    return ok({
      version: state.version,
      started_at: isoMicros(state.startedUs),
      uptime_seconds: Math.floor(state.uptimeMs / 1000),
      draining: state.draining,
      calls_active: state.callsActive,
      calls_limit: state.callsLimit,
      calls_per_second: state.callsPerSecond,
      registrations: state.registrations,
      parts: [...state.parts],
    });
  },
});

const registrations = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/registrations',
  summary: 'List the registered contacts of SIP endpoints',
  reply: Type.Object({
    count: Type.Integer(),
    registrations: Type.Array(
      Type.Object({
        username: Type.String(),
        contact_uri: Type.String(),
        transport: Type.String(),
        address: Type.String(),
        port: Type.Integer(),
        user_agent: Type.String(),
        expires_at: timestamp(),
      }),
    ),
  }),
  run({ operations }) {
    const contacts = operations.registrations();
    return ok({
      count: contacts.length,
      registrations: contacts.map((contact) => ({
        username: contact.username,
        contact_uri: contact.contactUri,
        transport: contact.transport,
        address: contact.address,
        port: contact.port,
        user_agent: contact.userAgent,
        expires_at: isoMicros(contact.expiresUs),
      })),
    });
  },
});

const drain = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/drain',
  summary: 'Refuse new calls. Running calls continue',
  status: 202,
  reply: Type.Object({ draining: Type.Boolean() }),
  run({ operations }) {
    operations.drain();
    return ok({ draining: true });
  },
});

const reload = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/reload',
  summary:
    'Reload the settings, as SIGHUP does: rates, carriers, log level and certificates. Others need a restart',
  alsoRefuses: [409],
  reply: Type.Object({
    changed: Type.Array(Type.String()),
    needs_restart: Type.Array(Type.String()),
    rates: Type.Integer(),
    carriers: Type.Integer(),
  }),
  async run({ operations }) {
    const done = await operations.reload();
    if (!done.ok) {
      return err(
        failure(409, 'new settings refused', {
          detail: done.error.join('; '),
          fields: { problems: done.error },
        }),
      );
    }
    const { changed, needsRestart, rates, carriers } = done.value;
    return ok({ changed: [...changed], needs_restart: [...needsRestart], rates, carriers });
  },
});

const backup = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/backup',
  longRunning: true,
  summary:
    'Write a consistent backup of the database into the backups folder while the service runs',
  status: 201,
  body: Type.Object({
    name: Type.Optional(
      hinted(
        Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', maxLength: 100 }),
        'must be a plain file name',
      ),
    ),
  }),
  reply: Type.Object({ path: Type.String(), bytes: Type.Integer() }),
  async run({ operations, clock }, { body }) {
    const stamp = new Date(clock.wallMs()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return ok(await operations.backup(body.name ?? `carillon-${stamp}.db`));
  },
});

const backupProgress = adminRoute({
  ...common,
  method: 'GET',
  path: '/admin/v1/backup',
  summary: 'Get the progress of the running backup',
  reply: Type.Object({
    running: Type.Boolean(),
    bytes: Type.Integer(),
    total_bytes: Type.Integer({ description: 'estimate; the copy may end up smaller' }),
  }),
  run({ operations }) {
    const progress = operations.backupProgress();
    return ok({
      running: progress !== undefined,
      bytes: progress?.bytes ?? 0,
      total_bytes: progress?.totalBytes ?? 0,
    });
  },
});

const verify = adminRoute({
  ...common,
  method: 'POST',
  path: '/admin/v1/verify',
  longRunning: true,
  summary: 'Verify that every balance equals the sum of its entries',
  reply: Type.Object({
    ok: Type.Boolean(),
    faults: Type.Array(
      Type.Object({
        balance_id: Type.String(),
        account_id: accountIdText(),
        currency: Type.String(),
        balance_micros: Type.Integer(),
        sum_of_entries_micros: Type.Integer(),
        sum_of_daily_totals_micros: Type.Integer(),
        reserved_micros: Type.Integer(),
        sum_of_reservations_micros: Type.Integer(),
      }),
    ),
  }),
  async run({ ledger }) {
    const faults = await ledger.verify();
    return ok({
      ok: faults.length === 0,
      faults: faults.map((fault) => ({
        balance_id: fault.balanceId,
        account_id: fault.accountId,
        currency: fault.currency,
        balance_micros: fault.balance,
        sum_of_entries_micros: fault.sumOfEntries,
        sum_of_daily_totals_micros: fault.sumOfDailyTotals,
        reserved_micros: fault.reservedFunds,
        sum_of_reservations_micros: fault.sumOfReservations,
      })),
    });
  },
});

export const adminServiceRoutes: readonly Route[] = [
  status,
  registrations,
  drain,
  reload,
  backup,
  backupProgress,
  verify,
];
