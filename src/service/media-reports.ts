/** Sends the media quality of running calls to Homer as RTCP reports: those of this service, and those of the peer. */
import type { Clock } from '../base/clock.ts';
import type { Call } from '../domain/call/call.ts';
import type { Cdr, MediaQuality } from '../domain/cdr/types.ts';
import type { HepExporter } from '../edge/sip/trace/hep-exporter.ts';

const [SENDER_REPORT, RECEIVER_REPORT] = [200, 201];
/** Denominator of fractions in RTCP. */
const WHOLE = 256;

export class MediaReports {
  readonly #exporter: HepExporter;
  readonly #clock: Clock;

  constructor(exporter: HepExporter, clock: Clock) {
    this.#exporter = exporter;
    this.#clock = clock;
  }

  /** Sends the quality of a running call, every 5 s as RTCP itself (RFC 3550 §6.2). */
  sampled(call: Call, quality: MediaQuality): void {
    if (!call.isAnswered) return;
    const { media, identity } = call;
    const { address, port } = media;
    const { remoteAddress = '' } = call.peer;
    const local = { address, port: port + 1 };
    const remote = media.remote ?? { address: remoteAddress, port: 0 };
    this.#send(local, remote, { root: identity.parentCallUuid ?? call.uuid, quality });
  }

  /** Sends the last report of a call, from its record. */
  ended(cdr: Cdr): void {
    if (cdr.quality === undefined || cdr.answerUs === undefined) return;
    const remote = { address: cdr.remoteAddress ?? '', port: 0 };
    this.#send({ address: '', port: 0 }, remote, {
      root: cdr.parentCallUuid ?? cdr.callUuid,
      quality: cdr.quality,
    });
  }

  #send(
    from: Place,
    to: Place,
    { root, quality }: { readonly root: string; readonly quality: MediaQuality },
  ): void {
    const isUdp = true;
    const about = { isUdp, atMs: this.#clock.wallMs(), correlation: root };
    this.#exporter.report({ ...about, from, to, payload: asJson(reportOf(quality)) });
    if (quality.peer === undefined) return;
    const theirs = asJson(peerReportOf(quality, quality.peer));
    this.#exporter.report({ ...about, from: to, to: from, payload: theirs });
  }
}

interface Place {
  readonly address: string;
  readonly port: number;
}

const asJson = (report: object): Buffer => Buffer.from(JSON.stringify(report));

/** Jitter in RTP units of 8 kHz, the clock rate of most codecs. */
const inUnits = (jitterMs: number): number => Math.round(jitterMs * 8);
const inParts = (fraction: number): number => Math.min(WHOLE - 1, Math.round(fraction * WHOLE));

/** Returns the peer's own RTCP report about sent packets (RFC 3550 §6.4.2). */
const peerReportOf = (
  { packetsSent, roundTripMs }: MediaQuality,
  peer: NonNullable<MediaQuality['peer']>,
) => ({
  type: RECEIVER_REPORT,
  ssrc: 0,
  report_count: 1,
  report_blocks: [
    {
      source_ssrc: 0,
      fraction_lost: inParts(peer.lossFraction),
      packets_lost: Math.round(peer.lossFraction * packetsSent),
      highest_seq_no: packetsSent,
      ia_jitter: inUnits(peer.jitterMs),
      lsr: 0,
      dlsr: 0,
    },
  ],
  jitter_ms: peer.jitterMs,
  mos: peer.mos,
  ...(roundTripMs === undefined ? {} : { rtt_ms: roundTripMs }),
});

/** Formats RTCP in the JSON of Homer's agents, with the additional fields `mos`, `jitter_ms` and `rtt_ms`. */
const reportOf = (quality: MediaQuality) => ({
  type: SENDER_REPORT,
  ssrc: 0,
  sender_information: {
    ntp_timestamp_sec: 0,
    ntp_timestamp_usec: 0,
    octets: 0,
    rtp_timestamp: 0,
    packets: quality.packetsSent,
  },
  report_count: 1,
  report_blocks: [
    {
      source_ssrc: 0,
      fraction_lost: inParts(quality.lossFraction),
      packets_lost: quality.packetsLost,
      highest_seq_no: quality.packetsReceived,
      ia_jitter: inUnits(quality.jitterMs),
      lsr: 0,
      dlsr: 0,
    },
  ],
  packets_received: quality.packetsReceived,
  jitter_ms: quality.jitterMs,
  ...(quality.mos === undefined ? {} : { mos: quality.mos }),
  ...(quality.roundTripMs === undefined ? {} : { rtt_ms: quality.roundTripMs }),
});
