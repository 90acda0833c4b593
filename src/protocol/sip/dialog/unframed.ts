import { createResponse } from '../message.ts';
import { parseMessage } from '../parse.ts';
import { serialize } from '../serialize.ts';

/** The last answer on a stream that can no longer be followed (RFC 3261 §18.3); undefined when none is possible. */
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
