/** Composes the monitoring of the node: conditions, alarms, overload, metrics and the reports of ended calls. */

import type { Mailer } from '../../base/mailer.ts';
import { VERSION } from '../../config/version.ts';
import type { Cdr } from '../../domain/cdr/types.ts';
import type { Serviceability } from '../../domain/cluster/cluster.ts';
import type { CallBilling } from '../../domain/dispatch/dispatch.ts';
import { isLow } from '../../domain/ledger/ledger.ts';
import type { Metrics } from '../../edge/metrics/metrics.ts';
import { Alarms } from '../alarms.ts';
import type { CallTraces } from '../call-traces.ts';
import type { DescriptorWatch } from '../descriptors.ts';
import { Measuring } from '../measuring.ts';
import { MediaReports } from '../media-reports.ts';
import { Memory, quietLoop, v8Heap } from '../memory.ts';
import { loopUtilisation, OverloadWatch } from '../overload.ts';
import { QualitySampling } from '../quality-sampling.ts';
import { RedisWatch } from '../redis-watch.ts';
import type { Derived } from '../settings.ts';
import { StoreWatch } from '../store-watch.ts';
import type { Clustered } from './cluster.ts';
import type { Basics, Foundation } from './foundation.ts';
import type { Lines } from './lines.ts';
import type { Leaving } from './objects.ts';
import { joinTraces } from './traces.ts';

/** Parts that exist before the calls and that monitoring reads. */
export interface Monitored {
  readonly basics: Basics;
  readonly foundation: Foundation;
  readonly derived: Derived;
  readonly lines: Lines;
  readonly cluster: Clustered | undefined;
  readonly serviceability: Serviceability;
  readonly descriptors: DescriptorWatch;
  readonly leaving: Leaving;
  readonly mailer: Mailer;
  readonly metrics: Metrics;
}

/** Receivers of each call's record and statistics. */
export interface CallReports {
  readonly alarms: Alarms;
  readonly measuring: Measuring;
  readonly callTraces: CallTraces | undefined;
  readonly media: MediaReports | undefined;
  /** Called with the record of each ended call. */
  settled(cdr: Cdr): void;
}

export function joinReports(given: Monitored): CallReports {
  const { basics, lines } = given;
  const alarms = alarmsOf(given);
  const measuring = new Measuring(given.metrics);
  const callTraces = joinTraces(basics, lines, VERSION);
  const media =
    lines.hep === undefined || !basics.settings.hep.mediaReports
      ? undefined
      : new MediaReports(lines.hep, basics.clock);
  return {
    alarms,
    measuring,
    callTraces,
    media,
    settled(cdr) {
      measuring.observe(cdr);
      alarms.observe(cdr);
      callTraces?.ended(cdr);
      media?.ended(cdr);
    },
  };
}

function alarmsOf(given: Monitored): Alarms {
  const { basics, foundation, derived, lines, serviceability, leaving, mailer } = given;
  const { settings } = basics;
  return new Alarms({
    ...basics,
    settings: settings.alarms,
    node: new URL(derived.publicUrl).host,
    nodeId: foundation.self.id,
    certificates: {
      'http.tlsCertFile': settings.http.tlsCertFile,
      'sip.tlsCertFile': settings.sip.tlsCertFile,
    },
    carriers: () => lines.signalling.carrierStates(),
    ledger: foundation.ledger,
    isLow: async (accountId, currency) => {
      const balance = await foundation.store.ledger.balance(accountId, currency);
      return balance !== undefined && isLow(balance);
    },
    unreadableRows: async () =>
      (await foundation.store.unreadableRows.page({ limit: 1, offset: 0 })).total,
    marks: foundation.store.settings,
    records: foundation.store.alarms,
    mailer,
    conditions: () => serviceability.conditions,
    spooled: () => foundation.store.spooled(),
    offloadWaiting: () => leaving.waiting(),
  });
}

/** State of the cluster for metrics and the operator API. */
export const clusterStateOf = ({ cluster, leaving }: Pick<Monitored, 'cluster' | 'leaving'>) => ({
  living: () => cluster?.living(),
  leaseMs: () => cluster?.shared.lease.remainingMs,
  offloadWaiting: () => leaving.waiting(),
});

/** Periodic checks of this process and of the systems that it depends on. */
export interface Watches {
  readonly overload: OverloadWatch;
  readonly store: StoreWatch;
  /** Undefined: there is no Redis, or this node also serves calls without it. */
  readonly redis: RedisWatch | undefined;
  readonly memory: Memory;
  readonly sampling: QualitySampling;
}

/** Composes the checks and connects the metrics to all parts. */
export function joinWatches(
  given: Monitored,
  callBilling: CallBilling,
  reports: CallReports,
): Watches {
  const { basics, foundation, serviceability } = given;
  const { settings } = basics;
  const overload = overloadWatch(given);
  connectMetrics(given, { callBilling, overload }, reports);
  const { isIdle, mayTrim } = quietLoop();
  return {
    overload,
    store: new StoreWatch({
      ...basics,
      ...foundation,
      isRemote: settings.store.url !== '',
      inUse: () => callBilling.liveCount > 0,
      onChange: serviceability.of('store'),
    }),
    redis: redisWatch(given),
    memory: new Memory({
      ...basics,
      isIdle: () => isIdle() && callBilling.liveCount === 0,
      mayTrim,
      heap: v8Heap(),
    }),
    sampling: new QualitySampling({
      ...basics,
      calls: () => callBilling.live(),
      sampled: (call, quality) => reports.media?.sampled(call, quality),
    }),
  };
}

function overloadWatch({ basics, foundation, lines }: Monitored): OverloadWatch {
  const { signalling, media, newCalls } = lines;
  return new OverloadWatch({
    clock: basics.clock,
    logger: basics.logger,
    limits: basics.settings.overload,
    newCalls,
    storeQueue: () => foundation.store.waiting(),
    sipWaitMs: () => signalling.waitMs(),
    mediaBusy: () => media.busy(),
    utilisation: loopUtilisation(),
  });
}

/** Undefined: there is no Redis, or this node also serves calls without it. */
function redisWatch({ basics, cluster, serviceability }: Monitored): RedisWatch | undefined {
  const { settings, clock, logger } = basics;
  if (cluster === undefined || settings.cluster.withoutRedisPercent > 0) return undefined;
  const { redis } = cluster.shared;
  return new RedisWatch({ clock, logger, redis, onChange: serviceability.of('redis') });
}

/** Connects the metrics to the parts whose state they read at a scrape. */
function connectMetrics(
  given: Monitored,
  parts: { readonly callBilling: CallBilling; readonly overload: OverloadWatch },
  { measuring, alarms }: CallReports,
): void {
  const { basics, foundation, lines, serviceability, descriptors } = given;
  const { signalling, media, streams, newCalls, hep, traces } = lines;
  measuring.connect({
    ...parts,
    signalling,
    media,
    streams,
    callsLimit: basics.settings.calls.maxConcurrent,
    newCalls,
    alarms,
    hep,
    store: foundation.store,
    traces,
    version: VERSION,
    serviceability,
    self: foundation.self,
    ...clusterStateOf(given),
    descriptors,
  });
}
