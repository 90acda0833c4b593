import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

interface ChartProps {
  readonly label: string;
  /** Times in seconds since the epoch, and a list of values for each series. */
  readonly times: readonly number[];
  readonly series: ReadonlyArray<{ readonly name: string; readonly values: readonly number[] }>;
  readonly isBars?: boolean;
  /** True for complete data: the axis then runs from the first to the last value. */
  readonly isOver?: boolean;
}

const COLOURS = ['#2f6feb', '#17803d', '#b45309', '#a3231f'];
const HEIGHT = 180;

export function Chart({ label, times, series, isBars = false, isOver = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const names = series.map(({ name }) => name).join();
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const colour = getComputedStyle(current).color;
    const axis = {
      stroke: colour,
      grid: { stroke: '#8884', width: 1 },
      ticks: { stroke: '#8884' },
    };
    const paths = isBars ? uPlot.paths.bars?.({ size: [0.7, 60] }) : undefined;
    const made = new uPlot(
      {
        width: current.clientWidth || 300,
        height: HEIGHT,
        axes: [
          { ...axis, space: 80, values: (_plot, splits) => splits.map(isBars ? dayOf : timeOf) },
          { ...axis, size: 60 },
        ],
        legend: { show: series.length > 1, live: false },
        scales: {
          x: { range: (plot) => spanOf(plot.data[0], isBars, isOver) },
          y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
        },
        series: [
          {},
          ...series.map(({ name }, at) => ({
            label: name,
            stroke: COLOURS[at % COLOURS.length] ?? colour,
            width: 2,
            ...(isBars && paths && { paths, fill: `${COLOURS[at % COLOURS.length]}66` }),
          })),
        ],
      },
      [[...times], ...series.map(({ values }) => [...values])],
      current,
    );
    plot.current = made;
    const watch = new ResizeObserver(() =>
      made.setSize({ width: current.clientWidth, height: HEIGHT }),
    );
    watch.observe(current);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [names, isBars, isOver]);
  useEffect(() => {
    plot.current?.setData([[...times], ...series.map(({ values }) => [...values])]);
  }, [times, series]);
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

/** Formats a date in the locale of the browser. */
const dayOf = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
const timeOf = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString();

const DAY_S = 86_400;
const WEEK_S = 7 * DAY_S;
const MINUTE_S = 60;

/** Returns the range of the time axis. Bars (days) span at least a week with margins; growing lines at least a minute. */
function spanOf(times: ArrayLike<number>, isBars: boolean, isOver: boolean): [number, number] {
  const [low = 0, high = 0] = [times[0], times[times.length - 1]];
  if (isBars) return [Math.min(low, high - WEEK_S) - DAY_S / 2, high + DAY_S / 2];
  if (isOver) return [low, Math.max(high, low + 1)];
  return [Math.min(low, high - MINUTE_S), high];
}
