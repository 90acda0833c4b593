import type { RecordableHistogram } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Histogram, type Registry } from 'prom-client';
import { secondsOf } from '../../base/duration.ts';
import { STATUS_CODES } from '../../base/node-http.ts';
import { isReliable, TRANSPORT_NAMES } from '../../protocol/sip/types.ts';
import { boundedLabels } from './bounded-labels.ts';
import { Exposition, observeCall, type Scrape } from './exposition.ts';
import { defineLoopLag } from './loop-lag.ts';
import { defineMediaThreads, defineMediaTotals, type MediaTotals } from './media-metrics.ts';
import { scrapedGauge, scrapedGauges, scrapedTotal } from './scraped.ts';
import { defineSignallingTotals, type SignallingSources } from './signalling-metrics.ts';
import { defineStateGauges, type StateSources } from './state-gauges.ts';

type Direction = 'inbound' | 'outbound';

/** Sources of gauge values, read at each scrape. Each is optional, because a component may not have started yet. */
export interface MetricSources extends StateSources, SignallingSources {
  callsActive?: () => Readonly<Record<Direction, number>>;
  registrations?: () => number;
  /** Current and maximum number of calls on this node. */
  capacity?: () => { readonly used: number; readonly limit: number };
  streamSockets?: () => number;
  /** Share of the last second in which each stream thread was busy. */
  streamThreads?: () => readonly { readonly busy: number }[];
  /** Units of work spooled on the local disk. */
  spooled?: () => number;
  overload?: () => {
    /** Whether the node refuses new calls. */
    readonly overloaded: boolean;
    /** Limit of new calls per second; undefined if only the waiting time limits them. */
    readonly callsPerSecond: number | undefined;
    /** Calls refused because of overload since the start. */
    readonly refused: number;
    /** Share of time in which the event loop is busy. */
    readonly utilisation: number;
    /** Event loop delay since the last scrape, ns. */
    readonly lateNs: RecordableHistogram;
  };
  media?: () => MediaTotals;
}

interface CallEnding {
  readonly callUuid: string;
  readonly durationMs: number;
  readonly quality:
    | { readonly mos?: number | undefined; readonly jitterMs: number; readonly isOneWay: boolean }
    | undefined;
}

/** Metrics of the service in base units. Labels contain no account IDs, so that the number of series stays bounded. */
export interface Metrics {
  callAttempted(direction: Direction, result: string): void;
  callAnswered(direction: Direction, setupMs: number, callUuid: string): void;
  callEnded(direction: Direction, end: CallEnding): void;
  /** Adds the cost of a call, in currency units. */
  charged(source: 'call' | 'stream', currency: string, units: number): void;
  /** Records a webhook exchange. `code` is the HTTP status or the kind of failure. */
  webhook(event: string, code: string, tookMs: number): void;
  /** Records the latency of a bot's answer. */
  turnTook(latencyMs: number): void;
  unhandledRejection(): void;
  /** Replaces the given sources. */
  connect(sources: MetricSources): void;
  /** Renders a scrape in the format selected by `accept`. Default: Prometheus text format. */
  scrape(accept?: string): Promise<Scrape>;
}

/** Disables prom-client's own event loop monitor, which would wake the loop constantly and count its period as delay. */
const NEVER_MS = 2 ** 31 - 1;
/**
 * Metrics of prom-client with counter names although their values may decrease. The same values exist by kind without
 * `_total`.
 */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const SECONDS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const DURATION_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200];
