/** Inputs of the simulation, each with the command that measured it, and measurements that it must reproduce. */
import type { Costs, Place } from './service.ts';

const GIVEN = JSON.parse(process.env['BENCH_SCALE'] ?? '{}') as Partial<Costs>;

/** Two shared cores of an AMD EPYC, 2026-11-22; milliseconds of CPU. */
export const COSTS: Costs = {
  // `npm run bench -- calls`: a whole call with two legs at 200/s; a bridged call that runs.
  nodeMs: 5.1,
  mediaMs: 0.6,
  // `npm run bench -- cluster`: by Redis's and Kamailio's own accounts.
  redisCommands: 12,
  redisMs: 0.03,
  edgeMs: 2.1,
  // Begins, is answered, ends; a top-up each minute.
  units: 3,
  unitsPerMinute: 1,
  // `npm run bench -- cluster`: read from one account, and from what a unit costs PostgreSQL and the service (docs/operate/postgres.md).
  transactionMs: 1,
  unitMs: 0.12,
  accountMs: 0.02,
  clientMs: 0.05,
  syncMs: 3,
  heartbeatMs: 0.004,
  heartbeatEveryMs: 2000,
  // Two machines of one site.
  wayMs: 0.2,
  ...GIVEN,
};

/** `npm run bench -- cluster`. */
export const LEDGER_MEASURED = [
  { accounts: 1, units: 5200, isFitted: true },
  { accounts: 100, units: 8160, isFitted: false },
] as const;

/** `npm run bench -- calls`: all completed at 200/s; at 250/s the core was full. */
export const ONE_NODE_HOLDS = 200;

interface Planned {
  readonly name: string;
  readonly calls: number;
  readonly place: Place;
}

const SITE = { redisServers: 1, databases: 1, databaseCores: 8, writers: 2 };

export const PLACES: readonly Planned[] = [
  {
    name: 'one site',
    calls: 10_000,
    place: { ...SITE, nodes: 3, edgeCores: 2, accounts: 1000 },
  },
  {
    name: 'the same, ten times wider',
    calls: 100_000,
    place: { ...SITE, nodes: 8, edgeCores: 8, accounts: 10_000 },
  },
  {
    name: 'the ledger in four parts, Redis in two',
    calls: 100_000,
    place: { ...SITE, nodes: 8, edgeCores: 8, accounts: 10_000, databases: 4, redisServers: 2 },
  },
];
