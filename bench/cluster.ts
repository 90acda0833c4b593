/**
 * Many nodes on PostgreSQL and Redis (docs/scale.md): what calls cost on three nodes and on one, what cluster mode adds to their set-up,
 * units of work, REST for a call of another node. Needs PostgreSQL and redis-server. CPU is compared, not the clock: all nodes share
 * the cores of this machine.
 */
import { readFileSync } from 'node:fs';
import { Fleet } from '../test/cluster/fleet.ts';
import { Customer } from '../test/e2e/customer.ts';
import { newPlace, removePlace, Service } from '../test/e2e/service.ts';
import { type CallsMeasured, measureCalls } from './cluster/calls.ts';
import { withDatabases } from './cluster/databases.ts';
import { atTheEdge } from './cluster/edge.ts';
import { rounded } from './cluster/figures.ts';
import { heartbeats } from './cluster/heartbeats.ts';
import { restElsewhere } from './cluster/rest.ts';
import { onPostgres } from './ledger/postgres.ts';
import type { Row } from './row.ts';

/** One phone makes all calls, of one account. */
const NO_LIMITS = {
  CARILLON_ACCOUNTS_CPS_LIMIT: '1000',
  CARILLON_ACCOUNTS_CONCURRENT_CALLS_LIMIT: '1000',
};
const DOCUMENT = '<Response><DTMF>1</DTMF><Wait length="5"/></Response>';

export async function run(): Promise<readonly Row[]> {
  const customer = await Customer.listen();
  try {
    const answerUrl = customer.xml('/answer', DOCUMENT);
    const sqlite = await onSqlite(answerUrl);
    const fleet = await Fleet.start(3, { more: NO_LIMITS });
    try {
      const [first, ...others] = fleet.nodes.map(({ service }) => service);
      if (first === undefined) throw new Error('there is no node');
      const one = await measureCalls([first], answerUrl);
      const all = [first, ...others];
      const { measured: three, rows } = await withDatabases(fleet, () =>
        measureCalls(all, answerUrl),
      );
      const rest = await restElsewhere({ by: others[0] ?? first, owner: first });
      const edge = await atTheEdge(fleet, answerUrl);
      return [
        ...comparing(sqlite, one, three),
        ...rest,
        ...rows,
        ...edge,
        ...(await heartbeats()),
        ...(await onPostgres()),
      ];
    } finally {
      await fleet.stop();
    }
  } finally {
    await customer.close();
  }
}

interface OnSqlite extends CallsMeasured {
  /** Client libraries of the databases that the process has loaded. */
  readonly libraries: number;
}

async function onSqlite(answerUrl: string): Promise<OnSqlite> {
  const place = await newPlace({ CARILLON_DEMO: 'true', ...NO_LIMITS });
  const service = await Service.start(place);
  try {
    const measured = await measureCalls([service], answerUrl);
    const maps = readFileSync(`/proc/${service.program.child.pid}/maps`, 'utf8');
    return { ...measured, libraries: maps.includes('libpq.so') ? 1 : 0 };
  } finally {
    await service.kill();
    removePlace(place);
  }
}

function comparing(sqlite: OnSqlite, one: CallsMeasured, three: CallsMeasured): readonly Row[] {
  const added = {
    p50: rounded(three.setUpMs.p50 - sqlite.setUpMs.p50),
    p99: rounded(three.setUpMs.p99 - sqlite.setUpMs.p99),
  };
  return [
    {
      name: 'one node on SQLite: CPU of a call',
      ...{ value: sqlite.cpuMsPerCall, unit: 'ms/call' },
      note: `set-up p50 ${sqlite.setUpMs.p50} p99 ${sqlite.setUpMs.p99} ms; libraries of PostgreSQL loaded: ${sqlite.libraries}, goal 0`,
    },
    {
      name: 'one node on PostgreSQL and Redis: CPU of a call',
      ...{ value: one.cpuMsPerCall, unit: 'ms/call', floor: sqlite.cpuMsPerCall },
      ratio: rounded(one.cpuMsPerCall / sqlite.cpuMsPerCall),
      note: `set-up p50 ${one.setUpMs.p50} p99 ${one.setUpMs.p99} ms; floor: on SQLite; the databases' own CPU is not in it`,
    },
    {
      name: 'three nodes: calls for the CPU of a call on one',
      ...{ value: rounded(one.cpuMsPerCall / three.cpuMsPerCall), unit: '×' },
      note: `goal ≥ 0.9; ${three.cpuMsPerCall} ms/call over three processes`,
    },
    {
      name: 'call set-up that cluster mode adds, p50',
      ...{ value: added.p50, unit: 'ms', floor: sqlite.setUpMs.p50 },
      note: `goal ≤ 3; three nodes against one on SQLite, one call at a time`,
    },
    {
      name: 'call set-up that cluster mode adds, p99',
      ...{ value: added.p99, unit: 'ms', floor: sqlite.setUpMs.p99 },
      note: 'goal ≤ 10',
    },
  ];
}
