/** Front door of the audio-stream protocol: the JSON messages of the stream socket and one socket as a machine. */
export {
  type ApplicationMessage,
  MAX_CHECKPOINT_NAME,
  MAX_DTMF_DIGITS,
  readApplicationMessage,
} from './application-message.ts';
export type { StreamFault, StreamFaultCode } from './fault.ts';
export {
  type PlaybackFormat,
  type PlaybackRate,
  playbackFormat,
  type StreamEncoding,
  type StreamFormat,
} from './media-format.ts';
export {
  clearedAudioMessage,
  dtmfMessage,
  errorMessage,
  extraHeadersLiteral,
  extraHeadersValue,
  playedStreamMessage,
  type StopReason,
  type StreamIdentity,
  startMessage,
  stopMessage,
} from './service-message.ts';
export { StreamSession } from './session.ts';
export { DEFAULT_SESSION_LIMITS, type SessionLimits } from './session-limits.ts';
export type { EngineVerdict, SessionEnd, SessionInput, SessionOutput } from './session-types.ts';
