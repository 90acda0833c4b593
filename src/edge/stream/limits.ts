import {
  DEFAULT_SESSION_LIMITS,
  type SessionLimits,
} from '../../protocol/audio-stream/audio-stream.ts';

/** Limits of one stream socket; those of the session are about time and rates, these about bytes. */
export interface StreamSocketLimits {
  /** One WebSocket message of the application (rulings: 8 MiB); a larger one closes with 1009. */
  readonly maxMessageBytes: number;
  /** What may wait in the socket's own buffer before messages wait here. About 300 ms of L16 at 16 kHz. */
  readonly socketBufferBytes: number;
  /** `media` messages that wait here, per track: one second. Beyond, the oldest are dropped. */
  readonly waitingMediaPerTrack: number;
  /** Other messages that wait here; beyond, the stream is given up. */
  readonly waitingControlBytes: number;
  /** Playback queue of one stream, milliseconds. */
  readonly queueMs: number;
  readonly session: SessionLimits;
}

export const DEFAULT_STREAM_LIMITS: StreamSocketLimits = {
  maxMessageBytes: 8 * 1024 * 1024,
  socketBufferBytes: 16 * 1024,
  waitingMediaPerTrack: 50,
  waitingControlBytes: 256 * 1024,
  queueMs: 60_000,
  session: DEFAULT_SESSION_LIMITS,
};
