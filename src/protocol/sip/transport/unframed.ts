import { createResponse } from '../message.ts';
import { parseMessage } from '../parse.ts';
import { serialize } from '../serialize.ts';

/** Last response on a stream whose framing is lost (RFC 3261 §18.3), or undefined if none is possible. */
export function answerUnframed(
  head: Uint8Array,
  status: number,
  reason: string,
): Uint8Array | undefined {
  const parsed = parseMessage(head);
  const message = parsed.ok ? parsed.message : parsed.error.respondable;
  if (message === undefined || message.kind === 'response' || message.method === 'ACK') {
    return undefined;
  }
  return serialize(createResponse(message, status, { reason }));
}
