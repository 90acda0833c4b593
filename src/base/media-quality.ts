/** Media quality of one leg: received audio, and the peer's reports about sent audio. Fractions are 0 to 1. */
export interface MediaQuality {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly packetsLate: number;
  readonly jitterMs: number;
  /** Fraction of expected packets that were never received (network loss). */
  readonly lossFraction: number;
  /** Fraction of packets that arrived too late for playout. */
  readonly discardFraction?: number;
  /** Bursts and gaps of lost or discarded packets (RFC 3611 §4.7.2): fraction within bursts, mean lengths. */
  readonly burstDensity?: number;
  readonly burstMs?: number;
  readonly gapMs?: number;
  /** Rating factor R of ITU-T G.107. */
  readonly rating?: number | undefined;
  readonly playoutDelayMs?: number;
  /** ITU-T G.107 estimate, 1 to 4.5. Undefined without received audio. */
  readonly mos: number | undefined;
  readonly roundTripMs: number | undefined;
  /**
   * Time for which audio was expected although none ever arrived (one-way audio), in milliseconds. Undefined if some
   * arrived or less than 10 s was expected.
   */
  readonly unheardMs?: number | undefined;
  /** Values from the peer's reports. Undefined if it sent none about this leg. */
  readonly peer?:
    | { readonly lossFraction: number; readonly jitterMs: number; readonly mos: number }
    | undefined;
}
