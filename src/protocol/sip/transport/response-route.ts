/**
 * Routes responses: RFC 3261 §18.2 with the symmetric routing of RFC 3581. If the connection of a request has closed, its
 * responses are dropped: no new connection is opened to the sender's address (§18.2.2 recommends one), because the sender
 * chooses its port.
 */

import { unbracketed, withoutZone } from '../../../base/host.ts';
import { formatVia } from '../header/via.ts';
import type { SipRequest } from '../message.ts';
import { isReliable } from '../types.ts';
import type { Flow } from './flow.ts';

const DEFAULT_PORT = 5060;

/** Plain form of an IPv4-mapped IPv6 address, for comparison. */
const plainAddress = (address: string): string =>
  address.includes(':')
    ? unbracketed(address)
        .toLowerCase()
        .replace(/^::ffff:(?=[0-9]+\.)/, '')
    : address.toLowerCase();

/**
 * Records the source in the topmost Via: `received` if sent-by differs (RFC 3261 §18.2.1), `rport` if the client
 * requested it (RFC 3581 §4).
 */
export function stampVia(request: SipRequest, flow: Flow): SipRequest {
  const via = request.topVia;
  if (via === undefined) return request;
  const source = plainAddress(withoutZone(flow.remoteAddress));
  const requested = via.params.has('rport');
  if (!requested && plainAddress(via.host) === source && !via.params.has('received'))
    return request;
  const params = new Map(via.params).set('received', source);
  if (requested) params.set('rport', String(flow.remotePort));
  return request.withTopHeader('Via', formatVia({ ...via, params }));
}

/**
 * Flow for the response to a request whose Via has been stamped. `maddr` is ignored: it is for multicast (RFC 3261
 * §18.1.1), and a sender could redirect responses with it. With `replyToSource`, the source port is used even without
 * rport.
 */
export function responseFlow(request: SipRequest, flow: Flow, replyToSource: boolean): Flow {
  const via = request.topVia;
  if (via === undefined || isReliable(flow.transport)) return flow;
  if (replyToSource || via.params.has('rport')) return flow;
  return { ...flow, remotePort: via.port ?? DEFAULT_PORT };
}
