/**
 * Converts values for the native side. Plain values are passed per leg, because reading object properties there costs
 * several times as much.
 */
import type { MediaSession } from '../../domain/call/needs.ts';

/** Values in the order of `session_of` (native/addon/engine_legs.cpp). */
export const sessionValues = (session: MediaSession) => {
  const { codec, payloadType, telephoneEvent, comfortNoise } = session;
  return [
    session.address,
    session.port,
    session.signallingAddress,
    codec.name,
    codec.clockRate,
    codec.sampleRate,
    codec.channels,
    codec.opus,
    payloadType.send,
    payloadType.receive,
    telephoneEvent?.send,
    telephoneEvent?.receive,
    telephoneEvent?.clockRate,
    session.ptimeMs,
    session.direction,
    session.rtcpMux,
    session.rtcpPort,
    session.rtcpLearned,
    comfortNoise?.send,
    comfortNoise?.receive,
    session.voipMetrics,
    session.protection,
    session.ice,
    session.describedAddress,
    session.acceptOtherSources,
  ] as const;
};

export type SessionValues = ReturnType<typeof sessionValues>;

export interface NativeStatistics {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly packetsLate: number;
  readonly unknownSources: number;
  /** Datagrams that are not RTP. */
  readonly malformed: number;
  /** SRTP packets with a wrong key, modified, replayed or unencrypted. */
  readonly unauthentic: number;
  /** Packets from the peer's address with a payload type that was not negotiated. */
  readonly notNegotiated: number;
  readonly jitterMs: number;
  readonly discardFraction: number;
  readonly burstDensity: number;
  readonly burstMs: number;
  readonly gapMs: number;
  /** Rating; negative if unknown. */
  readonly rating: number;
  readonly playoutDelayMs: number;
  /** Packet loss in the peer's reports about our stream; negative if there are none. */
  readonly peerLossFraction: number;
  readonly peerJitterMs: number;
  readonly peerMos: number;
  readonly lossFraction: number;
  /** MOS; 0 if unknown. */
  readonly mos: number;
  /** Round-trip time in milliseconds; negative if unknown. */
  readonly roundTripMs: number;
}

/** Buffer for the native side to write the statistics of one leg. */
export const statisticsBuffer = (): Float64Array => new Float64Array(21);

/** Reads values in the order of `write_statistics` (native/addon/engine_legs.cpp). */
export function readStatistics(from: Float64Array): NativeStatistics {
  const at = (index: number): number => from[index] ?? 0;
  return {
    packetsReceived: at(0),
    packetsSent: at(1),
    packetsLost: at(2),
    packetsLate: at(3),
    unknownSources: at(4),
    malformed: at(5),
    unauthentic: at(6),
    notNegotiated: at(7),
    jitterMs: at(8),
    lossFraction: at(9),
    mos: at(10),
    roundTripMs: at(11),
    discardFraction: at(12),
    burstDensity: at(13),
    burstMs: at(14),
    gapMs: at(15),
    rating: at(16),
    playoutDelayMs: at(17),
    peerLossFraction: at(18),
    peerJitterMs: at(19),
    peerMos: at(20),
  };
}
