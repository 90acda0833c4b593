/**
 * Parses bytes to messages (RFC 3261 §7): start line and header index. Typed headers are parsed on first access. A
 * failure contains the status, the reason and, if an answer is possible, the request to answer.
 */
import { headerKey, knownHeaderKey } from './header/names.ts';
import { isToken, parseDecimal, trimmed } from './header/text.ts';
import { parseVia } from './header/via.ts';
import { type HeaderField, NO_BODY, type SipMessage, SipRequest, SipResponse } from './message.ts';

/** Maximum message size in bytes: the limit of a UDP datagram, also applied to streams. */
export const MAX_MESSAGE_BYTES = 65_535;
export const MAX_HEADER_FIELDS = 256;
/** Maximum length of one header line including folds, in UTF-16 units. */
export const MAX_HEADER_LENGTH = 32_768;

export interface ParseFailure {
  /** Status of the answer: 400, 505 or 513. */
  readonly status: number;
  /** Reason phrase that describes the error to the sender. */
  readonly reason: string;
  /** Parts of the request needed by `createResponse`, or undefined if no answer is possible or allowed. */
  readonly respondable: SipRequest | undefined;
}

export type ParseResult =
  | { readonly ok: true; readonly message: SipMessage }
  | { readonly ok: false; readonly error: ParseFailure };

/** Parses one datagram, or one message from the stream framer. */
export function parseMessage(bytes: Uint8Array): ParseResult {
  const buffer = asBuffer(bytes);
  if (buffer.length > MAX_MESSAGE_BYTES) return failure(513, 'Message Too Large');
  const start = skipLeadingBreaks(buffer);
  const bodyAt = endOfHead(buffer, start);
  const head = decodeHead(buffer, start, bodyAt ?? buffer.length);
  const lineEnd = head.indexOf('\n');
  const startLine = withoutCr(lineEnd === -1 ? head : head.slice(0, lineEnd));
  const headers = readFields(head, lineEnd === -1 ? head.length : lineEnd + 1);

  const first = readStartLine(startLine);
  if (first.kind === 'bad') {
    return failure(first.status, first.reason, respondable(first.method, headers));
  }
  const body = headers.fault ?? readBody(headers.fields, buffer, bodyAt);
  if (typeof body === 'string') {
    const method = first.kind === 'request' ? first.method : undefined;
    return failure(400, body, respondable(method, headers));
  }
  const message =
    first.kind === 'request'
      ? new SipRequest(first.method, first.requestUri, headers.fields, body)
      : new SipResponse(first.status, first.reason, headers.fields, body);
  return { ok: true, message };
}

const failure = (status: number, reason: string, respondable?: SipRequest): ParseResult => ({
  ok: false,
  error: { status, reason, respondable },
});

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const CR = 13;
const LF = 10;
const COLON = 58;

/**
 * Returns whether a datagram only keeps a NAT binding open: line breaks (RFC 5626 §3.5.1), zero bytes or an empty
 * datagram.
 */
export const isKeepAlive = (bytes: Uint8Array): boolean =>
  bytes.length <= 4 && bytes.every((byte) => byte === CR || byte === LF || byte === 0);

/** Skips empty lines before the start line (§7.5). */
function skipLeadingBreaks(buffer: Buffer): number {
  let at = 0;
  while (buffer[at] === CR || buffer[at] === LF) at += 1;
  return at;
}

/**
 * Index of the first body byte: after the first empty line at or after `from`. Undefined if there is none yet. A line
 * may end in a bare LF, as hand-written clients do.
 */
export function endOfHead(buffer: Buffer, from: number): number | undefined {
  const usual = buffer.indexOf(EMPTY_LINE, from);
  const bare = buffer.indexOf(BARE_EMPTY_LINE, from);
  if (bare !== -1 && (usual === -1 || bare < usual)) return bare + BARE_EMPTY_LINE.length;
  return usual === -1 ? undefined : usual + EMPTY_LINE.length;
}

const EMPTY_LINE = Buffer.from('\n\r\n');
const BARE_EMPTY_LINE = Buffer.from('\n\n');

/** Decodes headers as UTF-8 (§7.3.1), or as Latin-1 if invalid, because old exchanges use Latin-1. */
function decodeHead(buffer: Buffer, start: number, end: number): string {
  const text = buffer.toString('utf8', start, end);
  const isOther = text.includes('\ufffd') && !buffer.subarray(start, end).includes(REPLACEMENT);
  return isOther ? buffer.toString('latin1', start, end) : text;
}

const REPLACEMENT = Buffer.from('\ufffd', 'utf8');

const withoutCr = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

type StartLine =
  | { readonly kind: 'request'; readonly method: string; readonly requestUri: string }
  | { readonly kind: 'response'; readonly status: number; readonly reason: string }
  | {
      readonly kind: 'bad';
      readonly status: number;
      readonly reason: string;
      readonly method: string | undefined;
    };

const VERSION = 'SIP/2.0';

