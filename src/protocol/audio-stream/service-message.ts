/**
 * Builds messages from the service to the application (dialect §1.1). Each contains the fields that all known clients
 * read, as one line of JSON with `sequenceNumber` first. The media engine writes the `media` messages.
 */
import type { AccountId, CallUuid, StreamId } from '../../base/ids.ts';
import type { StreamFault } from './fault.ts';
import type { StreamFormat } from './media-format.ts';

type StreamTrack = 'inbound' | 'outbound';

export type StopReason =
  | 'call_hangup'
  | 'stream_timeout'
  | 'api_request'
  | 'xml_moved_on'
  | 'max_duration'
  | 'transfer';

/** Values that are constant for one socket. */
export interface StreamIdentity {
  readonly streamId: StreamId;
  readonly callUuid: CallUuid;
  readonly accountId: AccountId;
  readonly format: StreamFormat;
  readonly tracks: 'inbound' | 'outbound' | 'both';
  readonly bidirectional: boolean;
  readonly extraHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** Start of the call in ms since the epoch. */
  readonly callStartMs: number;
  /** Whether the bot gets `speechStarted` and `speechStopped`. */
  readonly speech?: { readonly events: boolean };
  /** Whether `playedStream` and `clearedAudio` report the position of playback. */
  readonly positions?: boolean;
  /** Whether the bot may send `note`. */
  readonly notes?: boolean;
  /** Whether the bot may send `transfer`. */
  readonly transfers?: boolean;
}

const tracksOf = (tracks: StreamIdentity['tracks']): readonly StreamTrack[] =>
  tracks === 'both' ? ['inbound', 'outbound'] : [tracks];

/** Value of `extra_headers`: a string containing a JSON object, `{}` if there are no headers (dialect §1.3). */
export const extraHeadersValue = (headers: StreamIdentity['extraHeaders']): string =>
  JSON.stringify(Object.fromEntries(headers));

/** `extraHeadersValue` as a quoted JSON string literal, which the media engine copies into each `media` message. */
export const extraHeadersLiteral = (headers: StreamIdentity['extraHeaders']): string =>
  JSON.stringify(extraHeadersValue(headers));

/** The socket's owner replaces the ten spaces with the sequence number. */
const numbered = (message: Readonly<Record<string, unknown>>): string =>
  `{"sequenceNumber":          ,${JSON.stringify(message).slice(1)}`;

/**
 * First message of a socket. The IDs appear twice: Plivo's clients read them in `start`, Vobiz's example bots at the
 * top level. `from`, `to`, `direction` and `customParameters` are optional additions.
 */
export function startMessage(stream: StreamIdentity): string {
  return numbered({
    event: 'start',
    streamId: stream.streamId,
    callId: stream.callUuid,
    start: {
      callId: stream.callUuid,
      streamId: stream.streamId,
      accountId: stream.accountId,
      tracks: tracksOf(stream.tracks),
      mediaFormat: { encoding: stream.format.encoding, sampleRate: stream.format.rate },
      from: stream.from,
      to: stream.to,
      direction: stream.direction,
      customParameters: Object.fromEntries(stream.extraHeaders),
    },
    extra_headers: extraHeadersValue(stream.extraHeaders),
  });
}

/** `timestampMs` is milliseconds since the epoch, sent as a string as in `media`. */
export function dtmfMessage(stream: StreamIdentity, digit: string, timestampMs: number): string {
  return numbered({
    event: 'dtmf',
    streamId: stream.streamId,
    dtmf: { track: 'inbound', digit, timestamp: String(Math.floor(timestampMs)) },
    extra_headers: extraHeadersValue(stream.extraHeaders),
  });
}

/** Playback position in ms, as reported by the media engine. */
export interface PlayPosition {
  readonly playedMs: number;
  readonly message: number;
  readonly messagePlayedMs: number;
  readonly messageMs: number;
  readonly discardedMs: number;
}

/** `at`: an addition to the dialect. Times count since the checkpoint before. */
export const playedStreamMessage = (streamId: StreamId, name: string, at?: PlayPosition): string =>
  numbered({
    event: 'playedStream',
    streamId,
    name,
    ...(at && { playedMs: at.playedMs, message: at.message }),
  });

/** `at` and `reason`: additions to the dialect. */
export const clearedAudioMessage = (
  streamId: StreamId,
  at?: PlayPosition,
  reason?: 'bargeIn',
): string => numbered({ event: 'clearedAudio', streamId, reason, ...at });

/** `timestampMs` is milliseconds since the epoch, sent as a string as in `media`; `callMs` counts since the call began. */
export const speechMessage = (
  { streamId, callStartMs }: StreamIdentity,
  { started, timestampMs, confidence }: SpeechChange,
): string =>
  numbered({
    event: started ? 'speechStarted' : 'speechStopped',
    streamId,
    speech: {
      track: 'inbound',
      timestamp: String(Math.floor(timestampMs)),
      callMs: Math.max(0, Math.floor(timestampMs - callStartMs)),
      confidence,
    },
  });

interface SpeechChange {
  readonly started: boolean;
  readonly timestampMs: number;
  /** 0–1. */
  readonly confidence: number;
}

/** Progress of a transfer that the bot requested. */
export const transferMessage = (
  streamId: StreamId,
  transfer: { readonly status: string; readonly detail: string },
): string => numbered({ event: 'transfer', streamId, transfer });

/** Confirms `pauseRecording` or `resumeRecording`. An extension of the dialect. */
export const recordingMessage = (
  streamId: StreamId,
  { isPaused, count }: { readonly isPaused: boolean; readonly count: number },
): string =>
  numbered({
    event: isPaused ? 'recordingPaused' : 'recordingResumed',
    streamId,
    recordings: count,
  });

export const errorMessage = (streamId: StreamId, { code, message }: StreamFault): string =>
  numbered({ event: 'error', streamId, error: { code, message }, reason: message });

export const stopMessage = (stream: StreamIdentity, reason: StopReason): string =>
  numbered({
    event: 'stop',
    streamId: stream.streamId,
    stop: { callId: stream.callUuid, accountId: stream.accountId, reason },
    reason,
  });
