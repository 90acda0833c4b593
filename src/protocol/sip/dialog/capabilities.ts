import { parseMediaType, parseTokenWithParams } from '../header/values.ts';
import { parseVia, sentBy } from '../header/via.ts';
import type { HeaderInit, ResponseParts, SipMessage, SipRequest } from '../message.ts';
import { EVENT_PACKAGES } from '../subscription/event-body.ts';
import { isRfc2543 } from '../transaction/key.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
import { isSecure } from '../types.ts';
import { isMultipart, partOf } from './multipart.ts';

export const SDP_TYPE = 'application/sdp';

/** Session description of a message: its body, or a part of a multipart body (RFC 5621 §3.1). */
export function sdpOf(message: SipMessage): string | undefined {
  if (message.body.length === 0) return undefined;
  const type = message.contentType;
  if (type?.essence === SDP_TYPE) return message.bodyText;
  return isMultipart(type) ? partOf(message.bodyText, type, SDP_TYPE) : undefined;
}

/** Capabilities of this user agent and its refusals of unsupported requests (RFC 3261 §8.2). */

const METHODS: readonly string[] = [
  ...['INVITE', 'ACK', 'CANCEL', 'BYE', 'OPTIONS', 'INFO', 'UPDATE', 'PRACK', 'REFER', 'MESSAGE'],
  ...['SUBSCRIBE', 'NOTIFY'],
];
const EXTENSIONS: readonly string[] = ['timer', '100rel', 'norefersub', 'replaces', 'tdialog'];
const REGISTER_EXTENSIONS: readonly string[] = ['path', 'outbound'];
const INFO_TYPES: readonly string[] = ['application/dtmf-relay', 'application/dtmf'];

export const ALLOW: HeaderInit = [['Allow', METHODS.join(', ')]];
const SUPPORTED: HeaderInit = [['Supported', EXTENSIONS.join(', ')]];
/** Header fields of each INVITE and its 2xx. */
export const ALLOWED_AND_SUPPORTED: HeaderInit = [...ALLOW, ...SUPPORTED];
/**
 * Header fields of an INVITE without an offer. It omits 100rel, because a reliable response would need an answer in
 * PRACK.
 */
export const ALLOWED_AND_SUPPORTED_UNRELIABLY: HeaderInit = [
  ...ALLOW,
  ['Supported', EXTENSIONS.filter((tag) => tag !== '100rel').join(', ')],
];
/** Header fields of an answer to OPTIONS and of a 2xx to INVITE (§11.2, §13.2.1). */
export const CAPABILITIES: HeaderInit = [
  ...ALLOW,
  ...SUPPORTED,
  ['Accept', SDP_TYPE],
  ['Accept-Encoding', 'identity'],
  ['Accept-Language', 'en'],
  ['Allow-Events', EVENT_PACKAGES.join(', ')],
];

/** Status of a refusal and the header fields that the peer needs. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderInit;
  readonly why: string;
  readonly reason?: string;
}

const refusal = (status: number, why: string, headers: HeaderInit = []): Refusal => ({
  status,
  headers,
  why,
});

/** Refuses unsupported required extensions with 420 (§8.2.2.3). */
function unmetDemand(request: SipRequest): Refusal | undefined {
  const known = request.method === 'REGISTER' ? REGISTER_EXTENSIONS : EXTENSIONS;
  const unmet = request.list('require').filter((tag) => !known.includes(tag.toLowerCase()));
  if (unmet.length === 0) return undefined;
  return refusal(420, 'extension required', [['Unsupported', unmet.join(', ')]]);
}

/** Refuses an unsupported body (415, §8.2.3), or a request whose sender accepts no SDP (406, §21.4.7). */
function unfitContent(request: SipRequest): Refusal | undefined {
  const { method } = request;
  if (method === 'MESSAGE') return unfitText(request);
  if (method !== 'INVITE' && method !== 'UPDATE') return undefined;
  const encodings = request.tokens('content-encoding').filter((name) => name !== 'identity');
  if (encodings.length > 0) {
    return refusal(415, 'content encoding', [['Accept-Encoding', 'identity']]);
  }
  if (request.body.length > 0 && sdpOf(request) === undefined && !isOptional(request)) {
    return refusal(415, 'content type', [['Accept', SDP_TYPE]]);
  }
  if (!acceptsSdp(request)) return refusal(406, 'accepts no SDP', [['Accept', SDP_TYPE]]);
  return undefined;
}

