/** Address family of an outbound target, for the address in our SDP offer. */
import { isIP, isIPv6 } from 'node:net';
import type { OutboundTarget, SipAddresses } from '../../domain/call/needs.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import type { Binding } from '../../domain/registration/types.ts';
import type { AddressFamily } from '../../protocol/sdp/sdp.ts';

interface Known {
  readonly contacts: (username: string) => readonly Pick<Binding, 'flow'>[];
  readonly carriers: () => readonly Pick<Carrier, 'name' | 'host'>[];
  readonly addresses: Pick<SipAddresses, 'read'>;
}

/**
 * Returns the address family of the target's signalling. IPv6 for an endpoint only if all contacts use it, because they
 * share one offer. Undefined for host names.
 */
export function familyOfTarget(target: OutboundTarget, known: Known): AddressFamily | undefined {
  if (target.kind === 'endpoint') {
    const contacts = known.contacts(target.username);
    const isOver6 = contacts.length > 0 && contacts.every(({ flow }) => isIPv6(flow.address));
    return isOver6 ? 'IP6' : 'IP4';
  }
  const host =
    target.kind === 'carrier'
      ? known.carriers().find(({ name }) => name === target.carrier)?.host
      : known.addresses.read(target.uri)?.host;
  return familyOfHost((host ?? '').replace(/^\[(.*)\]$/, '$1'));
}

function familyOfHost(host: string): AddressFamily | undefined {
  const version = isIP(host);
  if (version === 0) return undefined;
  return version === 6 ? 'IP6' : 'IP4';
}
