/** Limits of one stream session: times and rates; those of its socket stand in edge/stream/limits.ts. */
/** `burst` at once, `perSecond` on average. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface SessionLimits {
  /** Name resolution, TCP, TLS and upgrade together. */
  readonly connectMs: number;
  /** Dialect §1.4: a ping every 20 s … */
  readonly pingMs: number;
  /** … and the pong within this time. */
  readonly pongMs: number;
  /** How long a drain may take: the playback queue is shorter (60 s). */
  readonly drainMs: number;
  /** How long the peer may take to answer our close frame. */
  readonly closeMs: number;
  /** Checkpoints that wait at a time. */
  readonly checkpoints: number;
  /** `error` messages to the bot, and faults in the call's log. */
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
