import { unquote } from '../header/text.ts';
import { parseMediaType } from '../header/values.ts';
import type { SipMessage } from '../message.ts';

export const SDP_TYPE = 'application/sdp';

/** Maximum number of parts read from a multipart body. */
const MAX_PARTS = 16;

/** Session description of a message: its body, or a part of a multipart body (RFC 5621 §3.1). */
export function sdpOf(message: SipMessage): string | undefined {
  if (message.body.length === 0) return undefined;
  const type = message.contentType;
  if (type?.essence === SDP_TYPE) return message.bodyText;
  if (type === undefined || !type.essence.startsWith('multipart/')) return undefined;
  const boundary = unquote(type.params.get('boundary') ?? '');
  return boundary === '' ? undefined : sdpPart(message.bodyText, boundary);
}

/** Splits a multipart body (RFC 2046 §5.1.1) without nesting. */
function sdpPart(text: string, boundary: string): string | undefined {
  const parts = `\r\n${text}`.split(`\r\n--${boundary}`).slice(1, MAX_PARTS + 1);
  for (const part of parts) {
    const headEnd = part.indexOf('\r\n\r\n');
    if (part.startsWith('--') || headEnd === -1) continue;
    const head = part.slice(0, headEnd);
    const type = /^content-type[ \t]*:[ \t]*(.+)$/im.exec(head)?.[1];
    if (type !== undefined && parseMediaType(type.trim())?.essence === SDP_TYPE) {
      return part.slice(headEnd + 4);
    }
  }
  return undefined;
}
