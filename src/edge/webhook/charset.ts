import type { IncomingHttpHeaders } from 'node:http';

/** `<` */
const LESS = 0x3c;
const UTF8 = new TextDecoder('utf-8');

/**
 * The text of a response: charset of the Content-Type, else the encoding that an XML declaration names, else UTF-8
 * (RFC 7303 §3). An unknown charset counts as UTF-8; what cannot be decoded becomes U+FFFD.
 */
export function decodeBody(body: Uint8Array, headers: IncomingHttpHeaders): string {
  const charset =
    /;\s*charset\s*=\s*"?([\w:.+-]+)/i.exec(headers['content-type'] ?? '')?.[1] ??
    declaredEncoding(body) ??
    'utf-8';
  if (/^utf-?8$/i.test(charset)) return UTF8.decode(body);
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return UTF8.decode(body);
  }
}

/** Readable without knowing the encoding, as every encoding in use writes the declaration in ASCII; UTF-16 has a mark. */
function declaredEncoding(body: Uint8Array): string | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] !== LESS) return undefined;
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 100)).toString(
    'latin1',
  );
  const encoding = /^<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']/.exec(start)?.[1];
  // A declaration that can be read as ASCII is not in UTF-16, whatever it says.
  return encoding !== undefined && /^utf-?16/i.test(encoding) ? undefined : encoding;
}