/** Content types of a MESSAGE (RFC 3428 §7): text, CPIM and typing notifications. */
const TEXT_TYPES: readonly string[] = [
  ...['message/cpim', 'message/imdn+xml', 'application/im-iscomposing+xml'],
];
const ACCEPTED_TEXT = ['text/plain', 'text/html', 'text/*', ...TEXT_TYPES].join(', ');

function unfitText(request: SipRequest): Refusal | undefined {
  const encodings = request.tokens('content-encoding').filter((name) => name !== 'identity');
  if (encodings.length > 0) {
    return refusal(415, 'content encoding', [['Accept-Encoding', 'identity']]);
  }
  const type = parseMediaType(request.header('content-type') ?? 'text/plain')?.essence ?? '';
  if (type.startsWith('text/') || TEXT_TYPES.includes(type)) return undefined;
  return refusal(415, 'content type', [['Accept', ACCEPTED_TEXT]]);
}

function isOptional(request: SipRequest): boolean {
  const disposition = parseTokenWithParams(request.header('content-disposition') ?? '');
  return disposition?.params.get('handling')?.toLowerCase() === 'optional';
}

function acceptsSdp(request: SipRequest): boolean {
  const ranges = request.list('accept');
  if (request.header('accept') === undefined) return true;
  const wanted = [SDP_TYPE, 'application/*', '*/*'];
  return ranges.some((range) => wanted.includes(parseMediaType(range)?.essence ?? ''));
}

/** Supported methods including REGISTER. */
const SERVED: ReadonlySet<string> = new Set([...METHODS, 'REGISTER']);

/**
 * Checks a valid request before authentication, in the order of RFC 3261 §8.2. Inside a dialog, the Request-URI is our
 * Contact and Max-Forwards is ignored.
 */
export function screen(
  request: SipRequest,
  inDialog: boolean,
  localSentBys: ReadonlySet<string>,
): Refusal | undefined {
  const { method } = request;
  if (!SERVED.has(method)) {
    const headers = [['Allow', [...SERVED].join(', ')]] as const;
    return { status: 405, headers, why: 'method' };
  }
  if (method === 'INVITE' && request.contact === undefined && !isRfc2543(request)) {
    return { status: 400, headers: [], why: 'no Contact', reason: 'Missing Contact' };
  }
  if (!inDialog) {
    const strange = strangeAddress(request) ?? spent(request, localSentBys);
    if (strange !== undefined) return strange;
  }
  return unmetDemand(request) ?? unfitContent(request);
}

/** Warning of RFC 5630 §6.3: the scheme is not allowed for this request. */
const SIPS_NOT_ALLOWED = [['Warning', '380 carillon "SIPS Not Allowed"']] as const;

/** Refuses a `sips:` request received without TLS, because it was not protected in transit (RFC 5630 §3.3, §5.3). */
export function insecure({ uri }: SipRequest, flow: Flow): Refusal | undefined {
  if (uri.kind !== 'sip' || !uri.secure || isSecure(peerOf(flow).transport)) return undefined;
  return { status: 416, headers: SIPS_NOT_ALLOWED, why: 'sips without TLS' };
}

/** Refuses unsupported URI schemes: 416 for the Request-URI (§8.2.2.1), 400 for the address of record (§10.3). */
function strangeAddress(request: SipRequest): Refusal | undefined {
  if (request.uri.kind === 'other') return { status: 416, headers: [], why: 'URI scheme' };
  if (request.method === 'REGISTER' && request.to.uri.kind !== 'sip') {
    return { status: 400, headers: [], why: 'address of record is not a SIP URI' };
  }
  return undefined;
}

