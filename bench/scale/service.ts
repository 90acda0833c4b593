/** A service of many nodes under load: each call's way over edge, node, Redis and PostgreSQL, by what each costs. */
import { type LedgerCosts, LedgerModel } from './ledger.ts';
import { Servers, Simulator, seeded } from './simulator.ts';

/** CPU in milliseconds, as measured (docs/guides/clusters.md says by what). */
export interface Costs extends LedgerCosts {
  /** JavaScript of a node for a whole call; its share until the called party is sought, and at its end. */
  readonly nodeMs: number;
  /** Media of a call that runs, each second. */
  readonly mediaMs: number;
  /** Redis: commands of a call, and CPU of one. */
  readonly redisCommands: number;
  readonly redisMs: number;
  /** Kamailio, for a whole call. */
  readonly edgeMs: number;
  /** Units of work of a call that begins and ends, and each minute that it lasts. */
  readonly units: number;
  readonly unitsPerMinute: number;
  /** CPU of PostgreSQL for one open call that is marked alive, and how often each is. */
  readonly heartbeatMs: number;
  readonly heartbeatEveryMs: number;
}

export interface Place {
  readonly nodes: number;
  /** Number of PostgreSQL servers; accounts are distributed over them. */
  readonly databases: number;
  readonly databaseCores: number;
  readonly redisServers: number;
  readonly edgeCores: number;
  readonly writers: number;
  readonly accounts: number;
}

export interface Load {
  readonly callsPerSecond: number;
  readonly concurrent: number;
  readonly seconds: number;
}

export interface Outcome {
  /** Time of the service from INVITE to the INVITE for the called party, without the customer's response. */
  readonly setUpP50Ms: number;
  readonly setUpP99Ms: number;
  /** Utilization of each part, 0 to 1. */
  readonly use: Readonly<Record<'node' | 'redis' | 'database' | 'edge', number>>;
  readonly unitsPerSecond: number;
  readonly transactionsPerSecond: number;
  readonly commandsPerSecond: number;
  readonly heartbeatsPerSecond: number;
}

const AT_SET_UP = 0.6;
const SHARE_OF_EDGE = 0.6;

export function simulate(place: Place, costs: Costs, load: Load): Outcome {
  const sim = new Simulator();
  const random = seeded(1);
  const many = (count: number, cores: number): readonly Servers[] =>
    Array.from({ length: count }, () => new Servers(sim, cores));
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const nodes = many(place.nodes, 1);
  const redis = many(place.redisServers, 1);
  const databases = many(place.databases, place.databaseCores);
  const edge = new Servers(sim, place.edgeCores);
  const ledger = new LedgerModel(sim, costs);
  const writers = nodes.map((node) =>
    databases.map((database) =>
      Array.from({ length: place.writers }, () => ledger.writer(database, node)),
    ),
  );
  const unit = (node: number, account: number, done: () => void): void => {
    const own = writers[node]?.[account % place.databases] ?? [];
    own[Math.floor(account / place.databases) % place.writers]?.({ account, done });
  };
  let commands = 0;
  const ask = (count: number, done: () => void): void => {
    commands += count;
    pick(redis).serve(count * costs.redisMs, () => sim.after(costs.wayMs, done));
  };
  const setUps: number[] = [];
  const someone = () => ({
    node: Math.floor(random() * place.nodes),
    account: Math.floor(random() * place.accounts),
  });
  const begins = (): void => {
    const { node, account } = someone();
    const server = nodes[node] as Servers;
    const beganMs = sim.nowMs;
    const halfMs = (costs.nodeMs * AT_SET_UP) / 2;
    const answer = (): void => server.serve(halfMs, () => setUps.push(sim.nowMs - beganMs));
    const store = (): void => unit(node, account, answer);
    const admit = (): void => ask(costs.redisCommands / 2, store);
    edge.serve(costs.edgeMs * SHARE_OF_EDGE, () => server.serve(halfMs, admit));
  };
  const ends = (): void => {
    const { node, account } = someone();
    const settle = (): void => {
      for (let at = 1; at < costs.units; at += 1) unit(node, account, () => undefined);
    };
    const release = (): void => ask(costs.redisCommands / 2, settle);
    edge.serve(costs.edgeMs * (1 - SHARE_OF_EDGE), () =>
      nodes[node]?.serve(costs.nodeMs * (1 - AT_SET_UP), release),
    );
  };
  const goesOn = (): void => {
    const { node, account } = someone();
    unit(node, account, () => undefined);
  };
  const endMs = load.seconds * 1000;
  const arrive = (perSecond: number, act: () => void): void => {
    if (perSecond <= 0) return;
    const next = (): void => {
      if (sim.nowMs >= endMs) return;
      act();
      sim.after((-Math.log(random()) * 1000) / perSecond, next);
    };
    sim.after((-Math.log(random()) * 1000) / perSecond, next);
  };
  /** Open calls of a node in one database, updated in one transaction. */
  const ofNode = load.concurrent / place.nodes / place.databases;
  const beats = (database: Servers): void => {
    if (sim.nowMs >= endMs) return;
    database.serve(costs.transactionMs + ofNode * costs.heartbeatMs, () => undefined);
    sim.after(costs.heartbeatEveryMs, () => beats(database));
  };
  for (const database of databases)
    for (let at = 0; at < place.nodes; at += 1)
      sim.after(random() * costs.heartbeatEveryMs, () => beats(database));
  arrive(load.callsPerSecond, begins);
  arrive(load.callsPerSecond, ends);
  arrive((load.concurrent * costs.unitsPerMinute) / 60, goesOn);
  sim.runUntil(endMs);
  const most = (servers: readonly Servers[]): number =>
    Math.max(...servers.map((one) => one.use(endMs)));
  return {
    setUpP50Ms: percentile(setUps, 50),
    setUpP99Ms: percentile(setUps, 99),
    use: {
      node: most(nodes),
      redis: most(redis),
      database: most(databases),
      edge: edge.use(endMs),
    },
    unitsPerSecond: ledger.units / load.seconds,
    transactionsPerSecond: ledger.transactions / load.seconds,
    commandsPerSecond: commands / load.seconds,
    heartbeatsPerSecond: (load.concurrent * 1000) / costs.heartbeatEveryMs,
  };
}

/** Same load as `npm run bench -- ledger`: concurrent calls that reserve and post; database and node share the cores. */
export function simulateLedger(
  costs: LedgerCosts,
  of: { readonly accounts: number; readonly writers: number; readonly cores: number },
): number {
  const sim = new Simulator();
  const random = seeded(1);
  const cores = new Servers(sim, of.cores);
  const client = new Servers(sim, 1);
  const ledger = new LedgerModel(sim, costs);
  const writers = Array.from({ length: of.writers }, () => ledger.writer(cores, client));
  const seconds = 5;
  const call = (): void => {
    const account = Math.floor(random() * of.accounts);
    const writer = writers[account % of.writers];
    writer?.({ account, done: () => writer({ account, done: call }) });
  };
  for (let at = 0; at < 200; at += 1) call();
  sim.runUntil(seconds * 1000);
  return Math.round(ledger.units / seconds);
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}
