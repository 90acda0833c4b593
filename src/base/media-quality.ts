/** Quality of one leg: of what came from its peer, and what the peer says of what it got. Shares are 0..1. */
export interface MediaQuality {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly packetsLate: number;
  readonly jitterMs: number;
  /** Of what was expected, what never came: the way's loss. */
  readonly lossFraction: number;
  /** What came too late to be heard. */
  readonly discardFraction?: number;
  /** Bursts and gaps of what was not heard (RFC 3611 §4.7.2): share within bursts, mean lengths. */
  readonly burstDensity?: number;
  readonly burstMs?: number;
  readonly gapMs?: number;
  /** Rating factor R of ITU-T G.107. */
  readonly rating?: number | undefined;
  readonly playoutDelayMs?: number;
  /** ITU-T G.107 estimate, 1..4.5; undefined when nothing was received. */
  readonly mos: number | undefined;
  readonly roundTripMs: number | undefined;
  /** How long audio was due of a peer from which none ever came (one-way audio); undefined: some came, or it was not due for ten seconds. */
  readonly unheardMs?: number | undefined;
  /** By the peer's reports; undefined: it has sent none about us. */
  readonly peer?:
    | { readonly lossFraction: number; readonly jitterMs: number; readonly mos: number }
    | undefined;
}
