/** Capabilities of this user agent and its refusals of unsupported requests (RFC 3261 §8.2). */
import { parseMediaType, parseTokenWithParams } from '../header/values.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import { EVENT_PACKAGES } from '../subscription/event-body.ts';
import { SDP_TYPE, sdpOf } from './sdp-body.ts';

export const METHODS: readonly string[] = [
  ...['INVITE', 'ACK', 'CANCEL', 'BYE', 'OPTIONS', 'INFO', 'UPDATE', 'PRACK', 'REFER', 'MESSAGE'],
  ...['SUBSCRIBE', 'NOTIFY'],
];
const EXTENSIONS: readonly string[] = ['timer', '100rel', 'norefersub', 'replaces', 'tdialog'];
const REGISTER_EXTENSIONS: readonly string[] = ['path', 'outbound'];
export const INFO_TYPES: readonly string[] = ['application/dtmf-relay', 'application/dtmf'];

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
export function unmetDemand(request: SipRequest): Refusal | undefined {
  const known = request.method === 'REGISTER' ? REGISTER_EXTENSIONS : EXTENSIONS;
  const unmet = request.list('require').filter((tag) => !known.includes(tag.toLowerCase()));
  if (unmet.length === 0) return undefined;
  return refusal(420, 'extension required', [['Unsupported', unmet.join(', ')]]);
}

/** Refuses an unsupported body (415, §8.2.3), or a request whose sender accepts no SDP (406, §21.4.7). */
export function unfitContent(request: SipRequest): Refusal | undefined {
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
