/** Failures of a simulated cluster and their times. Invariants may only be broken by failures that occurred. */
import type { Coverage, FaultName } from './coverage.ts';
import type { Process, SimNode } from './node.ts';
import type { ClusterWorld } from './world.ts';

const LONG_MS = 12_000;
const CUTS = { database: 'database cut', redis: 'Redis cut', both: 'both cut' } as const;

export class Troubles {
  readonly #world: ClusterWorld;
  /** Killed processes. */
  readonly killed = new Set<Process>();
  /** Periods in which a node was not reachable. */
  readonly #silentAt = new Map<SimNode, number>();
  #checkedMs = 0;
  /** Time of the last change of a node's connectivity. */
  readonly #changedAt = new Map<SimNode, number>();
  readonly #still = new Set<SimNode>();
  /** Faults that have begun, with their planned end. */
  #active: { readonly name: FaultName; readonly untilMs: number }[] = [];
  readonly #coverage: Coverage | undefined;
  /** Last time at which each node reached Redis. */
  readonly #redisAt = new Map<SimNode, number>();

  constructor(world: ClusterWorld, coverage?: Coverage) {
    this.#world = world;
    this.#coverage = coverage;
  }

  /** Starts a random failure that ends automatically after some seconds. */
  strike(): void {
    const { random, redis, database, nodes } = this.#world;
    const node = random.pick(nodes);
    const forMs = random.between(200, LONG_MS);
    const what = random.share();
    const begins = (name: FaultName, ms = forMs): void => this.#begins(name, ms);
    if (what < 0.2) {
      begins('node killed');
      this.#kill(node, forMs);
    } else if (what < 0.35) {
      begins('node paused');
      this.#stand(node, forMs);
    } else if (what < 0.7) {
      const way = random.pick(['database', 'redis', 'both'] as const);
      begins(CUTS[way]);
      this.#cut(node, way, forMs);
    } else if (what < 0.74) {
      // Leases expire only after more than 10 s.
      const refusedMs = random.between(LONG_MS / 2, LONG_MS + LONG_MS / 2);
      begins('Redis refuses writes', refusedMs);
      this.#refuseWrites(refusedMs);
    } else if (what < 0.8) {
      begins('Redis empty');
      this.#break(redis, 'redis', forMs);
    } else if (what < 0.9) {
      begins('database down');
      this.#break(database, 'database', forMs);
    } else if (what < 0.96) {
      begins('both down', LONG_MS);
      this.#break(redis, 'redis', LONG_MS);
      this.#break(database, 'database', LONG_MS);
    } else {
      begins('clock set');
      this.#wrongClock(node);
    }
  }

