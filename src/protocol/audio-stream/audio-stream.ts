/** Public interface of the audio-stream protocol: the JSON messages and the state machine of one stream socket. */
export type { StreamNote, StreamTransfer } from './extension-message.ts';
export type { EngineRefusal, Oversize } from './fault.ts';
export type { StreamFormat } from './media-format.ts';
export { inboundMediaMessage, readMediaMessage } from './media-message.ts';
export { extraHeadersLiteral } from './service-message.ts';
export { StreamSession } from './session.ts';
export { DEFAULT_SESSION_LIMITS, type Rate, type SessionLimits } from './session-limits.ts';
export type { SessionEnd, SessionInput, SessionOutput } from './session-types.ts';
