/**
 * Clusters on PostgreSQL and Redis (docs/guides/clusters.md): cost of calls on one node and on three, added set-up time,
 * units of work, and REST requests for a call of another node. Needs PostgreSQL and redis-server. Compares CPU time, not
 * wall-clock time, because all nodes share the cores of this machine. `--against FOLDER` compares one node on SQLite with
 * another checkout, alternating between both.
 */
import { readFileSync } from 'node:fs';
import { Fleet } from '../test/cluster/fleet.ts';
import { Customer } from '../test/e2e/customer.ts';
import { newPlace, removePlace, Service } from '../test/e2e/service.ts';
import { againstBefore } from './cluster/baseline.ts';
import {
  type CallsMeasured,
  calledAt,
  measureCalls,
  type SetUps,
  setUpsOf,
  warmUp,
} from './cluster/calls.ts';
import { withDatabases } from './cluster/databases.ts';
import { atTheEdge } from './cluster/edge.ts';
import { rounded } from './cluster/figures.ts';
import { heartbeats } from './cluster/heartbeats.ts';
import { restElsewhere } from './cluster/rest.ts';
import { onPostgres } from './ledger/postgres.ts';
import { least, most, type Row } from './row.ts';

/** One phone makes all calls, of one account. */
const NO_LIMITS = {
  CARILLON_ACCOUNTS_CPS_LIMIT: '1000',
  CARILLON_ACCOUNTS_CONCURRENT_CALLS_LIMIT: '1000',
};
/** The default: tests have shorter ones. */
const HEARTBEATS = { CARILLON_CALLS_HEARTBEAT_MS: '2000' };
const DOCUMENT = '<Response><DTMF>1</DTMF><Wait length="5"/></Response>';

export async function run(): Promise<readonly Row[]> {
  const customer = await Customer.listen();
  try {
    const answerUrl = customer.xml('/answer', DOCUMENT);
    const before = process.env['BENCH_AGAINST'];
    if (before !== undefined)
      return await againstBefore(before, answerUrl, { CARILLON_DEMO: 'true', ...NO_LIMITS });
    const place = await newPlace({ CARILLON_DEMO: 'true', ...NO_LIMITS });
    const alone = await Service.start(place);
    const fleet = await Fleet.start(3, { more: { ...NO_LIMITS, ...HEARTBEATS } });
    try {
      const [first, ...others] = fleet.nodes.map(({ service }) => service);
      if (first === undefined) throw new Error('there is no node');
      const onSqlite = await calledAt([alone], answerUrl);
      const onAll = await calledAt([first, ...others], answerUrl);
      const onOne = { ...onAll, nodes: [first], ports: [first] };
      await warmUp([onSqlite, onAll]);
      const setUps = await setUpsOf([onSqlite, onAll]);
      const sqlite = await measureCalls(onSqlite);
      const one = await withDatabases(fleet, 'one node', () => measureCalls(onOne));
      const three = await withDatabases(fleet, 'three nodes', () => measureCalls(onAll));
      const rest = await restElsewhere({ by: others[0] ?? first, owner: first });
      const edge = await atTheEdge(fleet, answerUrl);
      return [
        ...added(setUps),
        ...comparing(sqlite, one.measured, three.measured),
        librariesOf(alone),
        ...rest,
        ...one.rows,
        ...three.rows,
        ...edge,
        ...(await heartbeats()),
        ...(await onPostgres()),
      ];
    } finally {
      await fleet.stop();
      await alone.kill();
      removePlace(place);
    }
  } finally {
    await customer.close();
  }
}

/** Client libraries of the databases that a node on SQLite has loaded. */
function librariesOf({ program }: Service): Row {
  const maps = readFileSync(`/proc/${program.child.pid}/maps`, 'utf8');
  return {
    name: 'one node on SQLite: libraries of PostgreSQL loaded',
    value: maps.includes('libpq.so') ? 1 : 0,
    unit: '',
    goal: most(0),
  };
}

function added([sqlite, three]: readonly SetUps[]): readonly Row[] {
  if (sqlite === undefined || three === undefined) throw new Error('set-ups of two services');
  const row = (name: 'p50' | 'p99', goal: number): Row => ({
    name: `call set-up that cluster mode adds, ${name}`,
    value: rounded(three[name] - sqlite[name]),
    unit: 'ms',
    floor: sqlite[name],
    goal: most(goal),
    note: `three nodes against one on SQLite (floor: its set-up), one call at a time, alternating`,
  });
  return [row('p50', 3), row('p99', 10)];
}

function comparing(
  sqlite: CallsMeasured,
  one: CallsMeasured,
  three: CallsMeasured,
): readonly Row[] {
  return [
    {
      name: 'one node on SQLite: CPU of a call',
      value: sqlite.cpuMsPerCall,
      unit: 'ms/call',
    },
    {
      name: 'one node on PostgreSQL and Redis: CPU of a call',
      value: one.cpuMsPerCall,
      unit: 'ms/call',
      floor: sqlite.cpuMsPerCall,
      ratio: rounded(one.cpuMsPerCall / sqlite.cpuMsPerCall),
      note: "floor: on SQLite; the databases' own CPU is not in it",
    },
    {
      name: 'three nodes: calls for the CPU of a call on one',
      value: rounded(one.cpuMsPerCall / three.cpuMsPerCall),
      unit: '×',
      goal: least(0.9),
      note: `${three.cpuMsPerCall} ms/call over three processes, each with as many calls a second as the one`,
    },
  ];
}
