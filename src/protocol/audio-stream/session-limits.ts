/** Every limit of one stream socket, in one place. */
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
  /** Messages of the bot. The burst fits a minute of audio in 10 ms pieces. */
  readonly messages: Rate;
  /** Bytes of the bot. The burst fits the playback queue many times; live audio needs 64,000 a second at most. */
  readonly bytes: Rate;
  /** Seconds of pauses, summed over the stream, after which a flooding bot is cut off. */
  readonly floodMs: number;
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
  messages: { perSecond: 1_000, burst: 6_000 },
  bytes: { perSecond: 2 * 1024 * 1024, burst: 32 * 1024 * 1024 },
  floodMs: 30_000,
  errors: { perSecond: 5, burst: 50 },
};
