import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import {
  DEFAULT_SESSION_LIMITS,
  type Rate,
  type SessionLimits,
} from '../../protocol/audio-stream/audio-stream.ts';
import type { UpgradeNeeds } from './upgrade.ts';

/** Limits of one stream socket; those of the session are about time, these about bytes and messages. */
export interface StreamSocketLimits {
  /** One WebSocket message of the application; a larger one closes with 1009. */
  readonly maxMessageBytes: number;
  /** Messages of one account's bots that are being received or dealt with at a time; beyond, the socket closes with 1009. */
  readonly accountMessageBytes: number;
  /** `media` messages that wait for a bot that reads too slowly, per track: one second. Beyond, the oldest are dropped. */
  readonly waitingMediaPerTrack: number;
  /** Bytes of other messages that wait; beyond, the stream is given up. */
  readonly waitingControlBytes: number;
  /** Playback queue of one stream, milliseconds. */
  readonly queueMs: number;
  /** Messages of the bot. The burst fits a minute of audio in 10 ms pieces. */
  readonly messages: Rate;
  /** Bytes of the bot. The burst fits the playback queue many times; live audio needs 64,000 a second at most. */
  readonly bytes: Rate;
  /** A bot that sends more is read more slowly; once the rests add up to so many milliseconds it is cut off. */
  readonly floodMs: number;
  readonly session: SessionLimits;
}

export const DEFAULT_STREAM_LIMITS: StreamSocketLimits = {
  // A minute of L16 at 24 kHz in base64 is 3.84 MB: all that a playback queue takes.
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
  /** PEM file of certificate authorities that are trusted beside those that Node trusts; empty: none. */
  readonly caFile?: string;
  /** Threads that the sockets are spread over; 1 when left away. */
  readonly threads?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<StreamSocketLimits>;
}
