/** What a bot can do wrong, and the words it is told (dialect §1.1 `error`). But for a message that is too long, none of them closes the socket. */
export type StreamFaultCode =
  | 'invalid_message'
  | 'invalid_payload'
  | 'unsupported_format'
  | 'buffer_full';

export interface StreamFault {
  readonly code: StreamFaultCode;
  readonly message: string;
}

/** What the media engine found wrong with a `playAudio`. */
export type EngineRefusal = 'badPayload' | 'unsupportedFormat' | 'wrongStream' | 'bufferFull';

/** What a message was too long for: by itself, or for what all messages of the account may take at a time. */
export type Oversize = 'message' | 'account';

export const fault = (code: StreamFaultCode, message: string): StreamFault => ({ code, message });

/** With it the socket is closed. */
export const oversizeFault = (what: Oversize, limitBytes: number): StreamFault =>
  what === 'message'
    ? fault('invalid_message', `the message exceeds the limit of ${limitBytes} bytes`)
    : fault('buffer_full', `this account has messages of more than ${limitBytes} bytes under way`);

/** The same in the words that the bot is told. */
export const ENGINE_FAULTS: Readonly<Record<EngineRefusal, StreamFault>> = {
  badPayload: fault('invalid_payload', 'media.payload is not base64'),
  unsupportedFormat: fault(
    'unsupported_format',
    'playAudio takes audio/x-l16 at 8000, 16000 or 24000 Hz and audio/x-mulaw at 8000 Hz',
  ),
  wrongStream: fault('invalid_message', '"playAudio" names another stream than this socket\'s'),
  bufferFull: fault('buffer_full', 'the playback queue is full; this audio is lost'),
};
