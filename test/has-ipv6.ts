import { networkInterfaces } from 'node:os';

/** True if the machine has the IPv6 loopback address. */
export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
