import ipaddr from 'ipaddr.js';
import { plainRange } from '../../base/host.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';

/** Returns true if an address is in one of the addresses or CIDR ranges. Invalid entries match nothing. */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some((range) => {
    const cidr = range.includes('/') ? plainRange(range) : undefined;
    if (cidr === undefined) {
      return ipaddr.isValid(range) && ipaddr.process(range).toString() === parsed.toString();
    }
    if (!ipaddr.isValidCIDR(cidr)) return false;
    const [network, bits] = ipaddr.parseCIDR(cidr);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}

/** Carrier that calls from this address. */
export const carrierAt = (address: string, carriers: readonly Carrier[]): string | undefined =>
  carriers.find((carrier) => carrier.enabled && inRanges(address, carrier.sourceAddresses))?.name;
