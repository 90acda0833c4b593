/**
 * Metrics as text: in Prometheus' own format, or in OpenMetrics, which has exemplars: beside a bucket of a histogram the
 * last call that fell into it, so that a dashboard leads from an outlier to its call and its trace.
 */
import {
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type OpenMetricsContentType,
  Registry,
} from 'prom-client';

/** What a scraper that understands it asks for (OpenMetrics 1.0, «Content negotiation»). */
const OPEN_METRICS = 'application/openmetrics-text';

export interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

export class Exposition {
  /** Of everything. */
  readonly registry = new Registry();
  /** The library keeps exemplars for registries of their format alone. */
  readonly #withExemplars = new Registry<OpenMetricsContentType>();

  constructor() {
    this.#withExemplars.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  }

  /** One whose observations may name their call. */
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

  /** `accept`: header of the request. */
  async scrape(accept: string): Promise<Scrape> {
    const text = await this.registry.metrics();
    if (!accept.includes(OPEN_METRICS)) return { contentType: this.registry.contentType, text };
    const { contentType } = this.#withExemplars;
    return { contentType, text: await this.#asOpenMetrics(text) };
  }

  /** Families stand apart by an empty line; a counter's is named without `_total`, its samples with it. */
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

/** An observation that names its call; the trace of a call has the same id without dashes. */
export function observeCall<Label extends string>(
  histogram: Histogram<Label>,
  of: { readonly value: number; readonly labels: LabelValues<Label>; readonly callUuid: string },
): void {
  const { value, labels, callUuid } = of;
  if (latest.call_uuid !== callUuid)
    latest = { call_uuid: callUuid, trace_id: callUuid.replaceAll('-', '') };
  // The library's types take the histogram's own labels for those of the exemplar.
  histogram.observe({ labels, value, exemplarLabels: latest as LabelValues<Label> });
}

/** What an ended call adds comes all at once. */
let latest = { call_uuid: '', trace_id: '' };
