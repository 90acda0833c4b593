/** PostgreSQL, Redis and several nodes of one service, each a process, as an operator would run them. */
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
import { Cluster as Postgres } from '../postgres.ts';

export interface Node {
  readonly place: ServicePlace;
  service: Service;
}

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

  static async start(count: number, more: Environment = {}): Promise<Fleet> {
    const postgres = new Postgres(mkdtempSync(join(tmpdir(), 'carillon-fleet-')));
    postgres.create();
    const fleet = new Fleet(postgres, await startRedis());
    for (let at = 0; at < count; at += 1) await fleet.#add(at, more);
    return fleet;
  }

  async #add(at: number, more: Environment): Promise<void> {
    const place = await newPlace({
      CARILLON_STORE_URL: this.url,
      CARILLON_CLUSTER_REDIS: this.redis.url,
      CARILLON_CLUSTER_NODE: `n${at + 1}`,
      CARILLON_DEMO: at === 0 ? 'true' : 'false',
      CARILLON_CALLS_HEARTBEAT_MS: '200',
      ...more,
    });
    const [first] = this.nodes;
    // What seals the secrets of the store, and signs links and logins, is the same on every node.
    if (first !== undefined)
      cpSync(join(first.place.dataDir, 'keys'), join(place.dataDir, 'keys'), { recursive: true });
    this.nodes.push({ place, service: await Service.start(place) });
  }

  node(at: number): Service {
    const node = this.nodes[at];
    if (node === undefined) throw new RangeError(`there is no node ${at}`);
    return node.service;
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
