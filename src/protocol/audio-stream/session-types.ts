/** What a stream session is told, and what it answers. */
import type { EngineRefusal, Oversize, StreamFaultCode } from './fault.ts';
import type { PlaybackRate, StreamEncoding } from './media-format.ts';
import type { StopReason } from './service-message.ts';

export type SessionInput =
  /** The connection is being made; its time limit runs from here. */
  | { readonly kind: 'connecting' }
  /** The upgrade is done. */
  | { readonly kind: 'opened' }
  /** One whole message of the application that the media engine has not taken. */
  | { readonly kind: 'received'; readonly bytes: Uint8Array }
  /** The media engine could not take a `playAudio`, or an `enqueue`. */
  | { readonly kind: 'refused'; readonly why: EngineRefusal }
  /** The application sends more than the limits of SessionLimits allow: it is read more slowly. Told once. */
  | { readonly kind: 'flooding' }
  /** It has not stopped doing so. */
  | { readonly kind: 'flooded' }
  /** A message was too long; nothing after it was read. */
  | { readonly kind: 'oversized'; readonly what: Oversize; readonly limitBytes: number }
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
  /** Its `sequenceNumber` is still blank: it runs over every message of the socket, `media` too (SEQUENCE_NUMBER_OFFSET). */
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
  /** Starts the closing handshake (RFC 6455 §7). `last` goes before it; no `media` goes between or after. */
  | {
      readonly kind: 'closeSocket';
      readonly code: number;
      readonly reason: string;
      readonly last: string | undefined;
    }
  /** Cuts the connection. */
  | { readonly kind: 'dropSocket' }
  | { readonly kind: 'started' }
  | { readonly kind: 'played'; readonly name: string }
  | { readonly kind: 'cleared' }
  | { readonly kind: 'fault'; readonly code: StreamFaultCode; readonly detail: string }
  /** Exactly once. */
  | { readonly kind: 'ended'; readonly end: SessionEnd };
