import { useEffect, useState } from 'preact/hooks';
import { call, get, number, type Row, rows, send, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction, useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { type Metric, readMetrics, sumOf } from '../metrics.ts';
import { t } from '../text.ts';
import { Chart } from '../ui/chart.tsx';
import { Select } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Ago, Badge, Card, Head, LoadProblem, Problem, Tiles } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const EVERY_MS = 5000;
/** Points in memory: one hour. */
const KEPT = 720;

interface Point {
  readonly atS: number;
  readonly calls: number;
  readonly rate: number;
}

/** Points since the console was opened, for all visits of the page. */
let points: readonly Point[] = [];

const PAST_EVERY_MS = 60_000;
/** Periods that the Prometheus server of the settings covers. */
const PAST = [
  ['6h', t('6 hours, all nodes')],
  ['24h', t('24 hours, all nodes')],
  ['7d', t('7 days, all nodes')],
  ['30d', t('30 days, all nodes')],
] as const;

const isPast = (period: string): boolean => PAST.some(([name]) => name === period);

function recentCharts(seen: readonly Point[], minutes: number) {
  const from = Date.now() / 1000 - minutes * 60;
  const shown = seen.filter(({ atS }) => atS >= from);
  const times = shown.map(({ atS }) => atS);
  return {
    calls: { times, values: shown.map(({ calls }) => calls) },
    rate: { times, values: shown.map(({ rate }) => rate) },
  };
}

function pastCharts(found: Row | undefined) {
  const line = (name: string) => {
    const points = rows(found?.[name]);
    return {
      times: points.map((one) => number(one['at'])),
      values: points.map((one) => number(one['value'])),
    };
  };
  return { calls: line('calls'), rate: line('calls_per_second') };
}

