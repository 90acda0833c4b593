/** Writes deploy/grafana/dashboards/*.json from the tables below; a test fails when they differ, or a query names a metric that there is not. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Query {
  readonly expr: string;
  readonly legend: string;
}
interface Panel {
  readonly title: string;
  readonly queries: readonly Query[];
  /** Grafana unit: `s`, `percentunit`, `bytes`, `short`, `reqps` … */
  readonly unit: string;
  readonly kind?: 'timeseries' | 'stat';
}

const q = (expr: string, legend = ''): Query => ({ expr, legend });
const panel = (title: string, unit: string, ...queries: readonly Query[]): Panel => ({
  title,
  unit,
  queries,
});
const stat = (title: string, unit: string, expr: string): Panel => ({
  title,
  unit,
  queries: [q(expr)],
  kind: 'stat',
});
const WINDOW = '$__rate_interval';
const rate = (metric: string): string => `rate(${metric}[${WINDOW}])`;
const quantile = (share: number, metric: string, by = ''): string =>
  `histogram_quantile(${share}, sum by (le${by && `, ${by}`}) (${rate(`${metric}_bucket`)}))`;

export const DASHBOARDS: Readonly<Record<string, { title: string; panels: readonly Panel[] }>> = {
  calls: {
    title: 'Carillon: calls',
    panels: [
      stat('Calls now', 'short', 'sum(voice_calls_active)'),
      stat('Capacity used', 'percentunit', 'voice_capacity_used / voice_capacity_limit'),
      stat(
        'Answered, last hour',
        'percentunit',
        'sum(increase(voice_call_attempts_total{result="answered"}[1h])) / sum(increase(voice_call_attempts_total[1h]))',
      ),
      stat('Alarms', 'short', 'sum(voice_alarms)'),
      panel(
        'Calls now',
        'short',
        q('voice_calls_active', '{{direction}}'),
        q('voice_capacity_limit', 'limit'),
      ),
      panel(
        'Calls a second, by result',
        'cps',
        q(
          `sum by (direction, result) (${rate('voice_call_attempts_total')})`,
          '{{direction}} {{result}}',
        ),
      ),
      panel(
        'Time to the answer',
        's',
        q(quantile(0.5, 'voice_call_setup_seconds', 'direction'), 'median {{direction}}'),
        q(quantile(0.95, 'voice_call_setup_seconds', 'direction'), '95 % {{direction}}'),
      ),
      panel(
        'Length of calls',
        's',
        q(quantile(0.5, 'voice_call_duration_seconds', 'direction'), 'median {{direction}}'),
        q(quantile(0.95, 'voice_call_duration_seconds', 'direction'), '95 % {{direction}}'),
      ),
      panel('Registrations', 'short', q('voice_registrations', 'contacts')),
      panel('Alarms by kind', 'short', q('voice_alarms', '{{kind}}')),
    ],
  },
  cluster: {
    title: 'Carillon: cluster and storage',
    panels: [
      panel('Conditions that stop calls', 'short', q('voice_node_condition', '{{condition}}')),
      panel('Live nodes', 'short', q('voice_cluster_nodes', 'nodes')),
      panel('Epoch', 'short', q('voice_node_epoch', 'epoch')),
      panel('Units that wait for PostgreSQL', 'short', q('voice_store_spooled_units', 'units')),
      panel('Recordings that wait for S3', 'short', q('voice_recordings_waiting', 'files')),
      panel(
        'File descriptors',
        'short',
        q('voice_descriptors_open', 'open'),
        q('voice_descriptors_limit', 'limit'),
      ),
    ],
  },
  quality: {
    title: 'Carillon: sound',
    panels: [
      panel(
        'Estimated quality (MOS)',
        'short',
        q(quantile(0.5, 'voice_mos'), 'median'),
        q(quantile(0.05, 'voice_mos'), 'worst 5 %'),
      ),
      panel(
        'Jitter',
        's',
        q(quantile(0.5, 'voice_rtp_jitter_seconds'), 'median'),
        q(quantile(0.95, 'voice_rtp_jitter_seconds'), '95 %'),
      ),
      panel(
        'Calls with one-way audio',
        'short',
        q('sum by (direction) (increase(voice_calls_one_way_total[15m]))', '{{direction}}'),
      ),
      panel('Packets a second', 'pps', q(rate('voice_rtp_packets_total'), '{{direction}}')),
      panel(
        'Lost packets',
        'percentunit',
        q(
          `${rate('voice_rtp_lost_packets_total')} / ignoring(direction) ${rate('voice_rtp_packets_total{direction="in"}')}`,
          'of those received',
        ),
      ),
      panel(
        'Packets of unknown sources',
        'pps',
        q(rate('voice_rtp_unknown_source_packets_total'), 'unknown'),
      ),
      panel('Changes of address', 'ops', q(rate('voice_rtp_source_changes_total'), 'changes')),
      panel(
        'Lateness of the media ticks',
        's',
        q('voice_media_tick_late_seconds', 'thread {{thread}}'),
      ),
      panel(
        'Time that media threads work',
        'percentunit',
        q('voice_media_thread_busy_ratio', 'thread {{thread}}'),
      ),
    ],
  },
  sip: {
    title: 'Carillon: SIP',
    panels: [
      panel(
        'Requests a second',
        'reqps',
        q(
          `sum by (direction, method) (${rate('voice_sip_messages_total{method!=""}')})`,
          '{{direction}} {{method}}',
        ),
      ),
      panel(
        'Responses a second',
        'reqps',
        q(
          `sum by (direction, code) (${rate('voice_sip_messages_total{code!=""}')})`,
          '{{direction}} {{code}}',
        ),
      ),
      panel('Not looked at, by reason', 'ops', q(rate('voice_sip_dropped_total'), '{{reason}}')),
      panel('Wrong credentials', 'ops', q(rate('voice_sip_auth_failures_total'), 'requests')),
      panel('Connections', 'short', q('voice_sip_connections', '{{transport}}')),
      panel('Carriers', 'short', q('voice_carrier_up', '{{carrier}}')),
      panel(
        'No use, and failed TLS',
        'ops',
        q(rate('voice_sip_discarded_total'), 'discarded'),
        q(rate('voice_sip_tls_handshake_failures_total'), 'failed handshakes'),
      ),
    ],
  },
  customers: {
    title: 'Carillon: webhooks, streams and money',
    panels: [
      panel(
        'Webhooks a second',
        'reqps',
        q(`sum by (event, code) (${rate('voice_webhook_seconds_count')})`, '{{event}} {{code}}'),
      ),
      panel(
        'Webhooks, 95 %',
        's',
        q(quantile(0.95, 'voice_webhook_seconds', 'event'), '{{event}}'),
      ),
      panel(
        'Webhooks that failed',
        'percentunit',
        q(
          `sum(${rate('voice_webhook_seconds_count{code!~"2.."}')}) / sum(${rate('voice_webhook_seconds_count')})`,
          'failed',
        ),
      ),
      panel('Audio streams', 'short', q('voice_stream_sockets', 'open')),
      panel(
        'Charged an hour',
        'short',
        q(
          'sum by (source, currency) (increase(voice_charged_units_total[1h]))',
          '{{source}} {{currency}}',
        ),
      ),
    ],
  },
  node: {
    title: 'Carillon: node',
    panels: [
      stat('Version', 'short', 'voice_build_info'),
      stat('Overloaded', 'short', 'voice_overloaded'),
      stat('Disk free', 'percentunit', 'voice_disk_free_bytes / voice_disk_total_bytes'),
      stat('Certificate ends in', 's', 'min(voice_certificate_expiry_timestamp_seconds) - time()'),
      panel('CPU', 'percentunit', q(rate('process_cpu_seconds_total'), 'cores')),
      panel(
        'Memory',
        'bytes',
        q('process_resident_memory_bytes', 'resident'),
        q('nodejs_heap_size_used_bytes', 'heap'),
      ),
      panel('Refused for overload', 'cps', q(rate('voice_calls_refused_total'), 'calls a second')),
      panel('Event loop', 'percentunit', q('voice_event_loop_utilisation', 'busy')),
      panel('Delay of the event loop', 's', q('nodejs_eventloop_lag_p99_seconds', '99 %')),
      panel('Open files', 'short', q('process_open_fds', 'open'), q('process_max_fds', 'limit')),
    ],
  },
};

