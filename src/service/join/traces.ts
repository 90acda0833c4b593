import { hostname } from 'node:os';
import { OtlpExporter } from '../../edge/telemetry/otlp.ts';
import { CallTraces } from '../call-traces.ts';
import type { Basics } from './foundation.ts';
import type { Lines } from './lines.ts';

/** Composes the trace export of calls. Undefined if no collector is configured. */
export function joinTraces(
  { settings: { telemetry }, clock, logger }: Basics,
  { logs, traces }: Pick<Lines, 'logs' | 'traces'>,
  version: string,
): CallTraces | undefined {
  if (telemetry.tracesUrl === '') return undefined;
  return new CallTraces({
    exporter: new OtlpExporter({
      url: telemetry.tracesUrl,
      headers: telemetry.headers,
      service: { 'service.name': 'carillon', 'service.version': version, 'host.name': hostname() },
      logger,
    }),
    timelineOf: (callUuid) => logs.get(callUuid)?.entries() ?? [],
    messagesOf: (callUuid) => traces.of(callUuid),
    clock,
  });
}
