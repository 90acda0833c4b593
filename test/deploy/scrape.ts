/** Metrics that the service exports. */
import { createMetrics } from '../../src/edge/metrics/metrics.ts';

/** Call for a scrape in which every event has occurred once. */
const CALL = '7f0cf0f6-0f4b-4f0e-8f57-000000000001';

export async function scrape(): Promise<string> {
  const metrics = createMetrics();
  metrics.connect({
    version: '0.0.0',
    conditions: () => ({ store: false }),
    epoch: () => 1,
    nodes: () => 1,
    offloadWaiting: () => 0,
    descriptors: () => ({ open: 1, limit: 2 }),
    carriers: () => [{ name: 'main', reachable: true }],
    alarms: () => ({ disk: 0 }),
    disk: () => ({ freeBytes: 1, totalBytes: 2 }),
    certificates: () => [{ setting: 'http.tlsCertFile', endsMs: 1000 }],
    media: () => ({
      packetsReceived: 1,
      packetsSent: 1,
      packetsLost: 0,
      unknownSources: 0,
      malformed: 0,
      sourceChanges: 0,
      unknownHandles: 0,
      droppedEvents: 0,
      threads: [{ busy: 0.1, legs: 1, tickLateMs: 1, skippedTicks: 0 }],
    }),
    signalling: () => ({
      messages: [
        { direction: 'in', transport: 'udp', method: 'INVITE', code: '', count: 1 },
        { direction: 'out', transport: 'udp', method: '', code: '200', count: 1 },
      ],
      carrierMessages: [{ carrier: 'north', direction: 'in', method: 'BYE', code: '', count: 1 }],
      discarded: 0,
      dropped: { budget: 1 },
      authFailures: 0,
      connections: {},
      failedHandshakes: 0,
    }),
  });
  metrics.callAttempted('outbound', 'answered');
  metrics.callAnswered('outbound', 1000, CALL);
  metrics.callEnded('outbound', {
    callUuid: CALL,
    durationMs: 1000,
    quality: { mos: 4, jitterMs: 1, isOneWay: false },
  });
  metrics.charged('call', 'USD', 1);
  metrics.webhook('answer', '200', 10);
  return (await metrics.scrape()).text;
}

/** Maps each exported metric name to its label names. */
export function exposed(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const names = found.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) names.add(label);
    found.set(name, names);
  }
  return found;
}

export const metricNames = (text: string): ReadonlySet<string> => new Set(exposed(text).keys());
