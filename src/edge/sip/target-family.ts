/** Address family of an outbound target, for the address in our SDP offer. */
import { isIPv6 } from 'node:net';
import type { OutboundTarget } from '../../domain/call/needs.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import type { Binding } from '../../domain/registration/types.ts';
import type { AddressFamily } from '../../protocol/sdp/sdp.ts';
import { nextHopOf, type Target, type TargetQuery } from '../../protocol/sip/sip.ts';
import { carrierTransport, carrierUri } from './carrier-watch.ts';

interface Known {
  readonly contacts: (username: string) => readonly Pick<Binding, 'flow'>[];
  readonly carriers: () => readonly Carrier[];
  /** Resolves a host name. Undefined if all peers use one family. */
  readonly resolve: ((query: TargetQuery) => Promise<readonly Target[]>) | undefined;
}

/**
 * Returns the address family of the target's signalling: IPv6 only if all contacts of an endpoint, or all addresses of
 * a host name, use it, because they share one offer. Undefined if it is unknown.
 */
export function familyOfTarget(
  target: OutboundTarget,
  known: Known,
): AddressFamily | undefined | Promise<AddressFamily | undefined> {
  if (target.kind === 'endpoint') {
    const contacts = known.contacts(target.username);
    return familyOfAll(contacts.map(({ flow }) => flow.address)) ?? 'IP4';
  }
  const hop = hopOf(target, known.carriers());
  if (hop?.kind === 'target') return familyOfAll([hop.target.address]);
  if (hop === undefined || known.resolve === undefined) return undefined;
  return known
    .resolve(hop.query)
    .then((targets) => familyOfAll(targets.map(({ address }) => address)));
}

function hopOf(
  target: Exclude<OutboundTarget, { kind: 'endpoint' }>,
  carriers: readonly Carrier[],
): ReturnType<typeof nextHopOf> {
  if (target.kind === 'uri') return nextHopOf(target.uri, target.transport);
  const carrier = carriers.find(({ name }) => name === target.carrier);
  return carrier && nextHopOf(carrierUri(carrier), carrierTransport(carrier));
}

/** Undefined without addresses. */
const familyOfAll = (addresses: readonly string[]): AddressFamily | undefined =>
  addresses.length === 0
    ? undefined
    : addresses.every((address) => isIPv6(address))
      ? 'IP6'
      : 'IP4';
