/** Ports for audio streams: the media side of a stream, and the bot's socket. */
import type { AccountId, CallUuid, StreamId } from '../../base/ids.ts';
import type { StreamNote, StreamTransfer } from '../../protocol/audio-stream/audio-stream.ts';
import type { Headers } from './signalling-needs.ts';

export type StreamEncoding = 'audio/x-l16' | 'audio/x-mulaw';

/** Cleaning of the caller's audio for the bot. */
export interface AudioCleaning {
  /** Suppresses noise. */
  readonly noise: boolean;
  /** Cancels the echo of the audio that is sent to the caller. */
  readonly echo: boolean;
  /** Adjusts the level. */
  readonly gain: boolean;
}

/** Detection of the caller's speech. Times in ms; ranges as in the `Stream` element. */
export interface SpeechDetection {
  readonly sensitivity: number;
  readonly minimumMs: number;
  readonly endMs: number;
  readonly bargeIn: 'none' | 'duck' | 'clear';
}

/** Position of playback in the bot's audio. Times in ms. */
export interface PlayPosition {
  /** Time played since the last checkpoint that was reached, the last clear or the begin of the stream. */
  readonly playedMs: number;
  /** Number of the last `playAudio` message played, from 1 over the stream; 0: none. */
  readonly message: number;
  /** Played part of this message, and its length. */
  readonly messagePlayedMs: number;
  readonly messageMs: number;
  /** Queued audio that a clear has discarded. */
  readonly discardedMs: number;
}

export interface SpeechEvent {
  readonly started: boolean;
  /** Wall-clock time of the begin or the end of speech, in ms since the epoch. */
  readonly timestampMs: number;
  /** 0–1. */
  readonly confidence: number;
}

export interface MediaStreamOptions {
  readonly streamId: StreamId;
  readonly encoding: StreamEncoding;
  readonly rate: 8000 | 16000;
  readonly tracks: 'inbound' | 'outbound' | 'both';
  readonly bidirectional: boolean;
  /** JSON string literal for `extra_headers` of every message, already encoded. */
  readonly extraHeadersJson: string;
  /** Capacity of the playback queue, in ms of audio. */
  readonly queueMs: number;
  /** Direct connection between leg and socket. Without it, audio passes through `media` and `receive`. */
  readonly wire?: StreamWire;
  /** Undefined: speech is not detected. */
  readonly speech?: SpeechDetection;
  /** Undefined: the caller's audio is not changed. */
  readonly clean?: AudioCleaning;
}

/** Bot socket for direct media transfer, created by the audio-stream edge and used by the media edge. */
export interface StreamWire {
  /** Native socket table, and the handle of this socket in it. */
  readonly sockets: object;
  readonly handle: number;
  enqueue(encoding: StreamEncoding, rate: 8000 | 16000 | 24000, payload: Uint8Array): void;
  clear(): void;
  /** Adds a checkpoint. `id` is returned in the media side's `played` event. */
  checkpoint(id: number): void;
}

/** Events of one stream from the native side. Delivered at most every 5 ms, in order. */
export interface MediaStreamEvents {
  /**
   * Complete `media` messages (UTF-8 JSON, dialect §1.1). The value of the leading key `"sequenceNumber":` is ten
   * spaces wide; the sender fills it in. The bytes are valid only during the call.
   */
  media(messages: readonly Uint8Array[]): void;
  /** The last sample queued before this checkpoint has been played. */
  played(name: string, at?: PlayPosition): void;
  /** The caller's audio cannot be cleaned, for this reason. Called before `openStream` returns. */
  notCleaned?(reason: string): void;
  speech?(event: SpeechEvent): void;
  /** The caller's speech has cleared the queue and these checkpoints. */
  interrupted?(names: readonly string[], at: PlayPosition): void;
  /** The bot's audio has begun `latencyMs` after the caller's last speech. */
  turn?(latencyMs: number): void;
  /** The queue level rose above 30, 60 or 90 percent. */
  degraded(percent: 30 | 60 | 90): void;
  dtmf(digit: string, timestampMs: number): void;
}

export type StreamReceiveResult =
  | 'taken' // a playAudio message, decoded and queued
  | 'other' // not a playAudio message that the scanner supports: parse it in JavaScript
  | 'badPayload'
  | 'unsupportedFormat'
  | 'wrongStream'
  | 'bufferFull';

