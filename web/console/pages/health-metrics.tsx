import { useState } from 'preact/hooks';
import { type Row, send, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction } from '../hooks.ts';
import { type Metric, readMetrics, sumOf } from '../metrics.ts';
import { t } from '../text.ts';
import { Badge, Card, Problem, Tiles } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';

/**
 * Selected metrics. Loaded on request only, because some of them cover the time since they were last read.
 */
export function Figures() {
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

const hasFailed = ({ code = '' }: Metric['labels']): boolean => !code.startsWith('2');

function Shown({ metrics }: { readonly metrics: readonly Metric[] }) {
  const failed = sumOf(metrics, 'voice_webhook_seconds_count', hasFailed);
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