/** Checks hops (§16.3 step 3) and loops (§16.3 step 4) of an INVITE, because the service may forward it. */
function spent(request: SipRequest, localSentBys: ReadonlySet<string>): Refusal | undefined {
  if (request.method !== 'INVITE') return undefined;
  if (request.maxForwards === 0) return { status: 483, headers: [], why: 'no hops left' };
  if (isLoop(request, localSentBys)) return { status: 482, headers: [], why: 'loop' };
  return undefined;
}

const MARK_LENGTH = 8;
/** FNV-1a parameters. 32 bits are sufficient, because only requests with a Via of ours are compared. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Branch marker derived from the Request-URI. A request that returns with the same URI is a loop (RFC 3261 §16.6 step
 * 8); with another URI it is a spiral, which is allowed.
 */
export function loopMark(requestUri: string): string {
  let mark = FNV_OFFSET;
  for (let at = 0; at < requestUri.length; at += 1) {
    mark = Math.imul(mark ^ requestUri.charCodeAt(at), FNV_PRIME);
  }
  return (mark >>> 0).toString(16).padStart(MARK_LENGTH, '0');
}

/** Returns true if our own request came back unchanged. `localSentBys` contains the `host:port` of our Vias. */
function isLoop(request: SipRequest, localSentBys: ReadonlySet<string>): boolean {
  return request.list('via').some((text) => {
    const via = parseVia(text);
    if (via === undefined || !localSentBys.has(sentBy(via))) return false;
    return via.branch?.endsWith(`.${loopMark(request.requestUri)}`) === true;
  });
}

/** SIP INFO in a dialog: DTMF of the kind used before RFC 4733. */

/** A keypad digit received by SIP INFO. */
export interface InfoDigit {
  readonly digit: string;
  readonly durationMs: number;
}

export const DTMF_RELAY = 'application/dtmf-relay';
const DTMF = 'application/dtmf';

const DEFAULT_DURATION_MS = 250;
const MAX_DURATION_MS = 10_000;
/** Event numbers of RFC 4733 §3.2, which some phones send instead of `*`, `#` and A-D. */
const BY_NUMBER: Readonly<Record<string, string>> = {
  '10': '*',
  '11': '#',
  '12': 'A',
  '13': 'B',
  '14': 'C',
  '15': 'D',
};

const key = (text: string): string | undefined => {
  const upper = text.trim().toUpperCase();
  return /^[0-9*#A-D]$/.test(upper) ? upper : BY_NUMBER[upper];
};

/** Parses `Signal=5 / Duration=160` (application/dtmf-relay) or a bare key (application/dtmf). */
function readInfoDigit(request: SipRequest): InfoDigit | undefined {
  const text = request.bodyText;
  if (request.contentType?.essence === DTMF) {
    const digit = key(text.split(/[\r\n]/)[0] ?? '');
    return digit === undefined ? undefined : { digit, durationMs: DEFAULT_DURATION_MS };
  }
  const digit = key(/^[ \t]*signal[ \t]*=([^\r\n]*)/im.exec(text)?.[1] ?? '');
  const duration = Number(/^[ \t]*duration[ \t]*=[ \t]*(\d{1,6})/im.exec(text)?.[1] ?? '');
  if (digit === undefined) return undefined;
  const durationMs = duration > 0 ? Math.min(duration, MAX_DURATION_MS) : DEFAULT_DURATION_MS;
  return { digit, durationMs };
}

export const writeInfoDigit = (digit: string, durationMs: number): string =>
  `Signal=${digit}\r\nDuration=${durationMs}\r\n`;

/** Response to an INFO. Info Packages of RFC 6086 are unsupported (469, §4.2.2). */
export function answerInfo(request: SipRequest): {
  readonly status: number;
  readonly parts?: ResponseParts;
  readonly press?: InfoDigit;
} {
  if (request.header('info-package') !== undefined) {
    return { status: 469, parts: { reason: 'Bad Info Package' } };
  }
  if (request.body.length === 0) return { status: 200 };
  if (!INFO_TYPES.includes(request.contentType?.essence ?? '')) {
    return { status: 415, parts: { headers: [['Accept', INFO_TYPES.join(', ')]] } };
  }
  const press = readInfoDigit(request);
  return press === undefined ? { status: 400 } : { status: 200, press };
}
