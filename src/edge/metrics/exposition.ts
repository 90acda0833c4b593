/**
 * Writes metrics in the Prometheus text format or in OpenMetrics. OpenMetrics adds exemplars: each histogram bucket names the
 * last call in it, so that a dashboard links an outlier to its call and trace.
 */
import {
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type OpenMetricsContentType,
  Registry,
} from 'prom-client';

/** Media type that an OpenMetrics scraper accepts (OpenMetrics 1.0, "Content negotiation"). */
const OPEN_METRICS = 'application/openmetrics-text';

export interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

export class Exposition {
  /** All metrics. */
  readonly registry = new Registry();
  /** A second registry, because the library keeps exemplars only for registries of the OpenMetrics format. */
  readonly #withExemplars = new Registry<OpenMetricsContentType>();

  constructor() {
    this.#withExemplars.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  }

  /** Creates a histogram whose observations may name their call. */
  histogram<Label extends string>(
    config: Omit<HistogramConfiguration<Label>, 'registers' | 'enableExemplars'>,
  ): Histogram<Label> {
    const made = new Histogram({
      ...config,
      enableExemplars: true,
      registers: [this.#withExemplars],
    });
    this.registry.registerMetric(made);
    return made;
  }

  /** Renders all metrics. `accept` is the request header that selects the format. */
  async scrape(accept: string): Promise<Scrape> {
    const text = await this.registry.metrics();
    if (!accept.includes(OPEN_METRICS)) return { contentType: this.registry.contentType, text };
    const { contentType } = this.#withExemplars;
    return { contentType, text: await this.#asOpenMetrics(text) };
  }

  /** Converts families, which an empty line separates. A counter's family name lacks `_total`; its sample names have it. */
  async #asOpenMetrics(text: string): Promise<string> {
    const families = text.trimEnd().split('\n\n');
    const written = await Promise.all(
      families.map((family) => {
        const name = /^# HELP (\S+)/.exec(family)?.[1] ?? '';
        const own = this.#withExemplars.getSingleMetric(name);
        if (own !== undefined) return this.#withExemplars.getSingleMetricAsString(name);
        return family.replaceAll(/^(# (?:HELP|TYPE) \S+)_total /gm, '$1 ');
      }),
    );
    return `${written.join('\n')}\n# EOF\n`;
  }
}

/** Adds an observation that names its call. The trace ID is the call UUID without dashes. */
export function observeCall<Label extends string>(
  histogram: Histogram<Label>,
  of: { readonly value: number; readonly labels: LabelValues<Label>; readonly callUuid: string },
): void {
  const { value, labels, callUuid } = of;
  if (latest.call_uuid !== callUuid)
    latest = { call_uuid: callUuid, trace_id: callUuid.replaceAll('-', '') };
  // The library's types confuse the histogram's labels with those of the exemplar.
  histogram.observe({ labels, value, exemplarLabels: latest as LabelValues<Label> });
}

/** Exemplar of the latest call, reused because an ended call adds all its observations together. */
let latest = { call_uuid: '', trace_id: '' };