/** Media side of one audio stream. */
export interface MediaStream {
  /**
   * Scans one complete message of the bot and processes it if it is playAudio. Never throws. With a wire: always
   * 'other'.
   */
  receive(message: Uint8Array): StreamReceiveResult;
  /**
   * Queues decoded audio, for messages that `receive` left to JavaScript. Returns false if the queue is full; a wire
   * reports that later.
   */
  enqueue(encoding: StreamEncoding, rate: 8000 | 16000 | 24000, payload: Uint8Array): boolean;
  /**
   * Drops queued audio with a fade of a few milliseconds. Pending checkpoints never complete. Returns the position, if
   * it is known.
   */
  clear(): PlayPosition | undefined;
  checkpoint(name: string): void;
  pause(paused: boolean): void;
  close(): void;
}

export interface StreamSocketOptions {
  readonly url: string;
  readonly streamId: StreamId;
  readonly callUuid: CallUuid;
  /** Account whose token signs the upgrade request. */
  readonly accountId: AccountId;
  /** Account responsible for the bot's messages: for a sub-account, its main account. */
  readonly ownerId: string;
  readonly encoding: StreamEncoding;
  readonly rate: 8000 | 16000;
  readonly tracks: 'inbound' | 'outbound' | 'both';
  readonly bidirectional: boolean;
  readonly extraHeaders: Headers;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** Start of the call in ms since the epoch. */
  readonly callStartMs: number;
  /** Undefined: speech is not detected. `events`: the bot gets `speechStarted` and `speechStopped`. */
  readonly speech?: SpeechDetection & { readonly events: boolean };
  readonly clean?: AudioCleaning;
  /** Whether `playedStream` and `clearedAudio` report the position of playback. */
  readonly positions?: boolean;
  /** Whether the bot may send `note`. */
  readonly notes?: boolean;
  /** Whether the bot may send `transfer`. */
  readonly transfers?: boolean;
}

export type StreamSocketEnd =
  | { readonly kind: 'connectFailed'; readonly detail: string }
  /** The application closed the connection, or the connection broke. */
  | { readonly kind: 'dropped'; readonly detail: string }
  /** The application sent `stop`. */
  | { readonly kind: 'stopRequested' }
  /** This node called close(). */
  | { readonly kind: 'closed' };

export interface StreamSocketEvents {
  /** The WebSocket upgrade succeeded and `start` was sent. */
  started(): void;
  played(name: string): void;
  cleared(): void;
  /** The caller's audio cannot be cleaned, for this reason. */
  notCleaned?(reason: string): void;
  /** The caller's speech interrupted the bot. */
  interrupted?(at: PlayPosition): void;
  turn?(latencyMs: number): void;
  degraded(percent: number): void;
  /** The bot did not read its socket and missed `ms` milliseconds of audio since the last report. */
  missed?(ms: number): void;
  /** Called exactly once. */
  ended(end: StreamSocketEnd): void;
  sendDigits(digits: string): void;
  /** Text of the bot for the call's timeline. */
  note?(note: StreamNote): void;
  /** The bot requests a transfer of the caller. */
  transfer?(transfer: StreamTransfer): void;
  /** The bot cancels its transfer in progress. */
  cancelTransfer?(): void;
  /** Pauses or resumes the recordings of the call. Returns their number. */
  pauseRecording?(isPaused: boolean): number;
  /** Protocol violation by the bot, in plain words, for the call's log. */
  fault(code: string, detail: string): void;
}

export type { StreamTransfer };

export interface TransferProgress {
  readonly status: 'ringing' | 'answered' | 'completed' | 'declined' | 'canceled' | 'failed';
  /** Reason of a failure, in plain words. */
  readonly detail: string;
}

export type StreamStopReason =
  | 'call_hangup'
  | 'stream_timeout'
  | 'api_request'
  | 'xml_moved_on'
  | 'max_duration'
  | 'transfer';

export interface StreamSocket {
  /** Reports the progress of a transfer to the bot. */
  transferProgress?(progress: TransferProgress): void;
  /** Sends `stop` with the reason, then closes with 1000. With `drain`, queued audio is played first. */
  close(reason: StreamStopReason, options?: { readonly drain?: boolean }): void;
}
