/** What calls need of audio streams: the media side of one, and the bot's socket. */
import type { AccountId, CallUuid, StreamId } from '../../base/ids.ts';
import type { Headers } from './signalling-needs.ts';

export type StreamEncoding = 'audio/x-l16' | 'audio/x-mulaw';

export interface MediaStreamOptions {
  readonly streamId: StreamId;
  readonly encoding: StreamEncoding;
  readonly rate: 8000 | 16000;
  readonly tracks: 'inbound' | 'outbound' | 'both';
  readonly bidirectional: boolean;
  /** JSON string for `extra_headers` of every message, already encoded as a JSON string literal. */
  readonly extraHeadersJson: string;
  /** Playback queue limit. */
  readonly queueMs: number;
  /** Audio goes straight between leg and socket; without it, through `media` and `receive`. */
  readonly wire?: StreamWire;
}

/** A bot's socket that media can be joined to: made by the audio-stream edge, understood by the media edge. */
export interface StreamWire {
  /** The native sockets, and the name of this one among them. */
  readonly sockets: object;
  readonly handle: number;
  enqueue(encoding: StreamEncoding, rate: 8000 | 16000 | 24000, payload: Uint8Array): void;
  clear(): void;
  /** `id` comes back in the media side's own `played` event. */
  checkpoint(id: number): void;
}

/** What the native side tells of one stream. Called at most every 5 ms, everything since the last time in order. */
export interface MediaStreamEvents {
  /**
   * Complete `media` messages (UTF-8 JSON text, dialect §1.1) ready to send, but for the sequence number: the value
   * of the leading key `"sequenceNumber":` is ten spaces wide and is filled in by whoever sends it.
   * The bytes are valid only during the call.
   */
  media(messages: readonly Uint8Array[]): void;
  /** The last sample queued before this checkpoint has left. */
  played(name: string): void;
  /** Queue filled above 30, 60 or 90 percent (rising edge only). */
  degraded(percent: 30 | 60 | 90): void;
  dtmf(digit: string, timestampMs: number): void;
}

export type StreamReceiveResult =
  | 'taken' // a playAudio message, decoded and queued
  | 'other' // not a playAudio message in the shape the scanner takes: parse it in JavaScript
  | 'badPayload'
  | 'unsupportedFormat'
  | 'wrongStream'
  | 'bufferFull';

/** The media side of one audio stream. */
export interface MediaStream {
  /** Looks at one whole message of the bot; takes it when it is a playAudio. Never throws. With a wire: always 'other'. */
  receive(message: Uint8Array): StreamReceiveResult;
  /** Queues decoded audio (for messages that `receive` left to JavaScript). False when the queue is full; a wire tells it later. */
  enqueue(encoding: StreamEncoding, rate: 8000 | 16000 | 24000, payload: Uint8Array): boolean;
  /** Drops what is queued, with a fade of a few milliseconds; pending checkpoints never complete. */
  clear(): void;
  checkpoint(name: string): void;
  pause(paused: boolean): void;
  close(): void;
}

export interface StreamSocketOptions {
  readonly url: string;
  readonly streamId: StreamId;
  readonly callUuid: CallUuid;
  /** Account whose token signs the upgrade. */
  readonly accountId: AccountId;
  /** Account that is answerable for what the bot sends: of a sub-account, the one above it. */
  readonly ownerId: string;
  readonly encoding: StreamEncoding;
  readonly rate: 8000 | 16000;
  readonly tracks: 'inbound' | 'outbound' | 'both';
  readonly bidirectional: boolean;
  readonly extraHeaders: Headers;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
}

export type StreamSocketEnd =
  | { readonly kind: 'connectFailed'; readonly detail: string }
  /** The application closed, or the connection broke. */
  | { readonly kind: 'dropped'; readonly detail: string }
  /** The application sent `stop`. */
  | { readonly kind: 'stopRequested' }
  /** Our own close(). */
  | { readonly kind: 'closed' };

export interface StreamSocketEvents {
  /** Upgraded and `start` sent. */
  started(): void;
  played(name: string): void;
  cleared(): void;
  degraded(percent: number): void;
  /** The bot did not read its socket, and has missed so many milliseconds of audio since the last report. */
  missed?(ms: number): void;
  /** Exactly once. */
  ended(end: StreamSocketEnd): void;
  sendDigits(digits: string): void;
  /** Something the bot did wrong, in plain words, for the call's log. */
  fault(code: string, detail: string): void;
}

export type StreamStopReason =
  | 'call_hangup'
  | 'stream_timeout'
  | 'api_request'
  | 'xml_moved_on'
  | 'max_duration'
  | 'transfer';

export interface StreamSocket {
  /** Sends `stop` with the reason, then closes with 1000. With `drain`, what is queued is played first. */
  close(reason: StreamStopReason, options?: { readonly drain?: boolean }): void;
}
