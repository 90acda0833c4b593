/** Entry point: state that nodes share through Redis. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { type CapacityLimits, OwnSlots, type Slots } from '../../domain/capacity/capacity.ts';
import { NodeLease } from '../../domain/cluster/cluster.ts';
import type { Bus, Claims, Directory } from '../../domain/cluster/needs.ts';
import type { NonceCounts } from '../../domain/registration/needs.ts';
import { RedisBindings } from './redis-bindings.ts';
import { RedisBus } from './redis-bus.ts';
import { RedisClaims } from './redis-claims.ts';
import { RedisDirectory } from './redis-directory.ts';
import { openRedis, type RedisLink } from './redis-link.ts';
import { RedisNonceCounts } from './redis-nonce-counts.ts';
import { RedisSlots } from './redis-slots.ts';

export interface ClusterOptions {
  readonly url: string;
  readonly nodeId: string;
  /** Time limit for a response of another node, ms. */
  readonly answerMs: number;
  /** Share of every capacity limit that this node may use while Redis is unavailable, from 0 (no calls) to 1. */
  readonly shareAlone: number;
  /** Reads the IDs of all nodes that are not declared dead from the store. */
  readonly listNodes: () => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface Cluster {
  readonly bus: Bus;
  readonly directory: Directory;
  readonly claims: Claims;
  readonly slots: Slots & Pick<RedisSlots, 'ready'>;
  readonly bindings: RedisBindings;
  readonly nonceCounts: NonceCounts;
  /** Whether the node sent a heartbeat within the last seconds; undefined if this is unknown. */
  isHeard(nodeId: string): Promise<boolean | undefined>;
  /** This node's lease. While it is valid, no other node can have adopted this node's calls. */
  readonly lease: NodeLease;
  readonly isConnected: boolean;
  readonly redis: RedisLink;
  stop(): void;
}

/** Connects to Redis. Rejects with CLUSTER_UNAVAILABLE if the first connection fails; later failures are retried. */
export const openCluster = async ({ url, ...options }: ClusterOptions): Promise<Cluster> =>
  clusterOver(await openRedis(url, options), options);

/** Creates the cluster over an existing connection. */
export async function clusterOver(
  redis: RedisLink,
  options: Omit<ClusterOptions, 'url'>,
): Promise<Cluster> {
  const { nodeId, clock, random, logger } = options;
  const bus = new RedisBus({ ...options, redis });
  const lease = new NodeLease(clock);
  const onBeat = (sentMs: number): void => lease.confirmedByRedis(sentMs);
  const directory = new RedisDirectory({ redis, nodeId, clock, logger, onBeat });
  const claims = new RedisClaims({ redis, nodeId, clock });
  const slots = new RedisSlots({
    redis,
    clock,
    random,
    logger,
    nodeId,
    listNodes: options.listNodes,
    own: new OwnSlots(clock),
    alone: options.shareAlone === 0 ? undefined : (limits) => partOf(limits, options.shareAlone),
  });
  const bindings = new RedisBindings({ redis, bus, clock, logger });
  await bus.start();
  return {
    bus,
    directory,
    claims,
    slots,
    bindings,
    nonceCounts: new RedisNonceCounts(redis),
    redis,
    lease,
    isHeard: (node) => directory.isHeard(node),
    get isConnected() {
      return redis.isConnected;
    },
    stop() {
      slots.stop();
      claims.stop();
      directory.stop();
      bindings.stop();
      redis.close();
    },
  };
}

const partOf = ({ concurrentCalls, cps }: CapacityLimits, part: number): CapacityLimits => ({
  concurrentCalls: Math.floor(concurrentCalls * part),
  cps: Math.floor(cps * part),
});
