/** Messages to bytes (RFC 3261 §7). Content-Length is always written anew, as the last header. */
import type { SipMessage } from './message.ts';

export function serialize(message: SipMessage): Buffer {
  let head =
    message.kind === 'request'
      ? `${message.method} ${message.requestUri} SIP/2.0\r\n`
      : `SIP/2.0 ${message.status} ${message.reason}\r\n`;
  for (const field of message.fields) {
    if (field.key !== 'content-length') head += `${field.name}: ${field.value}\r\n`;
  }
  head += `Content-Length: ${message.body.length}\r\n\r\n`;
  const headBytes = Buffer.byteLength(head, 'utf8');
  const out = Buffer.allocUnsafe(headBytes + message.body.length);
  out.write(head, 0, 'utf8');
  out.set(message.body, headBytes);
  return out;
}
