import { unitsFromMicros } from '../base/money.ts';
import type { NewCalls } from '../domain/capacity/capacity.ts';
import type { Cdr } from '../domain/cdr/types.ts';
import { CONDITION_NAMES, type SelfNode, type Serviceability } from '../domain/cluster/cluster.ts';
import type { CallBilling } from '../domain/dispatch/dispatch.ts';
import type { MediaEngine } from '../edge/media/engine.ts';
import type { MetricSources, Metrics } from '../edge/metrics/metrics.ts';
import type { RunningSignalling } from '../edge/sip/signalling.ts';
import type { HepExporter } from '../edge/sip/trace/hep-exporter.ts';
import type { Store } from '../edge/store/store.ts';
import type { AudioStreamsEdge } from '../edge/stream/client.ts';
import type { Alarms } from './alarms.ts';
import type { DescriptorWatch } from './descriptors.ts';
import type { OverloadWatch } from './overload.ts';
import type { SipTraces } from './sip-traces.ts';

export interface MeasuredParts {
  readonly callBilling: CallBilling;
  readonly signalling: RunningSignalling;
  readonly media: MediaEngine;
  readonly streams: AudioStreamsEdge;
  readonly callsLimit: number;
  readonly overload: OverloadWatch;
  readonly newCalls: NewCalls;
  readonly alarms: Pick<Alarms, 'counts' | 'disk' | 'certificates'>;
  readonly traces: Pick<SipTraces, 'trunkMessages'>;
  readonly hep: Pick<HepExporter, 'counts'> | undefined;
  readonly store: Pick<Store, 'spooled'>;
  readonly version: string;
  readonly serviceability: Pick<Serviceability, 'conditions'>;
  readonly self: Pick<SelfNode, 'epoch'>;
  /** Live nodes; undefined: not known now, or this process is alone. */
  readonly living: () => readonly string[] | undefined;
  readonly offloadWaiting: () => number;
  /** Time until the lease of this node expires, in ms; undefined without a cluster. */
  readonly leaseMs: () => number | undefined;
  readonly descriptors: Pick<DescriptorWatch, 'count'>;
}

/** All sources. Only the export of SIP messages is optional. */
type ServiceSources = Required<Omit<MetricSources, 'hep'>> & Pick<MetricSources, 'hep'>;

/** Prometheus metrics of the running service. */
export class Measuring {
  readonly #metrics: Metrics;
  #packetsLost = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  connect(parts: MeasuredParts): void {
    const {
      callBilling,
      signalling,
      media,
      streams,
      callsLimit,
      overload,
      newCalls,
      alarms,
      version,
      hep,
      traces,
      store,
    } = parts;
    const sources: ServiceSources = {
      callsActive: () => {
        const calls = callBilling.live();
        const inbound = calls.filter((call) => call.facts.direction === 'inbound').length;
        return { inbound, outbound: calls.length - inbound };
      },
      version,
      carriers: () => signalling.carrierStates(),
      alarms: () => alarms.counts(),
      disk: () => alarms.disk(),
      certificates: () => alarms.certificates(),
      registrations: () => signalling.registrations().length,
      capacity: () => ({ used: callBilling.live().length, limit: callsLimit }),
      signalling: () => signalling.counters(),
      trunkMessages: () => traces.trunkMessages(),
      ...(hep === undefined ? {} : { hep: () => hep.counts() }),
      overload: () => ({
        overloaded: overload.overloaded,
        callsPerSecond: overload.limit,
        refused: newCalls.counts().refused,
        utilisation: overload.utilisation,
        lateNs: overload.lateNs,
      }),
      spooled: () => store.spooled(),
      conditions: () => conditionsOf(parts.serviceability),
      epoch: () => parts.self.epoch,
      nodes: () => parts.living()?.length,
      offloadWaiting: () => parts.offloadWaiting(),
      leaseMs: () => parts.leaseMs(),
      descriptors: () => parts.descriptors.count,
      streamSockets: () => streams.counters().open,
      streamThreads: () => streams.counters().threads,
      media: () => ({
        ...media.counters(),
        packetsLost: this.#packetsLost,
        threads: media.status().threads.map(({ busy, legs, tickLateP99Us, skippedTicks }) => ({
          busy,
          legs,
          skippedTicks,
          tickLateMs: tickLateP99Us / 1000,
        })),
      }),
    };
    this.#metrics.connect(sources);
  }

  /** Adds an ended call to counters and histograms. */
  observe(cdr: Cdr): void {
    const { callUuid, direction, answerUs, startUs, endUs, quality } = cdr;
    this.#packetsLost += quality?.packetsLost ?? 0;
    this.#metrics.callAttempted(direction, answerUs === undefined ? cdr.hangupCause : 'answered');
    if (answerUs !== undefined) {
      this.#metrics.callAnswered(direction, (answerUs - startUs) / 1000, callUuid);
    }
    this.#metrics.charged('call', cdr.currency, unitsFromMicros(cdr.cost));
    this.#metrics.charged('stream', cdr.currency, unitsFromMicros(cdr.streamingCost));
    this.#metrics.callEnded(direction, {
      callUuid,
      durationMs: (endUs - (answerUs ?? endUs)) / 1000,
      quality: quality && {
        mos: quality.mos,
        jitterMs: quality.jitterMs,
        isOneWay: quality.unheardMs !== undefined,
      },
    });
  }
}

function conditionsOf({ conditions }: Pick<Serviceability, 'conditions'>) {
  const holding = new Set(conditions.map(({ condition }) => condition));
  return Object.fromEntries(CONDITION_NAMES.map((name) => [name, holding.has(name)]));
}
