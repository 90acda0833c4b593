/** Quality of a call over time. MOS, jitter and loss have separate axes. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { get, number, type Row, rows, text } from '../api.ts';
import { useLoad } from '../hooks.ts';
import { t } from '../text.ts';
import { Chart } from '../ui/chart.tsx';
import { Card, Mos } from '../ui/parts.tsx';

const MOS_RANGE = [1, 5] as const;

const orNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** Quality of the received audio over time, and of the sent audio as reported by the peer. */
export function Curves({ path }: { readonly path: string }) {
  const { value } = useLoad(path, () => get(path));
  const samples = useMemo(() => rows(value?.['samples']), [value]);
  const times = useMemo(() => samples.map(({ at }) => Date.parse(text(at)) / 1000), [samples]);
  const charts = useMemo(() => {
    const of = (name: string, title: string) => ({
      name: title,
      values: samples.map((sample) => orNull(sample[name])),
    });
    const isReported = samples.some(({ mos_sent: sent }) => typeof sent === 'number');
    return {
      mos: [
        of('mos', t('Received')),
        ...(isReported ? [of('mos_sent', t('Sent, reported by the peer'))] : []),
      ],
      jitter: [of('jitter', t('Jitter'))],
      loss: [of('packet_loss', t('Packet loss'))],
    };
  }, [samples]);
  if (samples.length < 2) return null;
  return (
    <Card title={t('Quality')}>
      <div class="columns three">
        <div>
          <ChartTitle title={t('MOS')} unit={t('1 to 5')} />
          <Chart
            title={t('MOS')}
            unit={t('1 to 5')}
            times={times}
            series={charts.mos}
            range={MOS_RANGE}
          />
        </div>
        <div>
          <ChartTitle title={t('Jitter')} unit="ms" />
          <Chart title={t('Jitter')} unit="ms" times={times} series={charts.jitter} />
        </div>
        <div>
          <ChartTitle title={t('Packet loss')} unit="%" />
          <Chart title={t('Packet loss')} unit="%" times={times} series={charts.loss} />
        </div>
      </div>
    </Card>
  );
}

const ChartTitle = ({ title, unit }: { readonly title: string; readonly unit: string }) => (
  <h3 class="chart-head">
    {title} <span class="unit">{unit}</span>
  </h3>
);

const KEPT = 600;

/** MOS and jitter of an active call, updated every second while the page is open. */
export function LiveQuality({ path }: { readonly path: string }) {
  const [seen, setSeen] = useState<readonly Row[]>([]);
  useEffect(() => {
    const read = () =>
      get(path).then(
        (found) =>
          setSeen((before) => [...before, { ...found, at: Date.now() / 1000 }].slice(-KEPT)),
        () => undefined,
      );
    const timer = setInterval(() => void read(), 1000);
    return () => clearInterval(timer);
  }, [path]);
  const times = useMemo(() => seen.map(({ at }) => number(at)), [seen]);
  const mos = useMemo(
    () => [{ name: t('MOS'), values: seen.map((one) => orNull(one['mos'])) }],
    [seen],
  );
  const jitter = useMemo(
    () => [{ name: t('Jitter'), values: seen.map((one) => orNull(one['jitter_ms'])) }],
    [seen],
  );
  const last = seen.at(-1);
  if (last === undefined) return null;
  return (
    <>
      <p class="small">
        {t('MOS')} <Mos value={last['mos']} /> ·{' '}
        {t('jitter {ms} ms', { ms: text(last['jitter_ms']) })} ·{' '}
        {t('{lost} of {all} packets lost', {
          lost: text(last['packets_lost']),
          all: text(last['packets_received']),
        })}
      </p>
      <div class="columns">
        <div>
          <ChartTitle title={t('MOS')} unit={t('1 to 5')} />
          <Chart
            title={t('MOS of the active call')}
            unit={t('1 to 5')}
            times={times}
            series={mos}
            range={MOS_RANGE}
          />
        </div>
        <div>
          <ChartTitle title={t('Jitter')} unit="ms" />
          <Chart title={t('Jitter of the active call')} unit="ms" times={times} series={jitter} />
        </div>
      </div>
    </>
  );
}