  #begins(name: FaultName, forMs: number): void {
    const nowMs = this.#world.clock.monotonicMs();
    this.#active = this.#active.filter(({ untilMs }) => untilMs > nowMs);
    const active = this.#active.map((one) => one.name);
    this.#coverage?.add(name, active, this.#world);
    this.#active.push({ name, untilMs: nowMs + forMs });
  }

  /** Kills a node permanently. */
  killForGood(node: SimNode): void {
    this.#kill(node, Number.POSITIVE_INFINITY);
  }

  /** Repairs all failures. */
  heal(): void {
    const { redis, database, nodes } = this.#world;
    redis.isUp = true;
    redis.refusesWrites = false;
    database.isUp = true;
    for (const node of nodes) {
      node.cut('both', false);
      node.goOn();
      this.#still.delete(node);
      this.#changed(node);
    }
    this.#world.notify('all is well');
  }

  /** Records the current reachability. Call it with every step. */
  look(): void {
    const { clock, redis, database, nodes } = this.#world;
    const nowMs = clock.monotonicMs();
    const passedMs = nowMs - this.#checkedMs;
    this.#checkedMs = nowMs;
    for (const node of nodes) {
      if (redis.isUp && !node.ways.redis) this.#redisAt.set(node, nowMs);
      const noStore = node.ways.database || node.process === undefined;
      const atMs = this.#silentAt.get(node);
      // The node cannot detect its own state.
      if (atMs !== undefined && (noStore || !database.isUp))
        this.#silentAt.set(node, atMs + passedMs);
      // Without the database no node can judge others.
      if (!database.isUp) continue;
      const isHeard =
        redis.acceptsWrites && !node.ways.redis && nodes.some((one) => this.#judges(one, node));
      if (this.#still.has(node) || (noStore && !(isHeard && node.process !== undefined)))
        this.#silentAt.set(node, nowMs);
    }
  }

  /** Returns whether a node reaches both the store and the heartbeats in Redis. */
  #judges(node: SimNode, other: SimNode): boolean {
    const { ways, process } = node;
    const isWell = process !== undefined && !this.#still.has(node);
    return node !== other && isWell && !ways.database && !ways.redis;
  }

  /** Returns whether the node was unreachable within the last `ms` in which it could have detected its state. */
  wasSilent(node: SimNode, ms: number): boolean {
    const atMs = this.#silentAt.get(node);
    return atMs !== undefined && this.#world.clock.monotonicMs() - atMs <= ms;
  }

  /** Time in milliseconds for which the node did not reach Redis. */
  withoutRedisMs(node: SimNode): number {
    const nowMs = this.#world.clock.monotonicMs();
    return nowMs - (this.#redisAt.get(node) ?? nowMs);
  }

  /** Time in milliseconds for which the node has been serving with full connectivity; 0 if it is not. */
  wellForMs(node: SimNode): number {
    const { clock, redis, database } = this.#world;
    const { ways, process } = node;
    const isWell = process !== undefined && !ways.database && !ways.redis && !this.#still.has(node);
    if (!isWell || !redis.acceptsWrites || !database.isUp) return 0;
    return clock.monotonicMs() - (this.#changedAt.get(node) ?? 0);
  }

  #changed(node: SimNode): void {
    this.#changedAt.set(node, this.#world.clock.monotonicMs());
  }

  #later(ms: number, act: () => void): void {
    const { clock } = this.#world;
    clock.at(clock.monotonicMs() + ms, act);
  }

  #kill(node: SimNode, forMs: number): void {
    if (node.process === undefined) return;
    this.#world.notify(`${node.id} is killed`);
    this.killed.add(node.process);
    node.kill();
    this.#changed(node);
    if (forMs === Number.POSITIVE_INFINITY) return;
    this.#later(forMs, () => {
      if (node.process === undefined && !node.isStarting) node.start();
      this.#changed(node);
    });
  }

  #stand(node: SimNode, forMs: number): void {
    this.#world.notify(`${node.id} is paused`);
    node.stand();
    this.#still.add(node);
    this.#changed(node);
    this.#later(forMs, () => {
      this.#world.notify(`${node.id} resumes`);
      node.goOn();
      this.#still.delete(node);
      this.#changed(node);
    });
  }

  #cut(node: SimNode, what: 'database' | 'redis' | 'both', forMs: number): void {
    this.#world.notify(`${node.id} is cut off: ${what}`);
    node.cut(what, true);
    this.#changed(node);
    this.#later(forMs, () => {
      this.#world.notify(`${node.id} is connected again: ${what}`);
      node.cut(what, false);
      this.#changed(node);
    });
  }

  #break(server: { isUp: boolean; crash?: () => void }, name: string, forMs: number): void {
    this.#world.notify(`${name} is unavailable`);
    if (server.crash === undefined) server.isUp = false;
    else server.crash();
    for (const node of this.#world.nodes) this.#changed(node);
    this.#later(forMs, () => {
      this.#world.notify(`${name} is back`);
      server.isUp = true;
      for (const node of this.#world.nodes) this.#changed(node);
    });
  }

  #refuseWrites(forMs: number): void {
    const { redis, nodes } = this.#world;
    this.#world.notify('redis refuses writes');
    redis.refusesWrites = true;
    for (const node of nodes) this.#changed(node);
    this.#later(forMs, () => {
      this.#world.notify('redis accepts writes');
      redis.refusesWrites = false;
      for (const node of nodes) this.#changed(node);
    });
  }

  #wrongClock(node: SimNode): void {
    const offsetMs = this.#world.random.between(-2000, 2000);
    this.#world.notify(`the clock of ${node.id} is set: ${offsetMs} ms wrong`);
    node.offsetMs = offsetMs;
    if (node.process !== undefined) node.process.clock.offsetMs = offsetMs;
  }
}
