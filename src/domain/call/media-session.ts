import { err, ok, type Result } from '../../base/result.ts';
import {
  type AudioSession,
  type Codec,
  codecProperties,
  comfortNoise,
  telephoneEvent as eventCodec,
  type SdpProblem,
} from '../../protocol/sdp/sdp.ts';
import { isCodecName, type MediaSession, type SessionCodec } from './needs.ts';
import type { PayloadNumbers } from './payload-numbers.ts';

/** Transport attributes of a session. */
export type Travel = Pick<
  MediaSession,
  'protection' | 'rtcpMux' | 'rtcpPort' | 'rtcpLearned' | 'ice' | 'voipMetrics'
>;

/**
 * Builds the media session. `ours` holds the payload types of our offer, which the peer answered. Each side receives
 * with the numbers of the description that it sent (RFC 3264 §6.1). Our answers repeat the peer's numbers.
 */
export function mediaSession(
  session: AudioSession,
  travel: Travel,
  ours?: PayloadNumbers,
): Result<MediaSession, SdpProblem> {
  const { address, port, ptimeMs, direction, telephoneEvent, telephoneEventClockHz } = session;
  const { codec } = session;
  const spoken = sessionCodec(codec);
  if (spoken === undefined) return err({ kind: 'noCommonCodec', detail: codec.name });
  const receive = (theirs: Codec): number => ours?.given(theirs).payloadType ?? theirs.payloadType;
  return ok({
    address,
    port,
    codec: spoken,
    payloadType: { send: codec.payloadType, receive: receive(codec) },
    telephoneEvent:
      telephoneEvent === undefined
        ? undefined
        : {
            send: telephoneEvent,
            receive: receive(eventCodec(telephoneEvent, telephoneEventClockHz)),
            clockRate: telephoneEventClockHz,
          },
    ptimeMs,
    direction,
    comfortNoise: noiseTypes(session, receive),
    ...travel,
  });
}

function noiseTypes(
  { comfortNoise: send, codec }: AudioSession,
  receive: (theirs: Codec) => number,
): MediaSession['comfortNoise'] {
  if (send === undefined) return undefined;
  return { send, receive: receive(comfortNoise(send, codec.clockRateHz)) };
}

/** Returns undefined for an unsupported codec. */
function sessionCodec(codec: Codec): SessionCodec | undefined {
  const { name, clockRateHz: clockRate } = codec;
  const properties = codecProperties(name);
  if (properties === undefined || !isCodecName(name)) return undefined;
  const opus = properties.sending?.(codec);
  const sampleRate = properties.sampleRate(codec);
  return { name, clockRate, sampleRate, channels: 1, ...(opus && { opus }) };
}
