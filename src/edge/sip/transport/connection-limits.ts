/** Limits of one connection. Times are in milliseconds. */
export interface ConnectionLimits {
  /** Maximum time without a byte in either direction. Longer than the longest registration, which may use this flow. */
  readonly idleMs: number;
  /** Time limit for the first complete message after accepting, and for each message from its first byte. */
  readonly messageMs: number;
  /** Idle limit, as `idleMs`, for unauthenticated peers. */
  readonly unknownIdleMs: number;
  /** Maximum number of bytes not yet accepted by the peer. */
  readonly maxUnsentBytes: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  idleMs: 7_500_000,
  messageMs: 10_000,
  unknownIdleMs: 60_000,
  maxUnsentBytes: 1024 * 1024,
};
