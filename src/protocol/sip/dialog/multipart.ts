/** Multipart bodies (RFC 2046 §5.1, RFC 5621). */
import { unquote } from '../header/text.ts';
import { type MediaType, parseMediaType } from '../header/values.ts';

/** Maximum number of parts read from a multipart body. */
const MAX_PARTS = 16;
/** Maximum depth of multipart bodies inside each other. */
const MAX_DEPTH = 3;
/** Maximum length of a boundary (RFC 2046 §5.1.1). */
const MAX_BOUNDARY = 70;
/** Some peers end their lines with a line feed only. */
const END_OF_HEAD = /\r?\n\r?\n/;
const EARLY_SESSION = /^content-disposition[ \t]*:[ \t]*early-session\b/im;

/**
 * Returns the first part of that media type, also in a multipart part, or undefined. Descriptions of early sessions (RFC
 * 3959) are skipped.
 */
export function partOf(
  text: string,
  type: MediaType,
  wanted: string,
  depth = 1,
): string | undefined {
  const boundary = unquote(type.params.get('boundary') ?? '');
  if (boundary === '' || boundary.length > MAX_BOUNDARY || depth > MAX_DEPTH) return undefined;
  for (const part of partsOf(text, boundary)) {
    const headEnd = END_OF_HEAD.exec(part);
    if (headEnd === null) continue;
    const head = part.slice(0, headEnd.index).replace(/\r?\n[ \t]+/g, ' ');
    const body = part.slice(headEnd.index + headEnd[0].length);
    const named = /^content-type[ \t]*:[ \t]*([^\r\n]+)/im.exec(head)?.[1];
    const inner = named === undefined ? undefined : parseMediaType(named.trim());
    if (inner?.essence === wanted && !EARLY_SESSION.test(head)) return body;
    const found = isMultipart(inner) ? partOf(body, inner, wanted, depth + 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

export const isMultipart = (type: MediaType | undefined): type is MediaType =>
  type?.essence.startsWith('multipart/') === true;

/** Parts between the delimiter lines, without preamble and epilogue. Each starts with a line break. */
function partsOf(text: string, boundary: string): readonly string[] {
  const quoted = boundary.replace(/[^A-Za-z0-9]/g, '\\$&');
  const delimiter = new RegExp(`(?:^|\\r?\\n)--${quoted}(--)?[ \\t]*(?=\\r?\\n|$)`, 'g');
  const parts: string[] = [];
  let start: number | undefined;
  for (const found of text.matchAll(delimiter)) {
    if (start !== undefined) parts.push(text.slice(start, found.index));
    if (found[1] !== undefined || parts.length === MAX_PARTS) return parts;
    start = found.index + found[0].length;
  }
  // Some peers omit the last delimiter.
  return start === undefined ? parts : [...parts, text.slice(start)];
}
