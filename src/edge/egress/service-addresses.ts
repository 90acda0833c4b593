/** The addresses and ports of this service: no customer may have anything sent to them. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { plainAddress } from './address-policy.ts';
import type { OwnPlaces } from './destination-guard.ts';
import { type NameResolver, systemResolver } from './system-resolver.ts';

export interface ServiceAddressesOptions {
  /** What it is bound to and what it is called outside: addresses and names. */
  readonly hosts: readonly string[];
  /** Of a listener; asked late: the system may have chosen it. */
  readonly isPort: (port: number) => boolean;
  readonly isRtpOfLeg: (port: number) => boolean;
  readonly rtpRange: { readonly min: number; readonly max: number };
  readonly monotonicMs: () => number;
  readonly resolver?: NameResolver;
}

/** How long the addresses found are used: interfaces and names change, but looking them up takes time. */
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
        // A name that cannot be resolved now keeps the addresses that it had.
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
