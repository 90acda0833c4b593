/** Charts of values over time. Each chart has one unit; its table is for screen readers. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { dateTime, dayMonth, hourMinute, timeOfDay } from '../format.ts';

interface Series {
  readonly name: string;
  readonly values: ReadonlyArray<number | null>;
}

interface ChartProps {
  readonly title: string;
  /** Unit of all values, for example "ms" or "calls per minute". */
  readonly unit: string;
  /** Times in seconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly isBars?: boolean;
  /** Range of the value axis. Default: from 0 to the highest value. */
  readonly range?: readonly [number, number];
  readonly height?: number;
}

const DAY_S = 86_400;
const MINUTE_S = 60;
const ROWS_MAX = 60;

const colorOf = (place: HTMLElement, at: number): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(--chart-${(at % 4) + 1})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

const withAlpha = (color: string, alpha: number): string =>
  color.replace(/^rgb\((.+)\)$/, `rgb($1 / ${alpha})`).replaceAll(',', ' ');

const labelsOf = (splits: readonly number[]): string[] => {
  const span = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const format = span > 2 * DAY_S ? dayMonth : span > 600 ? hourMinute : timeOfDay;
  return splits.map((seconds) => format(seconds * 1000));
};

const compact = new Intl.NumberFormat(undefined, {
  notation: 'compact',
  maximumSignificantDigits: 3,
});

/** Returns the lines or bars of the chart. `place` has its colours. */
function seriesOf(place: HTMLElement, props: ChartProps): uPlot.Series[] {
  const { times, series, isBars = false } = props;
  const bars = isBars ? uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 }) : undefined;
  const lines = uPlot.paths.spline?.();
  return series.map(({ name }, at) => {
    const stroke = colorOf(place, at);
    return {
      label: name,
      stroke,
      width: 2,
      points: { show: !isBars && times.length < 3 },
      ...(bars && { paths: bars, fill: withAlpha(stroke, 0.75), width: 0 }),
      ...(!bars && lines && { paths: lines }),
      ...(!bars && series.length === 1 && { fill: withAlpha(stroke, 0.1) }),
    };
  });
}

/** Draws the chart in `place`. */
function plotIn(place: HTMLElement, height: number, props: ChartProps): uPlot {
  const { times, series, isBars = false, range } = props;
  const { color } = getComputedStyle(place);
  const axis = {
    stroke: color,
    font: '11px system-ui, sans-serif',
    grid: { stroke: withAlpha(color, 0.18), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: place.clientWidth || 300,
      height,
      padding: [null, 18, null, null],
      axes: [
        { ...axis, space: 90, values: (_plot, splits) => labelsOf(splits) },
        {
          ...axis,
          size: 48,
          values: (_plot, splits) => splits.map((one) => compact.format(one)),
        },
      ],
      legend: { show: series.length > 1, live: false },
      cursor: { y: false },
      scales: {
        x: { range: (one) => spanOf(one.data[0], isBars) },
        y: { range: range ? [...range] : (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      series: [{}, ...seriesOf(place, props)],
    },
    dataOf(times, series),
    place,
  );
}

export function Chart(props: ChartProps) {
  const { title, unit, times, series, isBars = false, range, height = 170 } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const names = series.map(({ name }) => name).join();
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const made = plotIn(current, height, props);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height }));
    watch.observe(current);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [names, isBars, height, range?.join()]);
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);
  return (
    <figure>
      <div
        class="chart"
        ref={place}
        role="img"
        aria-label={`${title}, ${unit}: ${series.map(({ name, values }) => `${name} ${values.at(-1) ?? ''}`).join(', ')}`}
      />
      <ValueTable {...props} />
    </figure>
  );
}

/** Latest values of the chart, for screen readers. */
function ValueTable({ title, unit, times, series }: ChartProps) {
  const rows = times.map((time, at) => ({ time, at })).slice(-ROWS_MAX);
  return (
    <div class="sr">
      <table>
        <caption>
          {title}, {unit}
        </caption>
        <tbody>
          {rows.map(({ time, at }) => (
            <tr key={at}>
              <th scope="row">{dateTime(time * 1000)}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{values[at]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const dataOf = (times: readonly number[], series: readonly Series[]): uPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
];

/** Returns the range of the time axis. Bars get a margin; lines span at least a minute. */
function spanOf(times: ArrayLike<number>, isBars: boolean): [number, number] {
  const [low = 0, high = 0] = [times[0], times[times.length - 1]];
  if (low === high && !isBars) return [low - MINUTE_S / 2, low + MINUTE_S / 2];
  if (!isBars) return [low, high];
  const step = times.length > 1 ? (high - low) / (times.length - 1) : DAY_S;
  return [low - step / 2, high + step / 2];
}
