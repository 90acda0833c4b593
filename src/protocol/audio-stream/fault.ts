/**
 * Faults of a bot and the error messages sent to it (dialect §1.1 `error`). Only a message that exceeds the size limit
 * closes the socket.
 */
export type StreamFaultCode =
  | 'invalid_message'
  | 'invalid_payload'
  | 'unsupported_format'
  | 'buffer_full';

export interface StreamFault {
  readonly code: StreamFaultCode;
  readonly message: string;
}

/** Reasons for which the media engine rejects a `playAudio`. */
export type EngineRefusal = 'badPayload' | 'unsupportedFormat' | 'wrongStream' | 'bufferFull';

/** Limit that a message exceeded: the size of one message, or the total for all messages of the account. */
export type Oversize = 'message' | 'account';

export const fault = (code: StreamFaultCode, message: string): StreamFault => ({ code, message });

/** Fault for an oversized message; the session then closes the socket. */
export const oversizeFault = (what: Oversize, limitBytes: number): StreamFault =>
  what === 'message'
    ? fault('invalid_message', `the message exceeds the limit of ${limitBytes} bytes`)
    : fault('buffer_full', `this account has messages of more than ${limitBytes} bytes under way`);

/** Fault sent to the bot for each engine rejection. */
export const ENGINE_FAULTS: Readonly<Record<EngineRefusal, StreamFault>> = {
  badPayload: fault('invalid_payload', 'media.payload is not base64'),
  unsupportedFormat: fault(
    'unsupported_format',
    'playAudio takes audio/x-l16 at 8000, 16000 or 24000 Hz and audio/x-mulaw at 8000 Hz',
  ),
  wrongStream: fault('invalid_message', '"playAudio" names another stream than this socket\'s'),
  bufferFull: fault('buffer_full', 'the playback queue is full; this audio is lost'),
};
