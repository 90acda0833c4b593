/** Serializes messages to bytes (RFC 3261 §7). Content-Length is always recomputed and written last. */
import { lineStart } from './header/names.ts';
import type { SipMessage } from './message.ts';

const startLine = (message: SipMessage): string =>
  message.kind === 'request'
    ? `${message.method} ${message.requestUri} SIP/2.0`
    : `SIP/2.0 ${message.status} ${message.reason}`;

/** Bytes of a field besides name and value: colon, space, line break. */
const FIELD_BYTES = 4;
/** Upper bound for Content-Length, the empty line and the end of the first line, in bytes. */
const TAIL_BYTES = 32;

/** Estimated size of the serialized message in bytes; never too small. */
export function sizeOf(message: SipMessage): number {
  let bytes = Buffer.byteLength(startLine(message)) + TAIL_BYTES + message.body.length;
  for (const { name, value } of message.fields)
    bytes += name.length + Buffer.byteLength(value) + FIELD_BYTES;
  return bytes;
}

export function serialize(message: SipMessage): Buffer {
  let head = startLine(message);
  for (const field of message.fields) {
    if (field.key !== 'content-length') head += lineStart(field.name) + field.value;
  }
  head += `\r\nContent-Length: ${message.body.length}\r\n\r\n`;
  const headBytes = Buffer.byteLength(head, 'utf8');
  const out = Buffer.allocUnsafe(headBytes + message.body.length);
  out.write(head, 0, 'utf8');
  out.set(message.body, headBytes);
  return out;
}
