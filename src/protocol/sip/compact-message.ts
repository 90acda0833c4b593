/** Compact copies of messages that may have to be retransmitted, kept for half a minute. */
import type { SipMessage } from './message.ts';
import { asBuffer, parseMessage } from './parse.ts';

/** Bytes as Latin-1 text. The copy keeps no reference to a buffer slab or to header fields. */
export const compactText = (bytes: Uint8Array): string => asBuffer(bytes).toString('latin1');

/** Parses a kept text; undefined if it is not a message. */
export function messageOf(
  text: string,
): { readonly bytes: Buffer; readonly message: SipMessage } | undefined {
  const bytes = Buffer.from(text, 'latin1');
  const parsed = parseMessage(bytes);
  return parsed.ok ? { bytes, message: parsed.message } : undefined;
}