const MOS_BUCKETS = [1, 2, 2.5, 3, 3.5, 3.8, 4, 4.2, 4.4, 4.5];
const TURN_BUCKETS = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];
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
  const rejections = defineRejections(registry);
  const bounded = boundedLabels();
  return {
    callAttempted: (direction, result) =>
      facts.attempts.inc({ direction, result: bounded('result', result) }),
    callAnswered: (direction, setupMs, callUuid) =>
      observeCall(facts.setup, { labels: { direction }, value: secondsOf(setupMs), callUuid }),
    callEnded(direction, { callUuid, durationMs, quality }) {
      observeCall(facts.duration, {
        labels: { direction },
        value: secondsOf(durationMs),
        callUuid,
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
      facts.webhook.observe(
        { event: bounded('event', event), code: codeLabel(code) },
        secondsOf(tookMs),
      ),
    turnTook: (latencyMs) => facts.turn.observe(secondsOf(latencyMs)),
    unhandledRejection: () => rejections.inc(),
    connect: (more) => Object.assign(sources, more),
    scrape(accept = '') {
      state.media = sources.media?.();
      return exposition.scrape(accept);
    },
  };
}

/** Replaces an unregistered HTTP status by its class, such as `2xx`. A customer's server can send any status. */
const codeLabel = (code: string): string =>
  /^\d+$/.test(code) && STATUS_CODES[code] === undefined ? `${code.slice(0, 1)}xx` : code;

function defineFacts(exposition: Exposition) {
  const registers = [exposition.registry];
  return {
    attempts: new Counter({
      name: 'voice_call_attempts_total',
      help: 'Calls started, by kind of start or reason of failure',
      labelNames: ['direction', 'result'],
      registers,
    }),
    setup: exposition.histogram({
      name: 'voice_call_setup_seconds',
      help: 'Time from the first INVITE to the answer',
      labelNames: ['direction'],
      buckets: SECONDS_BUCKETS,
    }),
    duration: exposition.histogram({
      name: 'voice_call_duration_seconds',
      help: 'Time from the answer to the end',
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
      help: 'Ended calls whose peer sent no RTP although it was expected to',
      labelNames: ['direction'],
      registers,
    }),
    charged: new Counter({
      name: 'voice_charged_units_total',
      help: 'Currency units charged for calls and their streams',
      labelNames: ['source', 'currency'],
      registers,
    }),
    turn: new Histogram({
      name: 'voice_bot_turn_seconds',
      help: "Time from the caller's last speech to the first audio of the bot's answer",
      buckets: TURN_BUCKETS,
      registers,
    }),
    webhook: new Histogram({
      name: 'voice_webhook_seconds',
      help: 'HTTP exchanges with customers; an unregistered status counts by its class, such as 2xx',
      labelNames: ['event', 'code'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
  };
}

const defineRejections = (registry: Registry): Counter =>
  new Counter({
    name: 'voice_unhandled_rejections_total',
    help: 'Promise rejections without a handler, each of which is a bug; the service continues',
    registers: [registry],
  });

/** State read once per scrape, because reading it starts the engine's next interval. */
interface ScrapeState {
  media: MediaTotals | undefined;
}

function defineGauges(registry: Registry, sources: MetricSources, state: ScrapeState): void {
  const registers = [registry];
  defineCallGauges(registers, sources);
  defineOverload(registers, sources);
  scrapedGauge(
    registers,
    'voice_store_spooled_units',
    'Call records and notifications that wait on the local disk while the database is unavailable',
    () => sources.spooled?.() ?? 0,
  );
  scrapedGauge(
    registers,
    'voice_stream_sockets',
    'Open audio-stream sockets',
    () => sources.streamSockets?.() ?? 0,
  );
  defineMediaThreads(registers, () => state.media);
  scrapedGauges(
    registers,
    {
      name: 'voice_stream_thread_busy_ratio',
      help: 'Share of the last second in which a thread for audio-stream sockets was busy',
      labels: ['thread'],
    },
    () =>
      (sources.streamThreads?.() ?? []).map(
        ({ busy }, index) => [{ thread: index }, busy] as const,
      ),
  );
  defineSipConnections(registers, sources);
  defineStateGauges(registers, sources);
  defineMediaTotals(registers, () => state.media);
  defineSignallingTotals(registers, sources);
}

/** Registers the calls, and the contacts that can receive calls. */
function defineCallGauges(registers: Registry[], sources: MetricSources): void {
  scrapedGauges(
    registers,
    { name: 'voice_calls_active', help: 'Active calls', labels: ['direction'] },
    () => {
      const { inbound, outbound } = sources.callsActive?.() ?? { inbound: 0, outbound: 0 };
      return [
        [{ direction: 'inbound' }, inbound],
        [{ direction: 'outbound' }, outbound],
      ];
    },
  );
  const gauge = (name: string, help: string, read: () => number | undefined): void =>
    scrapedGauge(registers, name, help, () => read() ?? 0);
  gauge('voice_registrations', 'Current contacts of endpoints', () => sources.registrations?.());
  gauge('voice_capacity_used', 'Calls active on this node', () => sources.capacity?.().used);
  gauge(
    'voice_capacity_limit',
    'Maximum number of calls on this node',
    () => sources.capacity?.().limit,
  );
}

function defineSipConnections(registers: Registry[], sources: MetricSources): void {
  scrapedGauges(
    registers,
    {
      name: 'voice_sip_connections',
      help: 'Open SIP connections: tcp, tls, ws, wss',
      labels: ['transport'],
    },
    () => {
      const counts = sources.signalling?.().connections ?? {};
      return TRANSPORT_NAMES.filter(isReliable).map(
        (transport) => [{ transport }, counts[transport] ?? 0] as const,
      );
    },
  );
}

function defineOverload(registers: Registry[], sources: MetricSources): void {
  scrapedGauge(
    registers,
    'voice_overloaded',
    '1 while the node refuses some new calls because of overload',
    () => Number(sources.overload?.().overloaded ?? false),
  );
  scrapedGauge(
    registers,
    'voice_new_calls_limit',
    'New calls per second that an overloaded node accepts; +Inf without a limit',
    () => sources.overload?.().callsPerSecond ?? Number.POSITIVE_INFINITY,
  );
  scrapedGauge(
    registers,
    'voice_event_loop_utilisation',
    'Share of the last quarter of a second in which the event loop was busy',
    () => sources.overload?.().utilisation ?? 0,
  );
  scrapedTotal(
    registers,
    'voice_calls_refused_total',
    'Calls over SIP and REST refused because of overload',
    () => sources.overload?.().refused,
  );
}
