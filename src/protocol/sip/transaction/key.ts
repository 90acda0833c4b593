/** Which transaction a message belongs to (RFC 3261 §17.1.3, §17.2.3). */

import { MAGIC_COOKIE, sentBy } from '../header/via.ts';
import type { SipRequest, SipResponse } from '../message.ts';

/** A branch is worth comparing only when something follows the cookie (RFC 4475 §3.2.1). */
const isUnique = (branch: string | undefined): branch is string =>
  branch !== undefined &&
  branch.length > MAGIC_COOKIE.length &&
  branch.slice(0, MAGIC_COOKIE.length).toLowerCase() === MAGIC_COOKIE.toLowerCase();

/** True when the request has to be matched by the rules of RFC 2543. */
export const isRfc2543 = (request: SipRequest): boolean => !isUnique(request.via.branch);

/**
 * Key of the server transaction for `request`. An ACK finds its INVITE; with `method` INVITE a CANCEL finds it too.
 * The RFC 2543 key leaves the To tag out, because an ACK carries the one that we chose: the caller compares it.
 */
export function serverKey(request: SipRequest, method = request.method): string {
  const name = method === 'ACK' ? 'INVITE' : method;
  const via = request.via;
  if (isUnique(via.branch)) return `${name} ${via.branch.toLowerCase()} ${sentBy(via)}`;
  const { sequence } = request.cseq;
  const tag = request.from.tag ?? '';
  return `2543 ${name} ${request.requestUri} ${tag} ${request.callId} ${sequence} ${viaIdentity(request)}`;
}

/** The topmost Via without what the receiving side adds to it. */
function viaIdentity(request: SipRequest): string {
  const { transport, params, branch } = request.via;
  return `${transport} ${sentBy(request.via)} ${branch ?? ''} ${params.get('maddr') ?? ''}`;
}

/**
 * Key of a client transaction. By branch and method only: some NAT gateways rewrite sent-by, and a branch of ours is
 * unguessable.
 */
export const clientKey = (message: SipRequest | SipResponse): string =>
  `${message.cseq.method === 'ACK' ? 'INVITE' : message.cseq.method} ${message.topVia?.branch ?? ''}`;

/** Requests that arrive twice by different paths share it (§8.2.2.2): To tag absent, same From tag, Call-ID, CSeq. */
export const mergeKey = (request: SipRequest): string =>
  `${request.from.tag ?? ''} ${request.callId} ${request.cseq.sequence} ${request.cseq.method}`;