/** Reads the start line (§7.1, §7.2) with exactly one SP between its elements. */
function readStartLine(line: string): StartLine {
  if (/^SIP\//i.test(line)) return readStatusLine(line);
  const first = line.indexOf(' ');
  const last = line.lastIndexOf(' ');
  const name = line.slice(0, Math.max(first, 0));
  const method = isToken(name) ? name : undefined;
  if (method === undefined || last === first) return bad(400, 'Malformed Request-Line', method);
  const requestUri = line.slice(first + 1, last);
  const version = line.slice(last + 1);
  if (version !== VERSION) {
    if (!/^SIP\/[0-9]+\.[0-9]+$/i.test(version)) return bad(400, 'Malformed Request-Line', method);
    if (version.toUpperCase() !== VERSION) return bad(505, 'Version Not Supported', method);
  }
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]+$/.test(requestUri)) {
    return bad(400, 'Malformed Request-URI', method);
  }
  return { kind: 'request', method, requestUri };
}

const bad = (status: number, reason: string, method: string | undefined): StartLine => ({
  kind: 'bad',
  status,
  reason,
  method,
});

function readStatusLine(line: string): StartLine {
  const match = /^SIP\/2\.0 ([1-6][0-9]{2})(?: (.*))?$/is.exec(line);
  if (match === null) return bad(400, 'Malformed Status-Line', undefined);
  return { kind: 'response', status: Number(match[1]), reason: match[2] ?? '' };
}

interface HeaderSection {
  readonly fields: HeaderField[];
  /** First error. The fields before and after it are kept for the answer. */
  readonly fault: string | undefined;
}

/** Reads header lines and unfolds continuations (§7.3.1) into one space. */
function readFields(head: string, from: number): HeaderSection {
  const fields: HeaderField[] = [];
  let fault: string | undefined;
  let at = from;
  while (at < head.length) {
    const lineStart = at;
    let end = endOfLine(head, at);
    const textEnd = withoutCrAt(head, at, end);
    if (textEnd === at) break;
    at = end + 1;
    let folded: string | undefined;
    for (let next = head.charCodeAt(at); next === 32 || next === 9; next = head.charCodeAt(at)) {
      end = endOfLine(head, at);
      folded ??= head.slice(lineStart, textEnd);
      folded += ` ${trimmed(head, at, withoutCrAt(head, at, end))}`;
      at = end + 1;
    }
    if (at - lineStart > MAX_HEADER_LENGTH) fault ??= 'Header Field Too Long';
    else if (fields.length === MAX_HEADER_FIELDS)
      return { fields, fault: 'Too Many Header Fields' };
    else {
      const field =
        folded === undefined
          ? readField(head, lineStart, textEnd)
          : readField(folded, 0, folded.length);
      if (field === undefined) fault ??= 'Malformed Header Field';
      else fields.push(field);
    }
  }
  return { fields, fault };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** End of the line from `start` to `end` without its CR. */
const withoutCrAt = (text: string, start: number, end: number): number =>
  end > start && text.charCodeAt(end - 1) === CR ? end - 1 : end;

/** Parses the line between two offsets without creating strings that are not kept. */
function readField(text: string, start: number, end: number): HeaderField | undefined {
  let colon = start;
  while (colon < end && text.charCodeAt(colon) !== COLON) colon += 1;
  if (colon === start || colon === end) return undefined;
  // A continuation without a line to continue.
  if (text.charCodeAt(start) === 32 || text.charCodeAt(start) === 9) return undefined;
  const name = trimmed(text, start, colon);
  const value = trimmed(text, colon + 1, end);
  // A lone CR could become a line break when the value is copied, and thus forge a header.
  if (value.includes('\r')) return undefined;
  const known = knownHeaderKey(name);
  if (known !== undefined) return { name, key: known, value };
  return isToken(name) ? { name, key: headerKey(name), value } : undefined;
}

/**
 * Body of a datagram (§18.3): a longer datagram is cut to Content-Length, a shorter one is an error. Without
 * Content-Length the body extends to the end. `validateRequest` checks repeated values.
 */
function readBody(
  fields: readonly HeaderField[],
  buffer: Buffer,
  bodyAt: number | undefined,
): Uint8Array | string {
  if (bodyAt === undefined) return 'Header Section Not Terminated';
  const rest = buffer.length - bodyAt;
  let length: number | undefined;
  for (const field of fields) {
    if (field.key !== 'content-length') continue;
    const value = parseDecimal(field.value, MAX_MESSAGE_BYTES);
    if (value === undefined) return 'Malformed Content-Length';
    if (length !== undefined && length !== value) return buffer.subarray(bodyAt);
    length = value;
  }
  length ??= rest;
  if (length > rest) return 'Content-Length Larger Than Message';
  return length === 0 ? NO_BODY : buffer.subarray(bodyAt, bodyAt + length);
}

/** Request for the answer to a malformed request; its Request-URI is empty. */
const respondable = (method: string | undefined, headers: HeaderSection): SipRequest | undefined =>
  method === undefined ? undefined : answerable(new SipRequest(method, '', headers.fields));

/**
 * Returns the parts of the request needed for an answer. Undefined for an ACK (§17) or without a Via (§18.2.2). A
 * malformed topmost Via is cut to its valid beginning, so that the sender still receives a 400.
 */
export function answerable(request: SipRequest): SipRequest | undefined {
  if (request.method === 'ACK') return undefined;
  if (request.topVia !== undefined) return request;
  const beginning = /^[^;,]*/.exec(request.header('via') ?? '')?.[0].trim() ?? '';
  return parseVia(beginning) === undefined ? undefined : request.withTopHeader('Via', beginning);
}
