/** Sends spans to a collector by OTLP over HTTP with JSON (OpenTelemetry protocol 1.x, `POST <url>/v1/traces`). */
import type { Logger } from '../../base/logger.ts';

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  /** Start time, µs UTC. */
  readonly startUs: number;
  readonly endUs: number;
  readonly attributes: Attributes;
  readonly error?: string | undefined;
  readonly events?: readonly {
    readonly name: string;
    readonly atUs: number;
    readonly attributes: Attributes;
  }[];
}

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface OtlpOptions {
  /** Base URL of the collector, e.g. `http://127.0.0.1:4318`. */
  readonly url: string;
  /** Additional headers as `Name=value`, e.g. a token. */
  readonly headers: readonly string[];
  readonly service: Attributes;
  readonly logger: Logger;
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const FLUSH_MS = 1000;
const BATCH = 500;
/** Maximum number of spans that wait while the collector is unavailable. Further spans are dropped and counted. */
const MAX_WAITING = 10_000;
const LIMIT_MS = 10_000;

export class OtlpExporter {
  readonly #options: OtlpOptions;
  readonly #headers: Readonly<Record<string, string>>;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #dropped = 0;
  #isFailing = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#headers = Object.fromEntries(
      options.headers.map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      }),
    );
  }

  /** Number of spans that were never delivered. */
  get dropped(): number {
    return this.#dropped;
  }

  add(spans: readonly Span[]): void {
    const room = MAX_WAITING - this.#waiting.length;
    this.#waiting.push(...spans.slice(0, Math.max(0, room)));
    this.#dropped += Math.max(0, spans.length - room);
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS).unref();
  }

  /** Sends the remaining spans once. */
  async stop(): Promise<void> {
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      this.#sending = this.#sending.then(() => this.#send(batch));
    }
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { url, service, logger } = this.#options;
    try {
      const reply = await fetch(`${url.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...this.#headers, 'content-type': 'application/json' },
        body: JSON.stringify(document(service, spans)),
        redirect: 'error',
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      await reply.body?.cancel();
      if (!reply.ok) throw new Error(`the collector responded with status ${reply.status}`);
      if (this.#isFailing) logger.info({}, 'trace export recovered');
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += spans.length;
      // Logs only the first failure, so that an unavailable collector does not flood the log.
      if (!this.#isFailing) logger.warn({ error: String(error) }, 'trace export failed');
      this.#isFailing = true;
    }
  }
}

const document = (service: Attributes, spans: readonly Span[]) => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(service) },
      scopeSpans: [{ scope: { name: 'carillon' }, spans: spans.map(written) }],
    },
  ],
});

const written = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nano(span.startUs),
  endTimeUnixNano: nano(Math.max(span.startUs, span.endUs)),
  attributes: attributes(span.attributes),
  events: (span.events ?? []).map((event) => ({
    name: event.name,
    timeUnixNano: nano(event.atUs),
    attributes: attributes(event.attributes),
  })),
  status: span.error === undefined ? { code: 0 } : { code: 2, message: span.error },
});

const nano = (us: number): string => `${Math.round(us)}000`;

const attributes = (of: Attributes) =>
  Object.entries(of).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );

function anyValue(value: string | number | boolean) {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
