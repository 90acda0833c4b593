import type { Registry } from 'prom-client';
import { secondsOf } from '../../base/duration.ts';
import { scrapedGauges, scrapedTotal, scrapedTotals } from './scraped.ts';

/** Totals since the start of the media engine. */
export interface MediaTotals {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  /** Packets from addresses other than the peer's. */
  readonly unknownSources: number;
  /** Datagrams at media ports that were not RTP or RTCP. */
  readonly malformed: number;
  readonly sourceChanges: number;
  readonly unknownHandles: number;
  /** Events and audio for bots lost because the service read them too late. */
  readonly droppedEvents: number;
  /** State of each media thread. */
  readonly threads: readonly {
    /** Share of the last second in which the thread was busy. */
    readonly busy: number;
    readonly legs: number;
    /** 99th percentile of tick lateness over the last 10 to 20 s, ms. */
    readonly tickLateMs: number;
    /** Number of skipped ticks. */
    readonly skippedTicks: number;
  }[];
}

export function defineMediaThreads(
  registers: Registry[],
  media: () => MediaTotals | undefined,
): void {
  type Thread = MediaTotals['threads'][number];
  const labels = ['thread'] as const;
  const byThread = (read: (thread: Thread) => number) => () =>
    (media()?.threads ?? []).map((thread, index) => [{ thread: index }, read(thread)] as const);
  const gauge = (name: string, help: string, read: (thread: Thread) => number): void =>
    scrapedGauges(registers, { name, help, labels }, byThread(read));
  gauge(
    'voice_media_tick_late_seconds',
    '99th percentile of the tick lateness of a media thread over the last ten to twenty seconds',
    ({ tickLateMs }) => secondsOf(tickLateMs),
  );
  gauge(
    'voice_media_thread_busy_ratio',
    'Share of the last second in which a media thread was busy; above 0.8 it accepts no new call',
    ({ busy }) => busy,
  );
  gauge('voice_media_thread_legs', 'Legs of a media thread', ({ legs }) => legs);
  const name = 'voice_media_skipped_ticks_total';
  const help = 'Milliseconds that a media thread skipped';
  scrapedTotals(
    registers,
    { name, help, labels },
    byThread(({ skippedTicks }) => skippedTicks),
  );
}

type Totals = Omit<MediaTotals, 'threads'>;

/** Registers totals counted by the media engine. They are set at each scrape and never decrease. */
export function defineMediaTotals(
  registers: Registry[],
  media: () => MediaTotals | undefined,
): void {
  scrapedTotals(
    registers,
    { name: 'voice_rtp_packets_total', help: 'RTP packets', labels: ['direction'] },
    () => [
      [{ direction: 'in' }, media()?.packetsReceived ?? 0],
      [{ direction: 'out' }, media()?.packetsSent ?? 0],
    ],
  );
  const total = (key: keyof Totals, name: string, help: string): void =>
    scrapedTotal(registers, name, help, () => media()?.[key]);
  total('packetsLost', 'voice_rtp_lost_packets_total', 'RTP packets that never arrived');
  total(
    'unknownSources',
    'voice_rtp_unknown_source_packets_total',
    "RTP and RTCP packets from addresses other than the peer's, or of types that were not negotiated",
  );
  total(
    'malformed',
    'voice_rtp_malformed_packets_total',
    'Datagrams at media ports that were not RTP or RTCP, were too long, or used another key',
  );
  total(
    'sourceChanges',
    'voice_rtp_source_changes_total',
    'Changes of the RTP source address of a peer, including differences from its SDP',
  );
  total(
    'unknownHandles',
    'voice_media_unknown_handles_total',
    'Media commands whose leg, room or object no longer existed or was full',
  );
  total(
    'droppedEvents',
    'voice_media_dropped_events_total',
    'Events and audio messages for bots lost because the service read them too late',
  );
}
