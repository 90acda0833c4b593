/** Event loop delay under the metric names of prom-client. */
import type { RecordableHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

const NS_PER_S = 1e9;
type Read = (late: RecordableHistogram) => number;
const PARTS: readonly (readonly [string, Read])[] = [
  ['min', ({ min }) => min],
  ['mean', ({ mean }) => mean],
  ['stddev', ({ stddev }) => stddev],
  ['p50', (late) => late.percentile(50)],
  ['p90', (late) => late.percentile(90)],
  ['p99', (late) => late.percentile(99)],
  ['max', ({ max }) => max],
];

/** Replaces prom-client's gauges. Each scrape reports the delay since the previous scrape. */
export function defineLoopLag(
  registry: Registry,
  late: () => RecordableHistogram | undefined,
): void {
  for (const [index, [part, read]] of PARTS.entries()) {
    const name = `nodejs_eventloop_lag_${part}_seconds`;
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help: `Event loop delay (${part}) since the last scrape`,
      registers: [registry],
      collect() {
        const known = late();
        this.set(known === undefined || known.count === 0 ? 0 : read(known) / NS_PER_S);
        // Gauges are collected in order of creation, so the last one resets the histogram.
        if (index === PARTS.length - 1) known?.reset();
      },
    });
  }
}
