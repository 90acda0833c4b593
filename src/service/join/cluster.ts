/** This process among others over one store: who lives, what is shared, and what becomes of calls of a node that is gone. */
import { ServiceError } from '../../base/errors.ts';
import { recoverOpenCalls } from '../../domain/cdr/cdr.ts';
import { Membership, Peers } from '../../domain/cluster/cluster.ts';
import type { Admission, CallKeeper } from '../../domain/dispatch/dispatch.ts';
import { type Cluster, openCluster } from '../../edge/cluster/cluster.ts';
import type { Basics, Foundation } from './foundation.ts';

export interface Clustered {
  readonly shared: Cluster;
  readonly peers: Peers;
  /** Begins to beat, and to watch the others. */
  start(calls: ClusteredCalls): Promise<void>;
  leave(): Promise<void>;
}

export interface ClusteredCalls {
  readonly keeper: CallKeeper;
  readonly admission: Pick<Admission, 'draining'>;
  /** No call may begin, and why; undefined: they may again. */
  readonly pause: (problem: string | undefined) => void;
  /** Takes up what else is nobody's, once calls are closed: notifications, exports, campaigns. */
  readonly takeUp: () => Promise<void>;
  /** This node begins no work for all any more. */
  readonly letGo: () => void;
}

/** Undefined where no Redis is named: this process is alone. */
export async function joinCluster(
  { settings, clock, random, logger }: Basics,
  { store, self }: Pick<Foundation, 'store' | 'self'>,
): Promise<Clustered | undefined> {
  const { redis: url, answerMs, withoutRedisPercent } = settings.cluster;
  if (url === '') return undefined;
  if (settings.store.url === '')
    throw new ServiceError('CONFIG_INVALID', 'cluster.redis needs store.url: nodes share a store');
  const cluster = await openCluster({
    ...{ url, answerMs, clock, random, logger },
    nodeId: self.id,
    shareAlone: withoutRedisPercent / 100,
  });
  let membership: Membership | undefined;
  const peers = new Peers({
    bus: cluster.bus,
    directory: cluster.directory,
    nodeId: self.id,
    living: () => membership?.living ?? [],
  });
  return {
    shared: cluster,
    peers,
    async start({ keeper, admission, pause, takeUp, letGo }: ClusteredCalls) {
      membership = new Membership({
        nodes: store.nodes,
        ...{ self, clock, logger },
        isHeard: (nodeId) => cluster.isHeard(nodeId),
        async takeUp() {
          await recoverOpenCalls(store.calls, logger);
          if (!admission.draining) await takeUp();
        },
        async fenced() {
          pause('this node was declared dead by another');
          letGo();
          for (const call of keeper.live())
            call.hangup(
              'internalError',
              'Error',
              'another node has taken over and billed the call',
            );
          await keeper.idle();
          pause(undefined);
        },
      });
      await membership.round();
      membership.start();
    },
    async leave() {
      await membership?.stop();
      cluster.stop();
    },
  };
}
