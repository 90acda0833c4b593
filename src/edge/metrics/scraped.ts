/** Metrics without events: their value is read at each scrape. */
import { Counter, Gauge, type LabelValues, type Registry } from 'prom-client';

interface Scraped<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** A value and its labels. */
type Sample<Label extends string> = readonly [labels: LabelValues<Label>, value: number];

/** Registers a counter of a total that is counted elsewhere and never decreases. */
export function scrapedTotal(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number | undefined,
): void {
  new Counter({
    name,
    help,
    registers,
    collect() {
      this.reset();
      this.inc(read() ?? 0);
    },
  });
}

/** Registers a counter of totals with labels. */
export function scrapedTotals<Label extends string>(
  registers: Registry[],
  metric: Scraped<Label>,
  read: () => Iterable<Sample<Label>>,
): void {
  new Counter({ ...configurationOf(registers, metric), collect: filledFrom(read) });
}

/** Registers a gauge. */
export function scrapedGauge(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number,
): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}

/** Registers a gauge with labels. Values that are no longer read disappear. */
export function scrapedGauges<Label extends string>(
  registers: Registry[],
  metric: Scraped<Label>,
  read: () => Iterable<Sample<Label>>,
): void {
  new Gauge({ ...configurationOf(registers, metric), collect: filledFrom(read) });
}

const configurationOf = <Label extends string>(
  registers: Registry[],
  { name, help, labels }: Scraped<Label>,
) => ({ name, help, labelNames: labels, registers });

/** Replaces the values of a metric by those read. */
const filledFrom = <Label extends string>(read: () => Iterable<Sample<Label>>) =>
  function (this: Counter<Label> | Gauge<Label>): void {
    this.reset();
    for (const [labels, value] of read()) this.inc(labels, value);
  };
