/** Messages that may have to be sent once more, kept for half a minute. */
import type { SipMessage } from './message.ts';
import { asBuffer, parseMessage } from './parse.ts';

/** The bytes as Latin-1: a text of its own keeps nothing else alive, neither the slab of a buffer nor header fields. */
export const keptText = (bytes: Uint8Array): string => asBuffer(bytes).toString('latin1');

/** Undefined: it was no message. */
export function messageOf(
  text: string,
): { readonly bytes: Buffer; readonly message: SipMessage } | undefined {
  const bytes = Buffer.from(text, 'latin1');
  const parsed = parseMessage(bytes);
  return parsed.ok ? { bytes, message: parsed.message } : undefined;
}
