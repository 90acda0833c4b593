import type { IncomingHttpHeaders } from 'node:http';

/** `<` */
const LESS = 0x3c;
const UTF8 = new TextDecoder('utf-8');

/**
 * Decodes a response body by its byte order mark, else by the charset of the Content-Type, else by the XML declaration,
 * else as UTF-8 (RFC 7303 §3). Treats an unknown charset as UTF-8. Replaces undecodable bytes by U+FFFD.
 */
export function decodeBody(body: Uint8Array, headers: IncomingHttpHeaders): string {
  const charset =
    markedEncoding(body) ??
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

/** Reads the encoding of the byte order mark, which takes precedence over all names of encodings (RFC 7303 §3.3). */
function markedEncoding([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined;
}

/** Reads the encoding in the XML declaration, which all common encodings write in ASCII. UTF-16 has a byte order mark. */
function declaredEncoding(body: Uint8Array): string | undefined {
  if (body[0] !== LESS) return undefined;
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 100)).toString(
    'latin1',
  );
  const encoding = /^<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']/.exec(start)?.[1];
  // A declaration in readable ASCII contradicts UTF-16, so that name is ignored.
  return encoding !== undefined && /^utf-?16/i.test(encoding) ? undefined : encoding;
}
