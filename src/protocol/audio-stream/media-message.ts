/** Decodes a `media` message of the service (dialect §1.1) for supervisors that listen to a call. */

export interface MediaMessage {
  readonly track: 'inbound' | 'outbound';
  /** Copy of the payload; the message is valid only during the call. */
  readonly payload: Uint8Array;
}

const PAYLOAD = Buffer.from('"payload":"');
const OUTBOUND = Buffer.from('"track":"outbound"');
const QUOTE = 0x22;

export function readMediaMessage(message: Uint8Array): MediaMessage {
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const track = text.includes(OUTBOUND) ? 'outbound' : 'inbound';
  const from = text.indexOf(PAYLOAD);
  if (from < 0) return { track, payload: new Uint8Array(0) };
  const start = from + PAYLOAD.length;
  const end = text.indexOf(QUOTE, start);
  const decoded = Buffer.from(text.toString('latin1', start, end), 'base64');
  // The copy guarantees an even offset, which an int16 view of the samples requires.
  return { track, payload: new Uint8Array(decoded) };
}
