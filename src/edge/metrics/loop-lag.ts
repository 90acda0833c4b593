/** How late the event loop was, under the names of prom-client. */
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

/** In the place of prom-client's own; each scrape tells what was since the one before. */
export function defineLoopLag(
  registry: Registry,
  late: () => RecordableHistogram | undefined,
): void {
  for (const [index, [part, read]] of PARTS.entries()) {
    const name = `nodejs_eventloop_lag_${part}_seconds`;
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help: `How late the event loop was with what was due (${part}), since the last scrape`,
      registers: [registry],
      collect() {
        const known = late();
        this.set(known === undefined || known.count === 0 ? 0 : read(known) / NS_PER_S);
        // They are read in the order in which they were made.
        if (index === PARTS.length - 1) known?.reset();
      },
    });
  }
}
