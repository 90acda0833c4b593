import type { RecordableHistogram } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import { secondsOf } from '../../base/duration.ts';
import { boundedLabels } from './bounded-labels.ts';
import { Exposition, observeCall, type Scrape } from './exposition.ts';
import { defineLoopLag } from './loop-lag.ts';
import { defineMediaThreads, defineMediaTotals, type MediaTotals } from './media-metrics.ts';
import { defineSignallingTotals, type SignallingSources } from './signalling-metrics.ts';
import { defineStateGauges, type StateSources } from './state-gauges.ts';

type Direction = 'inbound' | 'outbound';

/** Where gauges get their value from, at the moment of a scrape. Each is optional: a part that is not there yet. */
interface MetricSources extends StateSources, SignallingSources {
  callsActive?: () => Readonly<Record<Direction, number>>;
  registrations?: () => number;
  /** Calls that this node runs and may run. */
  capacity?: () => { readonly used: number; readonly limit: number };
  streamSockets?: () => number;
  /** Share of the last second in which each thread of theirs worked. */
  streamThreads?: () => readonly { readonly busy: number }[];
  /** Units of work on the local disk. */
  spooled?: () => number;
  overload?: () => {
    /** New calls are refused. */
    readonly overloaded: boolean;
    /** New calls that it takes; undefined: as many as need not wait too long. */
    readonly callsPerSecond: number | undefined;
    /** Calls refused because of it, since the start. */
    readonly refused: number;
    /** Share of the time in which the event loop is busy. */
    readonly utilisation: number;
    /** How late it was, since the last scrape. */
    readonly lateNs: RecordableHistogram;
  };
  media?: () => MediaTotals;
}

export interface CallEnding {
  readonly callUuid: string;
  readonly durationMs: number;
  readonly quality:
    | { readonly mos?: number | undefined; readonly jitterMs: number; readonly isOneWay: boolean }
    | undefined;
}

/** DomainServices as they happen, shown in base units; no account ids in labels, so that the number of series stays bounded. */
export interface Metrics {
  callAttempted(direction: Direction, result: string): void;
  callAnswered(direction: Direction, setupMs: number, callUuid: string): void;
  callEnded(direction: Direction, end: CallEnding): void;
  /** What a call cost, in currency units. */
  charged(source: 'call' | 'stream', currency: string, units: number): void;
  /** `code`: HTTP status, or the kind of failure. */
  webhook(event: string, code: string, tookMs: number): void;
  /** Replaces the sources named. */
  connect(sources: MetricSources): void;
  /** The text of a scrape, in the format that `accept` asks for; default: Prometheus' own. */
  scrape(accept?: string): Promise<Scrape>;
}

/** prom-client's own watch of the event loop would wake it all the time, and counts its period as delay. */
const NEVER_MS = 2 ** 31 - 1;
/** Of prom-client's own: sums that may fall, under names of counters. The same stands by kind without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const SECONDS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const DURATION_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200];
const MOS_BUCKETS = [1, 2, 2.5, 3, 3.5, 3.8, 4, 4.2, 4.4, 4.5];
const JITTER_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

export function createMetrics(options: { readonly process?: boolean } = {}): Metrics {
  const exposition = new Exposition();
  const { registry } = exposition;
  if (options.process ?? true) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const sources: MetricSources = {};
  if (options.process ?? true) defineLoopLag(registry, () => sources.overload?.().lateNs);
  const state: ScrapeState = { media: undefined };
  defineGauges(registry, sources, state);
  const facts = defineFacts(exposition);
  const bounded = boundedLabels();
  return {
    callAttempted: (direction, result) =>
      facts.attempts.inc({ direction, result: bounded('result', result) }),
    callAnswered: (direction, setupMs, callUuid) =>
      observeCall(facts.setup, { labels: { direction }, value: secondsOf(setupMs), callUuid }),
    callEnded(direction, { callUuid, durationMs, quality }) {
      observeCall(facts.duration, {
        ...{ labels: { direction }, value: secondsOf(durationMs), callUuid },
      });
      if (quality === undefined) return;
      facts.oneWay.inc({ direction }, Number(quality.isOneWay));
      observeCall(facts.jitter, { labels: {}, value: secondsOf(quality.jitterMs), callUuid });
      if (quality.mos !== undefined)
        observeCall(facts.mos, { labels: {}, value: quality.mos, callUuid });
    },
    charged(source, currency, units) {
      if (units > 0) facts.charged.inc({ source, currency: bounded('currency', currency) }, units);
    },
    webhook: (event, code, tookMs) =>
      facts.webhook.observe({ event: bounded('event', event), code }, secondsOf(tookMs)),
    connect: (more) => Object.assign(sources, more),
    scrape(accept = '') {
      state.media = sources.media?.();
      return exposition.scrape(accept);
    },
  };
}

function defineFacts(exposition: Exposition) {
  const registers = [exposition.registry];
  return {
    attempts: new Counter({
      name: 'voice_call_attempts_total',
      help: 'Calls begun, by how they began or why they did not',
      labelNames: ['direction', 'result'],
      registers,
    }),
    setup: exposition.histogram({
      name: 'voice_call_setup_seconds',
      help: 'From the first INVITE to the answer',
      labelNames: ['direction'],
      buckets: SECONDS_BUCKETS,
    }),
    duration: exposition.histogram({
      name: 'voice_call_duration_seconds',
      help: 'From answer to end',
      labelNames: ['direction'],
      buckets: DURATION_BUCKETS,
    }),
    jitter: exposition.histogram({
      name: 'voice_rtp_jitter_seconds',
      help: 'Interarrival jitter (RFC 3550) of a leg at its end',
      buckets: JITTER_BUCKETS,
    }),
    mos: exposition.histogram({
      name: 'voice_mos',
      help: 'Estimated listening quality (ITU-T G.107) of a leg at its end',
      buckets: MOS_BUCKETS,
    }),
    oneWay: new Counter({
      name: 'voice_calls_one_way_total',
      help: 'Ended calls from whose peer no RTP ever came, of which it was due',
      labelNames: ['direction'],
      registers,
    }),
    charged: new Counter({
      name: 'voice_charged_units_total',
      help: 'Currency units that calls and their streams cost',
      labelNames: ['source', 'currency'],
      registers,
    }),
    webhook: new Histogram({
      name: 'voice_webhook_seconds',
      help: 'HTTP exchanges with customers',
      labelNames: ['event', 'code'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
  };
}

/** Read once a scrape: asking the engine starts its next interval. */
interface ScrapeState {
  media: MediaTotals | undefined;
}

