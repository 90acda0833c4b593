/** Where a response goes: RFC 3261 §18.2 with the symmetric routing of RFC 3581. */

import { formatVia } from '../header/via.ts';
import type { SipRequest } from '../message.ts';
import { bracketed, unbracketed } from '../uri.ts';
import { type Flow, isReliable } from './flow.ts';

const DEFAULT_PORT = 5060;

/** IPv4 addresses mapped into IPv6 compare equal to their plain form. */
const plainAddress = (address: string): string =>
  address.includes(':')
    ? unbracketed(address)
        .toLowerCase()
        .replace(/^::ffff:(?=[0-9]+\.)/, '')
    : address.toLowerCase();

/**
 * Notes in the topmost Via where the request really came from: `received` when sent-by says something else
 * (RFC 3261 §18.2.1), `rport` when the client asked for it (RFC 3581 §4).
 */
export function stampVia(request: SipRequest, flow: Flow): SipRequest {
  const via = request.topVia;
  if (via === undefined) return request;
  const source = plainAddress(flow.remoteAddress);
  const asked = via.params.has('rport');
  if (!asked && plainAddress(via.host) === source && !via.params.has('received')) return request;
  const params = new Map(via.params).set('received', source);
  if (asked) params.set('rport', String(flow.remotePort));
  return request.withTopHeader('Via', formatVia({ ...via, params }));
}

/**
 * The flow for the response to a request whose Via has been stamped. A `maddr` is not followed: it is for multicast
 * (RFC 3261 §18.1.1), and would let any sender point our responses at somebody else. With `replyToSource` the source port serves
 * even a client that did not ask for it.
 */
export function responseFlow(request: SipRequest, flow: Flow, replyToSource: boolean): Flow {
  const via = request.topVia;
  if (via === undefined || isReliable(flow.transport)) return flow;
  if (replyToSource || via.params.has('rport')) return flow;
  return { ...flow, remotePort: via.port ?? DEFAULT_PORT };
}

/**
 * Where to open a connection for a response when the request's own is gone (§18.2.2): the `received` address
 * with the port of sent-by.
 */
export function responseFallback(request: SipRequest): { host: string; port: number } | undefined {
  const via = request.topVia;
  if (via === undefined) return undefined;
  const host = via.params.get('received') ?? via.host;
  const secure = via.transport === 'TLS' || via.transport === 'WSS';
  return { host: bracketed(host), port: via.port ?? (secure ? DEFAULT_PORT + 1 : DEFAULT_PORT) };
}
