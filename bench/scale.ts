/**
 * Capacity of large clusters (docs/guides/clusters.md): simulates edge, nodes, Redis and PostgreSQL in virtual time, with
 * the costs that `npm run bench -- cluster` and `-- calls` measured. First compares the simulation with measurements that
 * are not among its inputs, then simulates 10,000 and 100,000 concurrent calls. `BENCH_SCALE` (JSON) changes costs.
 */
import { isQuick, type Row } from './row.ts';
import { COSTS, LEDGER_MEASURED, ONE_NODE_HOLDS, PLACES } from './scale/measured.ts';
import { type Outcome, type Place, simulate, simulateLedger } from './scale/service.ts';

const SECONDS = isQuick ? 4 : 20;
/** Round-trip time to the database on the machine of the measurement, in ms. */
const ON_ONE_MACHINE_MS = 0.05;
/** Duration of a call, s. */
const TALK_S = 180;

export async function run(): Promise<readonly Row[]> {
  return [...reproduced(), ...PLACES.flatMap(planned)];
}

function reproduced(): readonly Row[] {
  const ledger = LEDGER_MEASURED.map(({ accounts, units, isFitted }) => {
    const value = simulateLedger(
      { ...COSTS, wayMs: ON_ONE_MACHINE_MS },
      { accounts, writers: 2, cores: 2 },
    );
    return {
      name: `simulated: units of work, ${accounts} account${accounts === 1 ? '' : 's'}`,
      value,
      unit: 'units/s',
      floor: units,
      ratio: rounded(value / units),
      note: `floor: measured; ${isFitted ? 'the costs were read from it' : 'not put in'}`,
    };
  });
  const held = mostHeld({
    ...(PLACES[0] as (typeof PLACES)[number]).place,
    nodes: 1,
    edgeCores: 64,
  });
  return [
    ...ledger,
    {
      name: 'simulated: calls/s that one node holds',
      value: held,
      unit: 'calls/s',
      floor: ONE_NODE_HOLDS,
      ratio: rounded(held / ONE_NODE_HOLDS),
      note: 'floor: measured by bench calls, on SQLite; held: 99 of 100 set-ups within 100 ms',
    },
  ];
}

function mostHeld(place: Place): number {
  let held = 0;
  for (let rate = 20; rate <= 400; rate += 10) {
    const { setUpP99Ms } = simulate(place, COSTS, {
      callsPerSecond: rate,
      concurrent: rate * TALK_S,
      seconds: SECONDS,
    });
    if (setUpP99Ms > 100) break;
    held = rate;
  }
  return held;
}

function planned({ name, calls, place }: (typeof PLACES)[number]): readonly Row[] {
  const callsPerSecond = calls / TALK_S;
  const outcome = simulate(place, COSTS, { callsPerSecond, concurrent: calls, seconds: SECONDS });
  const { use } = outcome;
  const title = `${calls.toLocaleString('en')} concurrent calls, ${name}`;
  const mediaCores = rounded((calls * COSTS.mediaMs) / 1000);
  return [
    {
      name: `${title}: set-up p99`,
      value: rounded(outcome.setUpP99Ms),
      unit: 'ms',
      note: `p50 ${rounded(outcome.setUpP50Ms)}; ${Math.round(callsPerSecond)} calls/s`,
    },
    {
      name: `${title}: busiest`,
      value: rounded(100 * Math.max(...Object.values(use))),
      unit: '%',
      note: `${busiest(use)}; node ${percent(use.node)}, PostgreSQL ${percent(use.database)}, Redis ${percent(use.redis)}, edge ${percent(use.edge)}; ${place.nodes} nodes and ${mediaCores} cores of media, ${place.databases} × ${place.databaseCores} cores of PostgreSQL, ${place.redisServers} Redis, ${place.edgeCores} cores of Kamailio`,
    },
    {
      name: `${title}: units of work`,
      value: Math.round(outcome.unitsPerSecond),
      unit: 'units/s',
      note: `in ${Math.round(outcome.transactionsPerSecond)} transactions/s; ${Math.round(outcome.heartbeatsPerSecond)} heartbeats/s; Redis ${Math.round(outcome.commandsPerSecond)} commands/s; media ${rounded((calls * 2 * 2 * 87) / 1e6)} Gbit/s`,
    },
  ];
}

const busiest = (use: Outcome['use']): string =>
  Object.entries(use).reduce((most, one) => (one[1] > most[1] ? one : most))[0];
const percent = (share: number): string => `${Math.round(100 * share)} %`;
const rounded = (value: number): number => Math.round(value * 100) / 100;
