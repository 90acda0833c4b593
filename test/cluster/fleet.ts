/** Runs PostgreSQL, Redis and several nodes of one service, each in a separate process. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Environment,
  eventually,
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

/** Whether the tests run in the network namespace of `npm run cluster`, in which they can drop packets. */
export const HAS_NETWORK = process.env['CARILLON_TEST_NETWORK'] === 'own';

export interface FleetOptions {
  /** Settings of all nodes, and of single nodes by index. */
  readonly more?: Environment;
  readonly each?: (
    at: number,
    servers: { readonly postgres: Postgres; readonly redis: PrivateRedis },
  ) => Environment;
  /** Whether each node reaches PostgreSQL and Redis at a separate address, so that a test can cut it off. */
  readonly apart?: boolean;
  readonly postgres?: ClusterOptions;
  /** Folder of the checkout whose program the nodes run at first. Default: this one. */
  readonly root?: string;
}

/** Address at which a node with `apart` finds PostgreSQL and Redis. */
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
    this.nodes.push({ place, service: await Service.start(place, options.root) });
  }

  /** Reserves a place for a node. The caller removes places of nodes that it never adds. */
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
      ...each?.(at, this),
    });
    const [first] = this.nodes;
    // All nodes share the keys for stored secrets, signed links and logins.
    if (first !== undefined)
      cpSync(join(first.place.dataDir, 'keys'), join(place.dataDir, 'keys'), { recursive: true });
    return place;
  }

  node(at: number): Service {
    const node = this.nodes[at];
    if (node === undefined) throw new RangeError(`there is no node ${at}`);
    return node.service;
  }

  /** Drops all packets to the node's PostgreSQL and Redis address until the returned function is called. */
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

  /** Drains a node, waits for the end of its calls, stops it and starts it again. Returns the exit code of the first process. */
  async drainAndRestart(at: number): ReturnType<Service['stop']> {
    const node = this.node(at);
    await node.admin('POST', '/drain');
    await eventually(
      'the end of its calls',
      async () => {
        const { body } = await node.admin('GET', '/status');
        return Number(body['calls_active']) === 0 || undefined;
      },
      60_000,
    );
    const code = await node.stop();
    await this.restart(at);
    return code;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ service }) => service.kill()));
    for (const { place } of this.nodes) removePlace(place);
    await this.redis.kill();
    this.postgres.stop();
    rmSync(this.postgres.folder, { recursive: true, force: true });
  }
}
