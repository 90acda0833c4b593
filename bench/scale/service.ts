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
  const model = new ServiceModel(place, costs);
  const endMs = load.seconds * 1000;
  model.run(load, endMs);
  const { setUps, ledger } = model;
  return {
    setUpP50Ms: percentile(setUps, 50),
    setUpP99Ms: percentile(setUps, 99),
    use: model.useUntil(endMs),
    unitsPerSecond: ledger.units / load.seconds,
    transactionsPerSecond: ledger.transactions / load.seconds,
    commandsPerSecond: model.commands / load.seconds,
    heartbeatsPerSecond: (load.concurrent * 1000) / costs.heartbeatEveryMs,
  };
}

/** The servers of a service, and the work that calls cause on them. */
class ServiceModel {
  readonly #sim = new Simulator();
  readonly #random = seeded(1);
  readonly #place: Place;
  readonly #costs: Costs;
  readonly #nodes: readonly Servers[];
  readonly #redis: readonly Servers[];
  readonly #databases: readonly Servers[];
  readonly #edge: Servers;
  readonly #writers: readonly (readonly (readonly ReturnType<LedgerModel['writer']>[])[])[];
  readonly ledger: LedgerModel;
  /** Durations of call setups, ms. */
  readonly setUps: number[] = [];
  /** Commands to Redis so far. */
  commands = 0;

  constructor(place: Place, costs: Costs) {
    const many = (count: number, cores: number): readonly Servers[] =>
      Array.from({ length: count }, () => new Servers(this.#sim, cores));
    this.#place = place;
    this.#costs = costs;
    this.#nodes = many(place.nodes, 1);
    this.#redis = many(place.redisServers, 1);
    this.#databases = many(place.databases, place.databaseCores);
    this.#edge = new Servers(this.#sim, place.edgeCores);
    this.ledger = new LedgerModel(this.#sim, costs);
    this.#writers = this.#nodes.map((node) =>
      this.#databases.map((database) =>
        Array.from({ length: place.writers }, () => this.ledger.writer(database, node)),
      ),
    );
  }

  /** Runs the load until `endMs` of simulated time. */
  run(load: Load, endMs: number): void {
    const { heartbeatEveryMs, unitsPerMinute } = this.#costs;
    for (const database of this.#databases)
      for (let at = 0; at < this.#place.nodes; at += 1)
        this.#sim.after(this.#random() * heartbeatEveryMs, () => this.#beat(database, load, endMs));
    this.#arrive(load.callsPerSecond, endMs, () => this.#beginCall());
    this.#arrive(load.callsPerSecond, endMs, () => this.#endCall());
    this.#arrive((load.concurrent * unitsPerMinute) / 60, endMs, () => {
      const { node, account } = this.#someone();
      this.#unit(node, account, () => undefined);
    });
    this.#sim.runUntil(endMs);
  }

  useUntil(endMs: number): Outcome['use'] {
    const most = (servers: readonly Servers[]): number =>
      Math.max(...servers.map((one) => one.use(endMs)));
    return {
      node: most(this.#nodes),
      redis: most(this.#redis),
      database: most(this.#databases),
      edge: this.#edge.use(endMs),
    };
  }

  #beginCall(): void {
    const costs = this.#costs;
    const { node, account } = this.#someone();
    const server = this.#nodes[node] as Servers;
    const beganMs = this.#sim.nowMs;
    const halfMs = (costs.nodeMs * AT_SET_UP) / 2;
    const answer = (): void =>
      server.serve(halfMs, () => this.setUps.push(this.#sim.nowMs - beganMs));
    const store = (): void => this.#unit(node, account, answer);
    const admit = (): void => this.#ask(costs.redisCommands / 2, store);
    this.#edge.serve(costs.edgeMs * SHARE_OF_EDGE, () => server.serve(halfMs, admit));
  }

  #endCall(): void {
    const costs = this.#costs;
    const { node, account } = this.#someone();
    const settle = (): void => {
      for (let at = 1; at < costs.units; at += 1) this.#unit(node, account, () => undefined);
    };
    const release = (): void => this.#ask(costs.redisCommands / 2, settle);
    this.#edge.serve(costs.edgeMs * (1 - SHARE_OF_EDGE), () =>
      this.#nodes[node]?.serve(costs.nodeMs * (1 - AT_SET_UP), release),
    );
  }

  /** Updates the open calls of a node in one database, in one transaction. */
  #beat(database: Servers, load: Load, endMs: number): void {
    if (this.#sim.nowMs >= endMs) return;
    const { transactionMs, heartbeatMs, heartbeatEveryMs } = this.#costs;
    const ofNode = load.concurrent / this.#place.nodes / this.#place.databases;
    database.serve(transactionMs + ofNode * heartbeatMs, () => undefined);
    this.#sim.after(heartbeatEveryMs, () => this.#beat(database, load, endMs));
  }

  #unit(node: number, account: number, done: () => void): void {
    const { databases, writers } = this.#place;
    const own = this.#writers[node]?.[account % databases] ?? [];
    own[Math.floor(account / databases) % writers]?.({ account, done });
  }

  #ask(count: number, done: () => void): void {
    const { redisMs, wayMs } = this.#costs;
    this.commands += count;
    const server = this.#redis[Math.floor(this.#random() * this.#redis.length)] as Servers;
    server.serve(count * redisMs, () => this.#sim.after(wayMs, done));
  }

  #someone(): { readonly node: number; readonly account: number } {
    return {
      node: Math.floor(this.#random() * this.#place.nodes),
      account: Math.floor(this.#random() * this.#place.accounts),
    };
  }

  /** Calls `act` at random times, on average `perSecond` times per second. */
  #arrive(perSecond: number, endMs: number, act: () => void): void {
    if (perSecond <= 0) return;
    const next = (): void => {
      if (this.#sim.nowMs >= endMs) return;
      act();
      wait();
    };
    const wait = (): void => this.#sim.after((-Math.log(this.#random()) * 1000) / perSecond, next);
    wait();
  }
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
