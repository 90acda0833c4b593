import { Counter, Gauge, type Registry } from 'prom-client';
import { secondsOf } from '../../base/duration.ts';

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
  const each = (name: string, help: string, read: (thread: Thread) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['thread'],
      registers,
      collect() {
        this.reset();
        for (const [index, thread] of (media()?.threads ?? []).entries()) {
          this.set({ thread: index }, read(thread));
        }
      },
    });
  };
  each(
    'voice_media_tick_late_seconds',
    '99th percentile of the tick lateness of a media thread over the last ten to twenty seconds',
    ({ tickLateMs }) => secondsOf(tickLateMs),
  );
  each(
    'voice_media_thread_busy_ratio',
    'Share of the last second in which a media thread was busy; above 0.8 it accepts no new call',
    ({ busy }) => busy,
  );
  each('voice_media_thread_legs', 'Legs of a media thread', ({ legs }) => legs);
  new Counter({
    name: 'voice_media_skipped_ticks_total',
    help: 'Milliseconds that a media thread skipped',
    labelNames: ['thread'],
    registers,
    collect() {
      this.reset();
      for (const [index, { skippedTicks }] of (media()?.threads ?? []).entries()) {
        this.inc({ thread: index }, skippedTicks);
      }
    },
  });
}

/** Registers totals counted by the media engine. They are set at each scrape and never decrease. */
export function defineMediaTotals(
  registers: Registry[],
  media: () => MediaTotals | undefined,
): void {
  new Counter({
    name: 'voice_rtp_packets_total',
    help: 'RTP packets',
    labelNames: ['direction'],
    registers,
    collect() {
      this.reset();
      this.inc({ direction: 'in' }, media()?.packetsReceived ?? 0);
      this.inc({ direction: 'out' }, media()?.packetsSent ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_lost_packets_total',
    help: 'RTP packets that never arrived',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.packetsLost ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_unknown_source_packets_total',
    help: "RTP and RTCP packets from addresses other than the peer's, or of types that were not negotiated",
    registers,
    collect() {
      this.reset();
      this.inc(media()?.unknownSources ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_malformed_packets_total',
    help: 'Datagrams at media ports that were not RTP or RTCP, were too long, or used another key',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.malformed ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_source_changes_total',
    help: 'Changes of the RTP source address of a peer, including differences from its SDP',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.sourceChanges ?? 0);
    },
  });
  new Counter({
    name: 'voice_media_unknown_handles_total',
    help: 'Media commands whose leg, room or object no longer existed or was full',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.unknownHandles ?? 0);
    },
  });
}
