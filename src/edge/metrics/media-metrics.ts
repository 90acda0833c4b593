import { Counter, Gauge, type Registry } from 'prom-client';
import { secondsOf } from '../../base/duration.ts';

/** Totals since the start of the media engine. */
export interface MediaTotals {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  /** Packets of addresses that are not the peer's. */
  readonly unknownSources: number;
  /** What came to media ports and was neither RTP nor RTCP. */
  readonly malformed: number;
  readonly sourceChanges: number;
  readonly unknownHandles: number;
  /** Of each media thread. */
  readonly threads: readonly {
    /** Share of the last second in which it worked. */
    readonly busy: number;
    readonly legs: number;
    /** Lateness of its ticks over the last ten to twenty seconds: 99th percentile. */
    readonly tickLateMs: number;
    /** Ticks that it had to leave out. */
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
    'Lateness of the ticks of a media thread over the last ten to twenty seconds, 99th percentile',
    ({ tickLateMs }) => secondsOf(tickLateMs),
  );
  each(
    'voice_media_thread_busy_ratio',
    'Share of the last second in which a media thread worked; above 0.8 it takes no new call',
    ({ busy }) => busy,
  );
  each('voice_media_thread_legs', 'Legs of a media thread', ({ legs }) => legs);
  new Counter({
    name: 'voice_media_skipped_ticks_total',
    help: 'Milliseconds that a media thread had to leave out',
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

/** Totals that the media engine counts; set at the scrape, they only ever grow. */
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
    help: 'RTP packets that never came',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.packetsLost ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_unknown_source_packets_total',
    help: "RTP and RTCP packets from addresses that are not the peer's, or of types that were not negotiated",
    registers,
    collect() {
      this.reset();
      this.inc(media()?.unknownSources ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_malformed_packets_total',
    help: 'Datagrams at media ports that were neither RTP nor RTCP, too long, or under another key',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.malformed ?? 0);
    },
  });
  new Counter({
    name: 'voice_rtp_source_changes_total',
    help: 'Times that the RTP of a peer was found at another address than before or than its SDP says',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.sourceChanges ?? 0);
    },
  });
  new Counter({
    name: 'voice_media_unknown_handles_total',
    help: 'Media commands whose leg, room or object was not there any more, or was full',
    registers,
    collect() {
      this.reset();
      this.inc(media()?.unknownHandles ?? 0);
    },
  });
}
