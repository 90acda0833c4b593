import { createHistogram } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/edge/metrics/metrics.ts';

const CALL = '7f0cf0f6-0f4b-4f0e-8f57-000000000001';

describe('metrics', () => {
  it('reads gauges from their sources at the scrape', async () => {
    const metrics = createMetrics({ process: false });
    let inbound = 1;
    metrics.connect({
      callsActive: () => ({ inbound, outbound: 3 }),
      capacity: () => ({ used: 4, limit: 100 }),
    });
    inbound = 2;
    const { text, contentType } = await metrics.scrape();
    expect(contentType).toContain('text/plain');
    expect(text).toContain('voice_calls_active{direction="inbound"} 2');
    expect(text).toContain('voice_calls_active{direction="outbound"} 3');
    expect(text).toContain('voice_capacity_used 4');
    expect(text).toContain('voice_capacity_limit 100');
  });

  it('reports the event loop delay since the previous scrape, without the sampling period', async () => {
    const metrics = createMetrics();
    const lateNs = createHistogram();
    metrics.connect({
      overload: () => ({
        overloaded: false,
        callsPerSecond: undefined,
        refused: 0,
        utilisation: 0,
        lateNs,
      }),
    });
    for (let i = 0; i < 100; i += 1) lateNs.record(2_000_000);
    lateNs.record(300_000_000);
    const lag = (text: string, part: string): number =>
      Number(new RegExp(`^nodejs_eventloop_lag_${part}_seconds (\\S+)`, 'm').exec(text)?.[1]);
    const { text } = await metrics.scrape();
    expect(lag(text, 'p50')).toBeCloseTo(0.002, 4);
    expect(lag(text, 'max')).toBeCloseTo(0.3, 2);
    const { text: next } = await metrics.scrape();
    expect([lag(next, 'p50'), lag(next, 'max')]).toEqual([0, 0]);
  });

  it('reads the media engine once per scrape, because reading starts its next interval', async () => {
    const metrics = createMetrics({ process: false });
    let reads = 0;
    metrics.connect({
      media: () => {
        reads += 1;
        return {
          packetsReceived: 10,
          packetsSent: 20,
          packetsLost: 1,
          unknownSources: 7,
          malformed: 5,
          sourceChanges: 3,
          unknownHandles: 4,
          droppedEvents: 6,
          threads: [
            { busy: 0.25, legs: 12, tickLateMs: 2, skippedTicks: 0 },
            { busy: 0.5, legs: 20, tickLateMs: 3, skippedTicks: 7 },
          ],
        };
      },
    });
    const { text } = await metrics.scrape();
    expect(reads).toBe(1);
    expect(text).toContain('voice_rtp_packets_total{direction="out"} 20');
    expect(text).toContain('voice_rtp_lost_packets_total 1');
    expect(text).toContain('voice_rtp_unknown_source_packets_total 7');
    expect(text).toContain('voice_rtp_malformed_packets_total 5');
    expect(text).toContain('voice_rtp_source_changes_total 3');
    expect(text).toContain('voice_media_unknown_handles_total 4');
    expect(text).toContain('voice_media_dropped_events_total 6');
    expect(text).toContain('voice_media_tick_late_seconds{thread="0"} 0.002');
    expect(text).toContain('voice_media_thread_busy_ratio{thread="1"} 0.5');
    expect(text).toContain('voice_media_thread_legs{thread="1"} 20');
    expect(text).toContain('voice_media_skipped_ticks_total{thread="1"} 7');
    await metrics.scrape();
    const second = await metrics.scrape();
    expect(second.text).toContain('voice_rtp_packets_total{direction="out"} 20');
  });

  it('counts calls, their quality and callbacks in base units', async () => {
    const metrics = createMetrics({ process: false });
    metrics.callAttempted('outbound', 'answered');
    metrics.callAnswered('outbound', 400, CALL);
    metrics.callEnded('outbound', {
      callUuid: CALL,
      durationMs: 61_000,
      quality: { mos: 4.3, jitterMs: 3, isOneWay: true },
    });
    metrics.webhook('StartApp', '200', 70);
    const { text } = await metrics.scrape();
    expect(text).toContain('voice_call_attempts_total{direction="outbound",result="answered"} 1');
    expect(text).toContain('voice_call_duration_seconds_sum{direction="outbound"} 61');
    expect(text).toContain('voice_rtp_jitter_seconds_sum 0.003');
    expect(text).toContain('voice_calls_one_way_total{direction="outbound"} 1');
    expect(text).toContain('voice_webhook_seconds_count{event="StartApp",code="200"} 1');
  });

  it('counts unregistered statuses of customers by their class', async () => {
    const metrics = createMetrics({ process: false });
    for (let status = 100; status < 1000; status += 1)
      metrics.webhook('Hangup', String(status), 70);
    metrics.webhook('Hangup', 'error', 70);
    const { text } = await metrics.scrape();
    const counts = text.match(/^voice_webhook_seconds_count.*$/gm) ?? [];
    expect(counts.length).toBeLessThan(80);
    for (const code of ['200', '503', '2xx', '9xx', 'error'])
      expect(counts.some((line) => line.includes(`code="${code}"`))).toBe(true);
  });

  it('names the last call of each bucket in OpenMetrics', async () => {
    const metrics = createMetrics();
    metrics.callAttempted('outbound', 'answered');
    metrics.callAnswered('outbound', 400, CALL);
    const plain = await metrics.scrape('text/plain;version=0.0.4');
    expect(plain.contentType).toContain('text/plain');
    expect(plain.text).not.toContain(CALL);
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5';
    const { contentType, text } = await metrics.scrape(accept);
    expect(contentType).toContain('application/openmetrics-text');
    expect(text).toMatch(
      /^voice_call_setup_seconds_bucket\{le="0.5",direction="outbound"\} 1 # \{call_uuid="7f0c[^"]*",trace_id="7f0c[0-9a-f]{28}"\} 0\.4 [\d.]+$/m,
    );
    expect(text).toContain('# TYPE voice_call_attempts counter\n');
    expect(text).toContain('voice_call_attempts_total{direction="outbound",result="answered"} 1');
    // OpenMetrics separates families without empty lines and requires an end marker.
    expect(text).not.toContain('\n\n');
    expect(text.endsWith('\n# EOF\n')).toBe(true);
    // Both formats have the same samples.
    const samples = (whole: string): readonly string[] =>
      [...whole.matchAll(/^(voice_\w+(?:\{[^}]*\})?) /gm)].map(([, name = '']) => name).sort();
    expect(samples(text)).toEqual(samples(plain.text));
  });

  it('bounds the number of series for label values from the network', async () => {
    const metrics = createMetrics({ process: false });
    for (let i = 0; i < 500; i += 1) metrics.callAttempted('inbound', `CAUSE_${i}`);
    const { text } = await metrics.scrape();
    const series = text.split('\n').filter((line) => line.startsWith('voice_call_attempts_total{'));
    expect(series.length).toBe(65);
    expect(text).toContain('voice_call_attempts_total{direction="inbound",result="other"} 436');
  });

  it('reads the SIP totals from the listeners at the scrape', async () => {
    const metrics = createMetrics({ process: false });
    const messages = [
      { direction: 'in', transport: 'udp', method: 'INVITE', code: '', count: 3 },
      { direction: 'out', transport: 'tls', method: '', code: '401', count: 2 },
    ] as const;
    let discarded = 4;
    metrics.connect({
      trunkMessages: () => [
        { peer: 'pbx', direction: 'out', method: 'INVITE', code: '', count: 8 },
      ],
      signalling: () => ({
        messages,
        carrierMessages: [{ carrier: 'north', direction: 'in', method: '', code: '486', count: 7 }],
        discarded,
        dropped: { source: 5, queue: 0 },
        authFailures: 1,
        connections: { tls: 5 },
        failedHandshakes: 1,
      }),
    });
    await metrics.scrape();
    discarded = 6;
    const { text } = await metrics.scrape();
    expect(text).toContain(
      'voice_sip_messages_total{direction="in",transport="udp",method="INVITE",code=""} 3',
    );
    expect(text).toContain(
      'voice_sip_messages_total{direction="out",transport="tls",method="",code="401"} 2',
    );
    expect(text).toContain(
      'voice_sip_carrier_messages_total{direction="in",method="",code="486",carrier="north"} 7',
    );
    expect(text).toContain(
      'voice_sip_trunk_messages_total{direction="out",method="INVITE",code="",trunk="pbx"} 8',
    );
    expect(text).toContain('voice_sip_discarded_total 6');
    expect(text).toContain('voice_sip_auth_failures_total 1');
    expect(text).toContain('voice_sip_dropped_total{reason="source"} 5');
    expect(text).toContain('voice_sip_connections{transport="tls"} 5');
  });
});
