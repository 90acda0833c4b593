/** Inputs and outputs of a stream session. */
import type { StreamNote, StreamTransfer } from './extension-message.ts';
import type { EngineRefusal, Oversize, StreamFaultCode } from './fault.ts';
import type { PlaybackRate, StreamEncoding } from './media-format.ts';
import type { PlayPosition, StopReason } from './service-message.ts';

export type SessionInput =
  /** The connection attempt starts; its time limit starts too. */
  | { readonly kind: 'connecting' }
  /** The WebSocket upgrade has completed. */
  | { readonly kind: 'opened' }
  /** One complete application message that the media engine did not consume. */
  | { readonly kind: 'received'; readonly bytes: Uint8Array }
  /** The media engine rejected a `playAudio` or an `enqueue`. */
  | { readonly kind: 'refused'; readonly why: EngineRefusal }
  /** The application exceeds the rate limits, so it is read more slowly. Reported once. */
  | { readonly kind: 'flooding' }
  /** The application kept exceeding the rate limits. */
  | { readonly kind: 'flooded' }
  /** A message exceeded a size limit; no later message was read. */
  | { readonly kind: 'oversized'; readonly what: Oversize; readonly limitBytes: number }
  /** The last sample before this checkpoint has been sent. */
  | { readonly kind: 'played'; readonly checkpoint: string; readonly at?: PlayPosition }
  /** The media engine detected the begin or the end of the caller's speech. */
  | {
      readonly kind: 'speech';
      readonly started: boolean;
      readonly timestampMs: number;
      readonly confidence: number;
    }
  /** The caller's speech has cleared the queue and these checkpoints. */
  | {
      readonly kind: 'interrupted';
      readonly checkpoints: readonly string[];
      readonly at: PlayPosition;
    }
  /** The engine has executed `clearQueue`. `at` is undefined if the position is unknown. */
  | { readonly kind: 'queueCleared'; readonly at: PlayPosition | undefined }
  | { readonly kind: 'dtmf'; readonly digit: string; readonly timestampMs: number }
  | { readonly kind: 'transferProgress'; readonly status: string; readonly detail: string }
  /** Number of recordings that were paused or resumed. */
  | { readonly kind: 'recordings'; readonly isPaused: boolean; readonly count: number }
  | { readonly kind: 'pong' }
  /** The connection closed or could not be established. Reported once. */
  | { readonly kind: 'socketClosed'; readonly detail: string }
  /** An internal failure prevents the session from continuing. */
  | { readonly kind: 'broken'; readonly detail: string }
  | { readonly kind: 'close'; readonly reason: StopReason; readonly drain: boolean };

export type SessionEnd =
  | { readonly kind: 'connectFailed'; readonly detail: string }
  | { readonly kind: 'dropped'; readonly detail: string }
  | { readonly kind: 'stopRequested' }
  | { readonly kind: 'closed' };

export type SessionOutput =
  /**
   * Text to send with a blank `sequenceNumber`. The number counts all messages of the socket, including `media`.
   */
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'ping' }
  | {
      readonly kind: 'enqueue';
      readonly encoding: StreamEncoding;
      readonly rate: PlaybackRate;
      readonly payload: Uint8Array;
    }
  | { readonly kind: 'clearQueue' }
  /** Request to report `played` with this ID when all audio queued so far has been sent. */
  | { readonly kind: 'checkpoint'; readonly id: string }
  | { readonly kind: 'sendDigits'; readonly digits: string }
  | { readonly kind: 'note'; readonly note: StreamNote }
  | { readonly kind: 'transfer'; readonly transfer: StreamTransfer }
  | { readonly kind: 'cancelTransfer' }
  | { readonly kind: 'pauseRecording'; readonly isPaused: boolean }
  /** Starts the closing handshake (RFC 6455 §7). `last` is sent before it; no `media` is sent between or after. */
  | {
      readonly kind: 'closeSocket';
      readonly code: number;
      readonly reason: string;
      readonly last: string | undefined;
    }
  /** Drops the connection without a closing handshake. */
  | { readonly kind: 'dropSocket' }
  | { readonly kind: 'started' }
  | { readonly kind: 'played'; readonly name: string }
  | { readonly kind: 'cleared' }
  | { readonly kind: 'fault'; readonly code: StreamFaultCode; readonly detail: string }
  /** End of the session, reported exactly once. */
  | { readonly kind: 'ended'; readonly end: SessionEnd };
