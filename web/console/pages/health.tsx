import { useEffect, useState } from 'preact/hooks';
import { call, get, HEADERS, number, type Row, rows, text } from '../api.ts';
import { Chart } from '../chart.tsx';
import { useAction, useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { type Metric, readMetrics, sumOf } from '../metrics.ts';
import { At, Problem, State, Table, Tiles } from '../parts.tsx';

const EVERY_MS = 5000;
const KEPT = 360;

export function Health() {
  const status = useLoad('status', () => get('/admin/v1/status'));
  const alarms = useLoad('alarms', () => get('/admin/v1/alarms'));
  const phones = useLoad('phones', () => get('/admin/v1/registrations'));
  const { problem, run } = useAction();
  const live = useLive();
  const [seen, setSeen] = useState<{
    readonly times: readonly number[];
    readonly calls: readonly number[];
  }>({ times: [], calls: [] });
  useEffect(() => {
    const timer = setInterval(() => {
      status.again();
      alarms.again();
      phones.again();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [status.again, alarms.again, phones.again]);
  useEffect(() => {
    setSeen(({ times, calls }) => ({
      times: [...times, Date.now() / 1000].slice(-KEPT),
      calls: [...calls, live.total].slice(-KEPT),
    }));
  }, [live.total, status.value]);
  const state = status.value;
  const isDraining = state?.['draining'] === true;
  return (
    <>
      <h1>Health</h1>
      <Problem text={status.problem ?? problem} />
      <Tiles
        of={[
          ['Calls', `${live.total} of ${text(state?.['calls_limit'])}`],
          ['Calls per second', state && number(state['calls_per_second']).toFixed(1)],
          ['Registered phones', text(state?.['registrations'])],
          ['Alarms', text(rows(alarms.value?.['alarms']).length)],
          ['Up since', <At key="up" value={state?.['started_at']} />],
          ['Version', text(state?.['version'])],
          [
            'New calls',
            <State key="d" good={!isDraining}>
              {isDraining ? 'drained' : 'taken'}
            </State>,
          ],
        ]}
      />
      <Chart
        label={`Active calls: ${live.total} now`}
        times={seen.times}
        series={[{ name: 'Active calls', values: seen.calls }]}
      />
      <h2>Parts</h2>
      <Table
        name="Parts of the service"
        rows={state && rows(state['parts'])}
        empty=""
        columns={[
          { title: 'Part', value: (row) => text(row['part']) },
          {
            title: 'State',
            value: (row) => (
              <State good={row['ready'] === true}>{row['ready'] ? 'ready' : 'not ready'}</State>
            ),
          },
          { title: 'Detail', value: (row) => text(row['detail']) },
        ]}
      />
      <h2>Alarms</h2>
      <Table
        name="Alarms"
        rows={alarms.value && rows(alarms.value['alarms'])}
        empty="No alarms."
        columns={[
          { title: 'Since', value: (row) => <At value={row['since']} /> },
          { title: 'Alarm', value: (row) => text(row['kind']) },
          { title: 'Subject', value: (row) => text(row['subject']) },
          { title: 'Detail', value: (row) => text(row['detail']) },
        ]}
      />
      <Figures />
      <h2>Registered phones</h2>
      <Table
        name="Registered phones"
        rows={phones.value && rows(phones.value['registrations']).slice(0, 200)}
        empty="No registered phones."
        columns={[
          { title: 'User', value: (row) => text(row['username']) },
          {
            title: 'From',
            value: (row) =>
              `${text(row['transport'])} ${text(row['address'])}:${text(row['port'])}`,
          },
          { title: 'Software', value: (row) => text(row['user_agent']), isMinor: true },
          { title: 'Until', value: (row) => <At value={row['expires_at']} />, isMinor: true },
        ]}
      />
      <h2>Maintenance</h2>
      <p>
        A draining node accepts no new calls; active calls continue. Restart it to accept calls
        again. All metrics for a monitoring system are at <a href="/metrics">/metrics</a>.
      </p>
      {may('change') && (
        <button
          type="button"
          class="stop"
          disabled={isDraining}
          onClick={() =>
            confirm('Accept no new calls until the service is restarted?') &&
            void run(() => call('POST', '/admin/v1/drain').then(status.again))
          }
        >
          Drain node
        </button>
      )}
    </>
  );
}

/**
 * Selected metrics. Loaded on request only, because some of them cover the time since they were last read.
 */
function Figures() {
  const [metrics, setMetrics] = useState<readonly Metric[]>();
  const { problem, run } = useAction();
  const read = () =>
    run(async () => {
      const reply = await fetch('/metrics', { headers: HEADERS });
      if (!reply.ok) throw new Error(`Loading the metrics failed (${reply.status}).`);
      setMetrics(readMetrics(await reply.text()));
    });
  return (
    <>
      <h2>Metrics since the start</h2>
      <Problem text={problem} />
      <button type="button" class="small" onClick={() => void read()}>
        {metrics === undefined ? 'Show' : 'Refresh'}
      </button>
      {metrics && <Shown metrics={metrics} />}
    </>
  );
}

/** Load and delay of each thread that processes calls or packets. */
function threadsOf(metrics: readonly Metric[]): readonly Row[] {
  const of = (name: string, thread?: string): number =>
    sumOf(metrics, name, (labels) => thread === undefined || labels['thread'] === thread);
  const percent = (ratio: number): number => Math.round(100 * ratio);
  const ms = (seconds: number): string => `${(1000 * seconds).toFixed(1)} ms`;
  const main = {
    thread: 'signalling',
    busy: percent(of('voice_event_loop_utilisation')),
    late: ms(of('nodejs_eventloop_lag_p99_seconds')),
  };
  const media = metrics
    .filter(({ name }) => name === 'voice_media_thread_legs')
    .map(({ labels: { thread = '' }, value: legs }) => ({
      thread: `media ${thread}`,
      legs,
      busy: percent(of('voice_media_thread_busy_ratio', thread)),
      late: ms(of('voice_media_tick_late_seconds', thread)),
    }));
  const streams = metrics
    .filter(({ name }) => name === 'voice_stream_thread_busy_ratio')
    .map(({ labels: { thread = '' }, value }) => ({
      thread: `streams ${thread}`,
      busy: percent(value),
    }));
  return [main, ...media, ...streams];
}

function Shown({ metrics }: { readonly metrics: readonly Metric[] }) {
  const failed = sumOf(
    metrics,
    'voice_webhook_seconds_count',
    ({ code = '' }) => !code.startsWith('2'),
  );
  const statuses = metrics
    .filter(
      ({ name, labels, value }) =>
        name === 'voice_sip_messages_total' && labels['code'] && value > 0,
    )
    .sort((a, b) => b.value - a.value);
  return (
    <>
      <Tiles
        of={[
          ['Calls started', String(sumOf(metrics, 'voice_call_attempts_total'))],
          ['Callbacks', String(sumOf(metrics, 'voice_webhook_seconds_count'))],
          [
            'Failed callbacks',
            <State key="failed" good={failed === 0}>
              {failed}
            </State>,
          ],
          ['Calls refused due to overload', String(sumOf(metrics, 'voice_calls_refused_total'))],
          ['RTP packets', String(sumOf(metrics, 'voice_rtp_packets_total'))],
          ['RTP packets lost', String(sumOf(metrics, 'voice_rtp_lost_packets_total'))],
          ['CPU time', `${Math.round(sumOf(metrics, 'process_cpu_seconds_total'))} s`],
        ]}
      />
      <Table
        name="Threads"
        rows={threadsOf(metrics)}
        empty=""
        columns={[
          { title: 'Thread', value: (row) => text(row['thread']) },
          { title: 'Busy', value: (row) => `${text(row['busy'])} %`, isNumber: true },
          { title: 'Legs', value: (row) => text(row['legs']), isNumber: true },
          { title: 'Late, p99', value: (row) => text(row['late']), isNumber: true },
        ]}
      />
      <Table
        name="SIP responses"
        rows={statuses.map(({ labels, value: count }) => ({ ...labels, count }))}
        empty="No SIP responses yet."
        columns={[
          { title: 'SIP response', value: (row) => text(row['code']) },
          { title: 'Direction', value: (row) => text(row['direction']) },
          { title: 'Count', value: (row) => text(row['count']), isNumber: true },
        ]}
      />
    </>
  );
}
