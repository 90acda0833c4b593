import { parseVia, sentBy } from '../header/via.ts';
import type { SipRequest } from '../message.ts';
import { isRfc2543 } from '../transaction/key.ts';
import { type Flow, isSecure, peerOf } from '../transport/flow.ts';
import { METHODS, type Refusal, unfitContent, unmetDemand } from './capabilities.ts';

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
