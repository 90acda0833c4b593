/** What a stream session is told, and what it answers. */
import type { StreamFaultCode } from './fault.ts';
import type { PlaybackRate, StreamEncoding } from './media-format.ts';
import type { StopReason } from './service-message.ts';

/** What the media engine said of a message before the session saw it; `other`: it is not a plain `playAudio`. */
export type EngineVerdict =
  | 'taken'
  | 'other'
  | 'badPayload'
  | 'unsupportedFormat'
  | 'wrongStream'
  | 'bufferFull';

export type SessionInput =
  /** The connection is being made; its time limit runs from here. */
  | { readonly kind: 'connecting' }
  /** The upgrade is done. */
  | { readonly kind: 'opened' }
  /** One whole message of the application. */
  | { readonly kind: 'received'; readonly bytes: Uint8Array; readonly verdict: EngineVerdict }
  /** The queue had no room for an `enqueue`. */
  | { readonly kind: 'queueFull' }
  /** The last sample before this checkpoint has left. */
  | { readonly kind: 'played'; readonly checkpoint: string }
  | { readonly kind: 'dtmf'; readonly digit: string; readonly timestampMs: number }
  | { readonly kind: 'pong' }
  /** The connection is gone, or could not be made; told once. */
  | { readonly kind: 'socketClosed'; readonly detail: string }
  /** Something on this side makes it impossible to go on. */
  | { readonly kind: 'broken'; readonly detail: string }
  | { readonly kind: 'close'; readonly reason: StopReason; readonly drain: boolean };

export type SessionEnd =
  | { readonly kind: 'connectFailed'; readonly detail: string }
  | { readonly kind: 'dropped'; readonly detail: string }
  | { readonly kind: 'stopRequested' }
  | { readonly kind: 'closed' };

export type SessionOutput =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'ping' }
  | {
      readonly kind: 'enqueue';
      readonly encoding: StreamEncoding;
      readonly rate: PlaybackRate;
      readonly payload: Uint8Array;
    }
  | { readonly kind: 'clearQueue' }
  /** Tell `played` with this id once everything queued so far has left. */
  | { readonly kind: 'checkpoint'; readonly id: string }
  | { readonly kind: 'sendDigits'; readonly digits: string }
  | { readonly kind: 'pauseReading' }
  | { readonly kind: 'resumeReading' }
  /** Starts the closing handshake (RFC 6455 §7). */
  | { readonly kind: 'closeSocket'; readonly code: number; readonly reason: string }
  /** Cuts the connection. */
  | { readonly kind: 'dropSocket' }
  | { readonly kind: 'started' }
  | { readonly kind: 'played'; readonly name: string }
  | { readonly kind: 'cleared' }
  | { readonly kind: 'fault'; readonly code: StreamFaultCode; readonly detail: string }
  /** Exactly once. */
  | { readonly kind: 'ended'; readonly end: SessionEnd };