export function Health() {
  const status = useLoad('status', () => get('/admin/v1/status'), EVERY_MS);
  const phones = useLoad('phones', () => get('/admin/v1/registrations'), EVERY_MS);
  const { problem, run } = useAction();
  const live = useLive();
  const [minutes, setMinutes] = useState('15');
  const [seen, setSeen] = useState(points);
  const state = status.value;
  useEffect(() => {
    if (state === undefined) return;
    const point = {
      atS: Date.now() / 1000,
      calls: live.total,
      rate: number(state['calls_per_second']),
    };
    points = [...points, point].slice(-KEPT);
    setSeen(points);
  }, [live.total, state]);
  const history = useLoad('history', () => get('/admin/v1/history'));
  const past = useLoad(
    `history ${minutes}`,
    (): Promise<Row> =>
      isPast(minutes) ? get(`/admin/v1/history?period=${minutes}`) : Promise.resolve({}),
    isPast(minutes) ? PAST_EVERY_MS : undefined,
  );
  const charts = isPast(minutes) ? pastCharts(past.value) : recentCharts(seen, Number(minutes));
  const isDraining = state?.['draining'] === true;
  const drain = async () => {
    const isSure = await confirmed({
      title: t('Drain this node?'),
      detail: t('It accepts no new calls until the service is restarted. Running calls continue.'),
      action: t('Drain node'),
    });
    if (isSure) await run(() => call('POST', '/admin/v1/drain').then(status.again));
  };
  const reload = () =>
    run(async () => {
      const done = await call('POST', '/admin/v1/reload');
      const changed = [done['changed']].flat().map(text).join(', ');
      const restart = [done['needs_restart']].flat().map(text).join(', ');
      toast(
        changed === '' && restart === ''
          ? t('No setting has changed.')
          : t('Reloaded: {changed}. Needs a restart: {restart}.', {
              changed: changed || t('none'),
              restart: restart || t('none'),
            }),
      );
    });
  return (
    <>
      <Head title={t('Health')} about={t('State and load of this node.')}>
        <Select
          label={t('Period')}
          value={minutes}
          set={setMinutes}
          options={[
            ['5', t('5 minutes')],
            ['15', t('15 minutes')],
            ['60', t('1 hour')],
            ...(history.value?.['available'] === true ? PAST : []),
          ]}
        />
        {may('change') && (
          <>
            <button type="button" class="btn" onClick={() => void reload()}>
              {t('Reload settings')}
            </button>
            <button
              type="button"
              class="btn danger"
              disabled={isDraining}
              onClick={() => void drain()}
            >
              {t('Drain node')}
            </button>
          </>
        )}
      </Head>
      <LoadProblem of={status} />
      <Problem text={problem} />
      {isPast(minutes) && <LoadProblem of={past} />}
      <Tiles
        of={[
          {
            name: t('Running calls'),
            value: count(live.total),
            note: t('of {n}', { n: count(state?.['calls_limit']) }),
          },
          {
            name: t('Calls per second'),
            value: state && number(state['calls_per_second']).toFixed(1),
          },
          { name: t('Registered phones'), value: count(state?.['registrations']) },
          { name: t('Up since'), value: state && <Ago value={state['started_at']} /> },
          { name: t('Version'), value: text(state?.['version']) },
          {
            name: t('New calls'),
            value: (
              <Badge tone={isDraining ? 'fair' : 'good'}>
                {isDraining ? t('Draining') : t('Accepted')}
              </Badge>
            ),
          },
        ]}
      />
      <div class="columns">
        <Card title={t('Running calls')} unit={t('calls')}>
          <Chart
            title={t('Running calls')}
            unit={t('calls')}
            times={charts.calls.times}
            series={[{ name: t('Running calls'), values: charts.calls.values }]}
          />
        </Card>
        <Card title={t('New calls')} unit={t('per second')}>
          <Chart
            title={t('New calls')}
            unit={t('per second')}
            times={charts.rate.times}
            series={[{ name: t('New calls'), values: charts.rate.values }]}
          />
        </Card>
      </div>
      <Card title={t('Parts')} flush>
        <Table
          name={t('Parts of the service')}
          rows={state && rows(state['parts'])}
          problem={status.problem}
          keyOf={(row) => text(row['part'])}
          empty={t('No parts.')}
          columns={[
            {
              title: t('Part'),
              value: (row) => text(row['part']),
              sort: (row) => text(row['part']),
            },
            {
              title: t('State'),
              value: (row) => (
                <Badge tone={row['ready'] === true ? 'good' : 'bad'}>
                  {row['ready'] === true ? t('Ready') : t('Not ready')}
                </Badge>
              ),
            },
            { title: t('Detail'), value: (row) => text(row['detail']) },
          ]}
        />
      </Card>
      <Figures />
      <Card title={t('Registered phones')} flush>
        <LoadProblem of={phones} />
        <Table
          name={t('Registered phones')}
          rows={phones.value && rows(phones.value['registrations']).slice(0, 200)}
          problem={phones.problem}
          keyOf={(row) => text(row['contact_uri'])}
          empty={t('No registered phones.')}
          columns={[
            {
              title: t('User'),
              value: (row) => text(row['username']),
              sort: (row) => text(row['username']),
            },
            {
              title: t('Address'),
              value: (row) => (
                <code>
                  {text(row['transport'])} {text(row['address'])}:{text(row['port'])}
                </code>
              ),
            },
            { title: t('Software'), value: (row) => text(row['user_agent']), isMinor: true },
            {
              title: t('Expires'),
              value: (row) => <Ago value={row['expires_at']} />,
              isMinor: true,
            },
          ]}
        />
      </Card>
      <p class="small muted">
        {t('All metrics for a monitoring system are at')} <a href="/metrics">/metrics</a>.
      </p>
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
      const reply = await send('/metrics');
      if (!reply.ok)
        throw new Error(t('Loading the metrics failed ({status}).', { status: reply.status }));
      setMetrics(readMetrics(await reply.text()));
    });
  return (
    <Card
      title={t('Metrics since the start')}
      actions={
        <button type="button" class="btn" onClick={() => void read()}>
          {metrics === undefined ? t('Show metrics') : t('Refresh')}
        </button>
      }
    >
      <Problem text={problem} />
      {metrics && <Shown metrics={metrics} />}
    </Card>
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
          { name: t('Calls started'), value: count(sumOf(metrics, 'voice_call_attempts_total')) },
          { name: t('Callbacks'), value: count(sumOf(metrics, 'voice_webhook_seconds_count')) },
          {
            name: t('Failed callbacks'),
            value: <Badge tone={failed === 0 ? 'good' : 'bad'}>{count(failed)}</Badge>,
          },
          {
            name: t('Calls refused due to overload'),
            value: count(sumOf(metrics, 'voice_calls_refused_total')),
          },
          { name: t('RTP packets'), value: count(sumOf(metrics, 'voice_rtp_packets_total')) },
          {
            name: t('RTP packets lost'),
            value: count(sumOf(metrics, 'voice_rtp_lost_packets_total')),
          },
          {
            name: t('CPU time'),
            value: `${Math.round(sumOf(metrics, 'process_cpu_seconds_total'))} s`,
          },
        ]}
      />
      <Table
        name={t('Threads')}
        rows={threadsOf(metrics)}
        empty={t('No threads.')}
        columns={[
          { title: t('Thread'), value: (row) => text(row['thread']) },
          { title: t('Busy'), value: (row) => `${text(row['busy'])} %`, isNumber: true },
          { title: t('Legs'), value: (row) => text(row['legs']), isNumber: true },
          { title: t('Late, p99'), value: (row) => text(row['late']), isNumber: true },
        ]}
      />
      <Table
        name={t('SIP responses')}
        rows={statuses.map(({ labels, value: count }) => ({ ...labels, count }))}
        empty={t('No SIP responses yet.')}
        columns={[
          { title: t('SIP response'), value: (row) => text(row['code']) },
          { title: t('Direction'), value: (row) => text(row['direction']) },
          { title: t('Count'), value: (row) => text(row['count']), isNumber: true },
        ]}
      />
    </>
  );
}
