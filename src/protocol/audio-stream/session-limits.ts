/** Time and rate limits of one stream session. Limits of its socket are in edge/stream/limits.ts. */
/** Token bucket: `burst` events without delay, `perSecond` on average. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface SessionLimits {
  /** Time limit for name resolution, TCP, TLS and upgrade together, in milliseconds. */
  readonly connectMs: number;
  /** Ping interval in milliseconds; 20 s in dialect §1.4. */
  readonly pingMs: number;
  /** Time limit for the pong, in milliseconds. */
  readonly pongMs: number;
  /** Time limit for a drain, in milliseconds; longer than the playback queue (60 s). */
  readonly drainMs: number;
  /** Time limit for the peer's close frame, in milliseconds. */
  readonly closeMs: number;
  /** Maximum number of pending checkpoints. */
  readonly checkpoints: number;
  /** Rate limit for `error` messages to the bot and for faults in the call's log. */
  readonly errors: Rate;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = {
  connectMs: 10_000,
  pingMs: 20_000,
  pongMs: 20_000,
  drainMs: 65_000,
  closeMs: 5_000,
  checkpoints: 900,
  errors: { perSecond: 5, burst: 50 },
};
