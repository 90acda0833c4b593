import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import {
  DEFAULT_SESSION_LIMITS,
  type Rate,
  type SessionLimits,
} from '../../protocol/audio-stream/audio-stream.ts';
import type { UpgradeNeeds } from './upgrade.ts';

/** Limits of one stream socket in bytes and messages. Time limits are those of the session. */
export interface StreamSocketLimits {
  /** Maximum size of one message from the application in bytes; a larger one closes the socket with 1009. */
  readonly maxMessageBytes: number;
  /** Maximum total size of messages in progress per account, in bytes; beyond it the socket closes with 1009. */
  readonly accountMessageBytes: number;
  /**
   * Maximum number of queued `media` messages per track for a slow bot: one second. Beyond it, the oldest are dropped.
   */
  readonly waitingMediaPerTrack: number;
  /** Maximum size of other queued messages in bytes; beyond it the stream ends. */
  readonly waitingControlBytes: number;
  /** Playback queue of one stream in milliseconds. */
  readonly queueMs: number;
  /** Message rate of the bot. The burst allows a minute of audio in 10 ms pieces. */
  readonly messages: Rate;
  /**
   * Byte rate of the bot. The burst exceeds the playback queue several times; live audio needs at most 64,000 bytes per
   * second.
   */
  readonly bytes: Rate;
  /** Total throttling time in milliseconds after which a bot above the rates is disconnected. */
  readonly floodMs: number;
  readonly session: SessionLimits;
}

export const DEFAULT_STREAM_LIMITS: StreamSocketLimits = {
  // A minute of L16 at 24 kHz in base64 is 3.84 MB, the size of the playback queue.
  maxMessageBytes: 4 * 1024 * 1024,
  accountMessageBytes: 32 * 1024 * 1024,
  waitingMediaPerTrack: 50,
  waitingControlBytes: 256 * 1024,
  queueMs: 60_000,
  messages: { perSecond: 1_000, burst: 6_000 },
  bytes: { perSecond: 2 * 1024 * 1024, burst: 32 * 1024 * 1024 },
  floodMs: 30_000,
  session: DEFAULT_SESSION_LIMITS,
};

export interface AudioStreamsOptions extends UpgradeNeeds {
  /** PEM file of trusted certificate authorities in addition to those of Node; empty for none. */
  readonly caFile?: string;
  /** Number of socket threads. Default: 1. */
  readonly threads?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for each turn of a stream with speech detection. */
  readonly turnTook?: (latencyMs: number) => void;
  readonly limits?: Partial<StreamSocketLimits>;
}