function defineGauges(registry: Registry, sources: MetricSources, state: ScrapeState): void {
  const registers = [registry];
  new Gauge({
    name: 'voice_calls_active',
    help: 'Calls now',
    labelNames: ['direction'],
    registers,
    collect() {
      const active = sources.callsActive?.() ?? { inbound: 0, outbound: 0 };
      this.set({ direction: 'inbound' }, active.inbound);
      this.set({ direction: 'outbound' }, active.outbound);
    },
  });
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('voice_registrations', 'Live contacts of endpoints', () => sources.registrations?.() ?? 0);
  gauge('voice_capacity_used', 'Calls running on this node', () => sources.capacity?.().used ?? 0);
  gauge('voice_capacity_limit', 'Calls this node may run', () => sources.capacity?.().limit ?? 0);
  defineOverload(registers, gauge, sources);
  gauge(
    'voice_store_spooled_units',
    'Ends of calls and what they tell that wait on the local disk for a database that is away',
    () => sources.spooled?.() ?? 0,
  );
  gauge('voice_stream_sockets', 'Open audio-stream sockets', () => sources.streamSockets?.() ?? 0);
  defineMediaThreads(registers, () => state.media);
  new Gauge({
    name: 'voice_stream_thread_busy_ratio',
    help: 'Share of the last second in which a thread of audio-stream sockets worked',
    labelNames: ['thread'],
    registers,
    collect() {
      this.reset();
      for (const [index, { busy }] of (sources.streamThreads?.() ?? []).entries()) {
        this.set({ thread: index }, busy);
      }
    },
  });
  new Gauge({
    name: 'voice_sip_connections',
    help: 'Open connections of SIP: tcp, tls, ws, wss',
    labelNames: ['transport'],
    registers,
    collect() {
      this.reset();
      const counts = sources.signalling?.().connections ?? {};
      for (const transport of ['tcp', 'tls', 'ws', 'wss'] as const) {
        this.set({ transport }, counts[transport] ?? 0);
      }
    },
  });
  defineStateGauges(registers, sources);
  defineMediaTotals(registers, () => state.media);
  defineSignallingTotals(registers, sources);
}

function defineOverload(
  registers: Registry[],
  gauge: (name: string, help: string, read: () => number) => void,
  sources: MetricSources,
): void {
  gauge('voice_overloaded', '1 while the node takes fewer new calls than are asked for', () =>
    Number(sources.overload?.().overloaded ?? false),
  );
  gauge(
    'voice_new_calls_limit',
    'New calls a second that an overloaded node takes; +Inf: no limit',
    () => sources.overload?.().callsPerSecond ?? Number.POSITIVE_INFINITY,
  );
  gauge(
    'voice_event_loop_utilisation',
    'Share of the last quarter of a second in which the event loop was busy',
    () => sources.overload?.().utilisation ?? 0,
  );
  new Counter({
    name: 'voice_calls_refused_total',
    help: 'Calls over SIP and REST refused because of overload',
    registers,
    collect() {
      this.reset();
      this.inc(sources.overload?.().refused ?? 0);
    },
  });
}