const WIDTH = { stat: 6, timeseries: 12 } as const;
const HEIGHT = { stat: 4, timeseries: 8 } as const;
const COLUMNS = 24;

/** Returns the JSON of a Grafana dashboard. */
export function dashboardJson(name: string): string {
  const { title, panels } = DASHBOARDS[name] ?? { title: name, panels: [] };
  let [x, y] = [0, 0];
  let row = 0;
  const shown = panels.map(({ title: heading, queries, unit, kind = 'timeseries' }, at) => {
    const [w, h] = [WIDTH[kind], HEIGHT[kind]];
    if (x + w > COLUMNS) [x, y, row] = [0, y + row, 0];
    const gridPos = { x, y, w, h };
    x += w;
    row = Math.max(row, h);
    return {
      id: at + 1,
      type: kind,
      title: heading,
      gridPos,
      datasource: { type: 'prometheus', uid: '$datasource' },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(({ expr, legend }, n) => ({
        refId: String.fromCharCode(65 + n),
        expr,
        legendFormat: legend,
      })),
    };
  });
  const dashboard = {
    uid: `carillon-${name}`,
    title,
    tags: ['carillon'],
    schemaVersion: 39,
    editable: true,
    refresh: '15s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' }],
    },
    panels: shown,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '../deploy/grafana/dashboards');
  mkdirSync(folder, { recursive: true });
  for (const name of Object.keys(DASHBOARDS))
    writeFileSync(join(folder, `${name}.json`), dashboardJson(name));
}
