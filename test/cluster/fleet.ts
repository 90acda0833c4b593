/** PostgreSQL, Redis and several nodes of one service, each a process, as an operator would run them. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Environment,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { type PrivateRedis, startRedis } from '../edge/cluster/redis.ts';
import { type ClusterOptions, Cluster as Postgres } from '../postgres.ts';

export interface Node {
  readonly place: ServicePlace;
  service: Service;
}

/** `npm run cluster` runs in a network namespace of its own, where the kernel drops what a story says. */
export const HAS_NETWORK = process.env['CARILLON_TEST_NETWORK'] === 'own';

export interface FleetOptions {
  /** Settings of all nodes, and of one of them by its place. */
  readonly more?: Environment;
  readonly each?: (at: number) => Environment;
  /** Each node reaches PostgreSQL and Redis at an address of its own, so that it can be cut off. */
  readonly apart?: boolean;
  readonly postgres?: ClusterOptions;
}

/** Where a node that is `apart` finds everything. */
const addressOf = (at: number): string => `127.0.1.${at + 1}`;

export class Fleet {
  readonly postgres: Postgres;
  readonly redis: PrivateRedis;
  readonly url: string;
  readonly nodes: Node[] = [];

  private constructor(postgres: Postgres, redis: PrivateRedis) {
    this.postgres = postgres;
    this.redis = redis;
    this.url = postgres.database('fleet');
  }

  static async start(count: number, options: FleetOptions = {}): Promise<Fleet> {
    const addresses = options.apart ? Array.from({ length: count }, (_, at) => addressOf(at)) : [];
    const listening = { listen_addresses: addresses.join(',') };
    const postgres = new Postgres(
      mkdtempSync(join(tmpdir(), 'carillon-fleet-')),
      { ...listening, ...options.postgres?.settings },
      options.postgres?.environment,
    );
    postgres.create();
    const fleet = new Fleet(postgres, await startRedis(addresses));
    try {
      for (let at = 0; at < count; at += 1) await fleet.#add(at, options);
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  async #add(at: number, options: FleetOptions): Promise<void> {
    const place = await this.place(at, options);
    this.nodes.push({ place, service: await Service.start(place) });
  }

  /** Where a node may run; the caller removes what nobody adds. */
  async place(at: number, { more, each, apart }: FleetOptions): Promise<ServicePlace> {
    const place = await newPlace({
      CARILLON_STORE_URL: apart ? `postgres://carillon@${addressOf(at)}/fleet` : this.url,
      CARILLON_CLUSTER_REDIS: apart
        ? this.redis.url.replace('127.0.0.1', addressOf(at))
        : this.redis.url,
      CARILLON_CLUSTER_NODE: `n${at + 1}`,
      CARILLON_DEMO: at === 0 ? 'true' : 'false',
      CARILLON_CALLS_HEARTBEAT_MS: '200',
      ...more,
      ...each?.(at),
    });
    const [first] = this.nodes;
    // What seals the secrets of the store, and signs links and logins, is the same on every node.
    if (first !== undefined)
      cpSync(join(first.place.dataDir, 'keys'), join(place.dataDir, 'keys'), { recursive: true });
    return place;
  }

  node(at: number): Service {
    const node = this.nodes[at];
    if (node === undefined) throw new RangeError(`there is no node ${at}`);
    return node.service;
  }

  /** Nothing that is sent to where the node finds PostgreSQL and Redis arrives, until the returned function is called. */
  cutOff(at: number): () => void {
    const rule = ['INPUT', '-d', addressOf(at), '-j', 'DROP'];
    const change = (how: '-I' | '-D'): void => {
      const { status, stderr } = spawnSync('iptables', [how, ...rule], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`iptables: ${stderr}`);
    };
    change('-I');
    return () => change('-D');
  }

  async restart(at: number): Promise<void> {
    const node = this.nodes[at];
    if (node !== undefined) node.service = await Service.start(node.place);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ service }) => service.kill()));
    for (const { place } of this.nodes) removePlace(place);
    await this.redis.kill();
    this.postgres.stop();
    rmSync(this.postgres.folder, { recursive: true, force: true });
  }
}
