/** Parses the subset of the Prometheus text format that the service writes. */
export interface Metric {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)/i;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function readMetrics(page: string): readonly Metric[] {
  const found: Metric[] = [];
  for (const line of page.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(LABEL)].map(
      ([, key = '', text = '']) => [key, text] as const,
    );
    found.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return found;
}

export const sumOf = (
  metrics: readonly Metric[],
  name: string,
  fits: (labels: Metric['labels']) => boolean = () => true,
): number =>
  metrics
    .filter((metric) => metric.name === name && fits(metric.labels))
    .reduce((sum, { value }) => sum + value, 0);
