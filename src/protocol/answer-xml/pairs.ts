/** Readers for `k=v,k2=v2` lists: extraHeaders and sipHeaders. */
import type { ElementReader } from './attributes.ts';
import type { XmlPairs } from './instruction.ts';
import { MAX_EXTRA_HEADERS_BYTES, MAX_HEADER_PAIRS } from './limits.ts';

const KEY = /^[A-Za-z0-9_.-]{1,64}$/;
/** Printable ASCII. The value becomes a SIP or HTTP header, which a line break would split. */
const VALUE = /^[\x20-\x7e]{0,256}$/;

/** Reserved prefixes of header names (dialect §2.1, Dial), compared case-insensitively. */
const RESERVED = ['ph-', 'plivo', 'fs-', 'sipauth', 'zt-', 'twilio', 'clientregion'];

/** Reads `extraHeaders` of `Stream`, at most 512 bytes (dialect §1.3). Clients also separate pairs with `;`. */
export function extraHeaders(reader: ElementReader): {
  readonly extraHeaders: XmlPairs;
  readonly extraHeadersText: string;
} {
  const text = reader.text('extraHeaders') ?? '';
  if (Buffer.byteLength(text, 'utf8') > MAX_EXTRA_HEADERS_BYTES) {
    reader.refuse(
      `extraHeaders has more than ${MAX_EXTRA_HEADERS_BYTES} bytes`,
      `extraHeaders: at most ${MAX_EXTRA_HEADERS_BYTES} bytes`,
      { attribute: 'extraHeaders' },
    );
  }
  return { extraHeaders: pairs(reader, 'extraHeaders', text, /[,;]/), extraHeadersText: text };
}

/** Reads `sipHeaders` of `Dial`, `Number` and `User`. The caller adds the prefix to the names. */
export function sipHeaders(reader: ElementReader): XmlPairs {
  const text = reader.text('sipHeaders') ?? '';
  return pairs(reader, 'sipHeaders', text, /,/).filter(([name]) => {
    const isReserved = RESERVED.some((prefix) => name.toLowerCase().startsWith(prefix));
    if (isReserved) reader.warn(`the header name ${name} is reserved: ignored`, 'sipHeaders');
    return !isReserved;
  });
}

function pairs(
  reader: ElementReader,
  attribute: string,
  text: string,
  separator: RegExp,
): XmlPairs {
  const found: Array<readonly [string, string]> = [];
  for (const item of text.split(separator)) {
    if (item.trim() === '') continue;
    const equals = item.indexOf('=');
    const name = item.slice(0, equals).trim();
    const value = item.slice(equals + 1).trim();
    if (equals < 0 || !KEY.test(name) || !VALUE.test(value)) {
      reader.warn(`"${item.trim().slice(0, 60)}" is not name=value: ignored`, attribute);
    } else if (found.length >= MAX_HEADER_PAIRS) {
      reader.warn(`more than ${MAX_HEADER_PAIRS} pairs: ${name} is ignored`, attribute);
    } else found.push([name, value]);
  }
  return found;
}
