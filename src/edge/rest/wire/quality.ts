import { isoMicros } from '../../../base/time-format.ts';
import type { QualitySample } from '../../../domain/call/types.ts';
import type { MediaQuality } from '../../../domain/cdr/types.ts';
import { nullableBoolean, nullableNumber, type Static, Type, timestamp } from '../http/schema.ts';

export const hundredths = (value: number): number => Math.round(value * 100) / 100;
const orNull = (value: number | undefined): number | null =>
  value === undefined ? null : hundredths(value);
const percent = (share: number | undefined): number | null =>
  share === undefined ? null : hundredths(share * 100);

/** Quality fields of a CDR in addition to the dialect's `mos`, `jitter` and `packet_loss`. Times in ms, shares in per cent. */
export const qualityFields = {
  packet_discard: nullableNumber(),
  round_trip_time: nullableNumber(),
  burst_density: nullableNumber(),
  burst_duration: nullableNumber(),
  gap_duration: nullableNumber(),
  r_factor: nullableNumber(),
  mos_sent: nullableNumber(),
  jitter_sent: nullableNumber(),
  packet_loss_sent: nullableNumber(),
  one_way_audio: nullableBoolean(
    'no RTP arrived from the peer although it was due for at least ten seconds',
  ),
};

export const basicQuality = (quality: MediaQuality | undefined) => ({
  mos: orNull(quality?.mos),
  jitter: orNull(quality?.jitterMs),
  packet_loss: percent(quality?.lossFraction),
});

export const moreQuality = (quality: MediaQuality | undefined) => ({
  packet_discard: percent(quality?.discardFraction),
  round_trip_time: orNull(quality?.roundTripMs),
  burst_density: percent(quality?.burstDensity),
  burst_duration: orNull(quality?.burstMs),
  gap_duration: orNull(quality?.gapMs),
  r_factor: orNull(quality?.rating),
  mos_sent: orNull(quality?.peer?.mos),
  jitter_sent: orNull(quality?.peer?.jitterMs),
  packet_loss_sent: percent(quality?.peer?.lossFraction),
  one_way_audio: quality === undefined ? null : quality.unheardMs !== undefined,
});

/** A sample of a call's quality. Its counts start at the beginning of the call. */
export const QualitySampleSchema = Type.Object({
  at: timestamp(),
  packets_received: Type.Integer(),
  packets_sent: Type.Integer(),
  mos: nullableNumber(),
  jitter: nullableNumber(),
  packet_loss: nullableNumber(),
  playout_delay: nullableNumber(),
  ...qualityFields,
});

export const showQualitySample = (sample: QualitySample): Static<typeof QualitySampleSchema> => ({
  at: isoMicros(sample.atUs),
  packets_received: sample.packetsReceived,
  packets_sent: sample.packetsSent,
  ...basicQuality(sample),
  playout_delay: orNull(sample.playoutDelayMs),
  ...moreQuality(sample),
});
