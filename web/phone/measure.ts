/** Call quality from the statistics of the browser (W3C WebRTC Statistics). */
import type { Levels, Quality } from './phone-api.d.ts';

/** Whether RTP has been sent to, and received from, the other side. */
export interface MediaFlow {
  readonly sends: boolean;
  readonly receives: boolean;
}

export const NO_MEDIA: MediaFlow = { sends: false, receives: false };

export async function mediaFlow(peer: RTCPeerConnection): Promise<MediaFlow> {
  if (peer.connectionState !== 'connected') return NO_MEDIA;
  const all = [...(await peer.getStats()).values()];
  return {
    sends: all.some(({ type, packetsSent }) => type === 'outbound-rtp' && packetsSent > 0),
    receives: all.some(
      ({ type, packetsReceived }) => type === 'inbound-rtp' && packetsReceived > 0,
    ),
  };
}

export async function measure(peer: RTCPeerConnection): Promise<Quality & Levels> {
  const all = [...(await peer.getStats()).values()];
  const of = (type: string) =>
    all.find((report) => report.type === type && report.kind !== 'video');
  const inbound = of('inbound-rtp');
  const pair = all.find((report) => report.type === 'candidate-pair' && report.nominated);
  const codec = all.find(({ id }) => id === inbound?.codecId);
  const roundTripS = of('remote-inbound-rtp')?.roundTripTime ?? pair?.currentRoundTripTime;
  const packets = inbound?.packetsReceived ?? 0;
  const lost = inbound?.packetsLost ?? 0;
  const jitterMs = (inbound?.jitter ?? 0) * 1000;
  const roundTripMs = roundTripS === undefined ? undefined : roundTripS * 1000;
  return {
    packets,
    lost,
    concealed: (inbound?.concealedSamples ?? 0) / Math.max(1, inbound?.totalSamplesReceived ?? 0),
    jitterMs,
    roundTripMs,
    mos: mosOf(lost / Math.max(1, packets + lost), jitterMs, roundTripMs ?? 0),
    codec: codec?.mimeType ?? '',
    inputLevel: of('media-source')?.audioLevel ?? 0,
    outputLevel: inbound?.audioLevel ?? 0,
  };
}

/** MOS by ITU-T G.107 with G.113 values of a codec with concealment. Assumes a jitter buffer of twice the jitter. */
function mosOf(loss: number, jitterMs: number, roundTripMs: number): number {
  const delayMs = roundTripMs / 2 + 2 * jitterMs + 20;
  const byDelay = 0.024 * delayMs + (delayMs > 177.3 ? 0.11 * (delayMs - 177.3) : 0);
  const percent = 100 * loss;
  const r = 93.2 - byDelay - (95 * percent) / (percent + 10);
  if (r <= 0) return 1;
  const mos = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
  return Math.round(100 * Math.min(4.5, Math.max(1, mos))) / 100;
}
