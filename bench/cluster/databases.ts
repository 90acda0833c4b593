/** Load of the nodes on the shared databases, from the statistics of the databases. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { openRedis } from '../../src/edge/cluster/redis-link.ts';
import type { Fleet } from '../../test/cluster/fleet.ts';
import { cpuOf } from '../calls/accounting.ts';
import type { Row } from '../row.ts';
import type { CallsMeasured } from './calls.ts';
import { rounded } from './figures.ts';

/** PostgreSQL counts a transaction that late. */
const COUNTED_MS = 1500;

interface Spent {
  readonly commands: number;
  readonly redisMs: number;
  readonly transactions: number;
  readonly postgresMs: number;
}

/** Measures calls and their load on the databases. `of`: number of nodes. */
export async function withDatabases(
  fleet: Fleet,
  of: string,
  measure: () => Promise<CallsMeasured>,
): Promise<{ readonly measured: CallsMeasured; readonly rows: readonly Row[] }> {
  const idle = await between(fleet, () => pause(COUNTED_MS));
  const began = performance.now();
  let measured: CallsMeasured | undefined;
  const spent = await between(fleet, async () => {
    measured = await measure();
  });
  if (measured === undefined) throw new Error('no measurement succeeded');
  // Idle load of the nodes: heartbeats, renewals, checks.
  const rounds = (performance.now() - began) / COUNTED_MS;
  const { calls } = measured;
  const ofCall = (name: keyof Spent): number =>
    rounded(Math.max(0, spent[name] - idle[name] * rounds) / calls);
  const note = `${of}: ${calls} calls without group commit; the idle load of three nodes is subtracted (${rounded(idle.commands / (COUNTED_MS / 1000))} commands, ${rounded(idle.transactions / (COUNTED_MS / 1000))} transactions a second)`;
  return {
    measured,
    rows: [
      { name: `Redis: commands of a call, ${of}`, value: ofCall('commands'), unit: '', note },
      { name: `Redis: CPU of a call, ${of}`, value: ofCall('redisMs'), unit: 'ms/call', note },
      {
        name: `PostgreSQL: transactions of a call, ${of}`,
        value: ofCall('transactions'),
        unit: '',
        note,
      },
      {
        name: `PostgreSQL: CPU of a call, ${of}`,
        value: ofCall('postgresMs'),
        unit: 'ms/call',
        note,
      },
    ],
  };
}

async function between(fleet: Fleet, act: () => Promise<unknown>): Promise<Spent> {
  const before = await now(fleet);
  await act();
  const after = await now(fleet);
  return {
    commands: after.commands - before.commands,
    redisMs: after.redisMs - before.redisMs,
    transactions: after.transactions - before.transactions,
    postgresMs: after.postgresMs - before.postgresMs,
  };
}

async function now({ postgres, redis }: Fleet): Promise<Spent> {
  await pause(COUNTED_MS);
  const link = await openRedis(redis.url, { clock: systemClock, logger: silentLogger });
  const info = String(await link.send('INFO', 'everything'));
  link.close();
  const ofInfo = (name: string): number =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
  const db = postgres.connect('postgres');
  const row = db.get('SELECT sum(xact_commit) AS done FROM pg_stat_database');
  db.close();
  const pid = Number(
    readFileSync(join(postgres.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0],
  );
  return {
    commands: ofInfo('total_commands_processed'),
    redisMs: 1000 * (ofInfo('used_cpu_user') + ofInfo('used_cpu_sys')),
    transactions: Number(row?.['done'] ?? 0),
    postgresMs: cpuOf(pid).ms,
  };
}
