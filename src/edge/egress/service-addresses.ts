/** Addresses and ports of this service, which customers may not use as a destination. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { plainAddress } from './address-policy.ts';
import type { OwnPlaces } from './destination-guard.ts';
import { type NameResolver, systemResolver } from './system-resolver.ts';

export interface ServiceAddressesOptions {
  /** Bound addresses, and public addresses and names. */
  readonly hosts: readonly string[];
  /** Whether a listener uses this port. Evaluated late, because the system may choose the port. */
  readonly isPort: (port: number) => boolean;
  readonly isRtpOfLeg: (port: number) => boolean;
  readonly rtpRange: { readonly min: number; readonly max: number };
  readonly monotonicMs: () => number;
  readonly resolver?: NameResolver;
}

/** Time for which resolved addresses are reused, ms. Interfaces and names change, but lookups take time. */
const FRESH_MS = 30_000;

export function createServiceAddresses(options: ServiceAddressesOptions): OwnPlaces {
  const { hosts, resolver = systemResolver } = options;
  const names = hosts.filter((host) => isIP(host) === 0 && host !== '');
  const fixed = hosts.filter((host) => isIP(host) !== 0).map(plainAddress);
  const ofNames = new Map<string, readonly string[]>();
  let addresses: ReadonlySet<string> = new Set();
  let freshUntilMs = Number.NEGATIVE_INFINITY;

  const collect = (): void => {
    const ofInterfaces = Object.values(networkInterfaces()).flatMap((rows) => rows ?? []);
    const found = [...ofInterfaces.map(({ address }) => address), ...[...ofNames.values()].flat()];
    addresses = new Set([...fixed, ...found.map(plainAddress)]);
  };
  const refresh = (): void => {
    if (options.monotonicMs() < freshUntilMs) return;
    freshUntilMs = options.monotonicMs() + FRESH_MS;
    collect();
    for (const name of names) {
      resolver(name).then(
        (rows) => {
          ofNames.set(
            name,
            rows.map(({ address }) => address),
          );
          collect();
        },
        // A name that cannot be resolved keeps its previous addresses.
        () => undefined,
      );
    }
  };
  refresh();
  return {
    isAddress: (address) => {
      refresh();
      return addresses.has(plainAddress(address));
    },
    isListening: (port) => options.isPort(port) || options.isRtpOfLeg(port),
    isRtpRange: (port) => port >= options.rtpRange.min && port <= options.rtpRange.max + 1,
  };
}
