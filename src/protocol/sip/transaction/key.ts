/** Keys that match messages to transactions (RFC 3261 §17.1.3, §17.2.3). */

import { MAGIC_COOKIE, sentBy } from '../header/via.ts';
import type { SipRequest, SipResponse } from '../message.ts';

/** A branch is unique only if it has text after the cookie (RFC 4475 §3.2.1). */
const isUnique = (branch: string | undefined): branch is string =>
  branch !== undefined &&
  branch.length > MAGIC_COOKIE.length &&
  branch.slice(0, MAGIC_COOKIE.length).toLowerCase() === MAGIC_COOKIE.toLowerCase();

/** Returns true if the request must be matched by the rules of RFC 2543. */
export const isRfc2543 = (request: SipRequest): boolean => !isUnique(request.via.branch);

/**
 * Key of the server transaction for `request`. An ACK matches its INVITE; with `method` INVITE a CANCEL does too. The
 * RFC 2543 key omits the To tag, because an ACK carries our tag: the caller compares it.
 */
export function serverKey(request: SipRequest, method = request.method): string {
  const name = method === 'ACK' ? 'INVITE' : method;
  const via = request.via;
  if (isUnique(via.branch)) return `${name} ${via.branch.toLowerCase()} ${sentBy(via)}`;
  const { sequence } = request.cseq;
  const tag = request.from.tag ?? '';
  return `2543 ${name} ${request.requestUri} ${tag} ${request.callId} ${sequence} ${viaIdentity(request)}`;
}

/** Topmost Via without the parameters added by the receiver. */
function viaIdentity(request: SipRequest): string {
  const { transport, params, branch } = request.via;
  return `${transport} ${sentBy(request.via)} ${branch ?? ''} ${params.get('maddr') ?? ''}`;
}

/**
 * Key of a client transaction: branch and method. sent-by is omitted because some NAT gateways rewrite it; our branches
 * are unpredictable.
 */
export const clientKey = (message: SipRequest | SipResponse): string =>
  `${message.cseq.method === 'ACK' ? 'INVITE' : message.cseq.method} ${message.topVia?.branch ?? ''}`;

/**
 * Key shared by copies of a request that arrive by different paths (§8.2.2.2): no To tag, same From tag, Call-ID, CSeq.
 */
export const mergeKey = (request: SipRequest): string =>
  `${request.from.tag ?? ''} ${request.callId} ${request.cseq.sequence} ${request.cseq.method}`;
