/** Composes the cluster: membership, shared state, and adoption of the calls of dead nodes. */
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { AccountId } from '../../base/ids.ts';
import type { Listeners } from '../../base/listeners.ts';
import type { CallbackClient } from '../../domain/callback/callback.ts';
import { type DialerControl, SharedDialer } from '../../domain/campaign/campaign.ts';
import { INTERRUPTED, recoverOpenCalls } from '../../domain/cdr/cdr.ts';
import { Membership, NodeTickets, Peers } from '../../domain/cluster/cluster.ts';
import type { Admission, CallBilling, Outbound } from '../../domain/dispatch/dispatch.ts';
import { type Cluster, openCluster } from '../../edge/cluster/cluster.ts';
import type { Basics, Foundation } from './foundation.ts';

/** Maximum time in ms for which a starting node waits until Redis knows the slots of all nodes. */
const SLOTS_READY_MS = 8000;

export interface Clustered {
  readonly shared: Cluster;
  readonly peers: Peers;
  /** Ids of living nodes, this one included; undefined: not known now. */
  living(): readonly string[] | undefined;
  /** For calls between nodes. */
  readonly tickets: NodeTickets;
  /** Returns a dialer control that forwards campaign commands to the dialing node. */
  shareDialer(own: DialerControl): DialerControl;
  /** Starts sending beats and monitoring the other nodes. */
  start(calls: ClusteredCalls): Promise<void>;
  leave(): Promise<void>;
}

interface ClusteredCalls {
  readonly callBilling: CallBilling;
  readonly outbound: Pick<Outbound, 'forget'>;
  readonly admission: Pick<Admission, 'draining'>;
  readonly callbacks: Pick<CallbackClient, 'fence' | 'unfence'>;
  /** Called with a cause when another node declared this one dead, and with undefined once its new epoch serves. */
  readonly fenced: (cause: string | undefined) => void;
  /** Adopts other orphaned work after calls were closed: notifications, exports, campaigns. */
  readonly adopt: () => Promise<void>;
  /** Stops cluster-wide work on this node. */
  readonly relinquish: () => void;
}

/** Opens the cluster. Returns undefined without a configured Redis: this process is then the only node. */
export async function joinCluster(
  { settings, clock, random, logger }: Basics,
  foundation: Foundation,
): Promise<Clustered | undefined> {
  const { redis: url, answerMs, withoutRedisPercent } = settings.cluster;
  if (url === '') return undefined;
  if (settings.store.url === '')
    throw new ServiceError('CONFIG_INVALID', 'cluster.redis needs store.url: nodes share a store');
  const cluster = await openCluster({
    url,
    answerMs,
    clock,
    random,
    logger,
    nodeId: foundation.self.id,
    shareAlone: withoutRedisPercent / 100,
    listNodes: async () => (await foundation.store.nodes.list()).map(({ id }) => id),
  });
  return clusteredBy(cluster, { clock, random, logger }, foundation);
}

/** Composes the shared state of this node on a cluster connection. */
export function clusteredBy(
  cluster: Cluster,
  { clock, random, logger }: Pick<Basics, 'clock' | 'random' | 'logger'>,
  foundation: Foundation,
): Clustered {
  const { store, self } = foundation;
  let membership: Membership | undefined;
  const peers = new Peers({
    bus: cluster.bus,
    directory: cluster.directory,
    nodeId: self.id,
    living: () => membership?.living,
  });
  return {
    shared: cluster,
    peers,
    living: () => membership?.living,
    tickets: new NodeTickets(clock, random),
    shareDialer: (own) =>
      new SharedDialer({ own, bus: cluster.bus, nodes: store.nodes, nodeId: self.id }),
    async start(calls: ClusteredCalls) {
      const { callBilling, outbound, admission, callbacks, fenced, adopt, relinquish } = calls;
      membership = new Membership({
        nodes: store.nodes,
        self,
        clock,
        logger,
        lease: cluster.lease,
        isHeard: (nodeId) => cluster.isHeard(nodeId),
        async adopt() {
          fenced(undefined);
          callbacks.unfence();
          await recoverOpenCalls(store.calls, logger);
          if (!admission.draining) await adopt();
        },
        async fenced() {
          fenced('another node declared this one dead');
          relinquish();
          outbound.forget();
          callbacks.fence(callBilling.live().map(({ uuid }) => uuid));
          for (const call of callBilling.live())
            call.hangup('internalError', 'Error', INTERRUPTED.takenOver);
          await callBilling.idle();
        },
      });
      shareChanges(foundation, cluster);
      await membership.round();
      membership.start();
      await withinTime(clock, cluster.slots.ready());
    },
    async leave() {
      await membership?.stop();
      cluster.stop();
    },
  };
}

async function withinTime(clock: Clock, ready: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = clock.sleep(SLOTS_READY_MS, over.signal).catch(() => undefined); // ready before
  await Promise.race([ready, late]);
  over.abort();
}

/** Publishes changes between nodes: revoked rights end calls on every node, and changed credentials are no longer used. */
function shareChanges(
  { store, accounts, provisioning, phoneLogins }: Foundation,
  cluster: Cluster,
): void {
  const { bus, redis } = cluster;
  accounts.onChanged((authId) => bus.notify('account.changed', authId));
  bus.hear('account.changed', (authId) => accounts.forget(authId as AccountId));
  // Messages are lost while Redis, or this or the other node's connection to it, is down. The store announces changes too.
  const forgetAll = (): void => accounts.forget(undefined);
  redis.onSubscribed(forgetAll);
  store.onChange(forgetAll);
  const revocations = {
    account: accounts.revocations,
    endpoint: provisioning.endpoints.revocations,
    login: phoneLogins.revocations,
  };
  for (const [name, listeners] of Object.entries<Listeners<unknown>>(
    revocations as unknown as Record<string, Listeners<unknown>>,
  )) {
    listeners.add(async (revoked) => bus.notify(`revoked.${name}`, revoked), 'here');
    bus.hear(`revoked.${name}`, (revoked) => {
      // A call that is not tracked yet checks its permission in the store, so the cached copy must be invalidated.
      store.outdated();
      void listeners.notifyRemote(revoked);
    });
  }
}
