import { lookup, Resolver } from 'node:dns/promises';
import type { ResolvedAddress } from '../../base/egress.ts';

/** Resolves all addresses of a name. Rejects with the resolver's error if it has none. */
export type NameResolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const TIMEOUT_MS = 2000;
const TRIES = 2;

/**
 * Queries the name servers directly: getaddrinfo would block one of the few threads of the process while a customer's
 * name server does not respond. Names unknown to the name servers are looked up by getaddrinfo, which reads the hosts file.
 */
export const systemResolver: NameResolver = async (hostname) => {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const isLocalName = !hostname.includes('.') || hostname.endsWith('.localhost');
  if (!isLocalName) {
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value : []).map(ofFamily(4)),
      ...(six.status === 'fulfilled' ? six.value : []).map(ofFamily(6)),
    ];
    if (addresses.length > 0) return addresses;
    if (four.status === 'rejected' && !isUnknownName(four.reason)) throw four.reason;
  }
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => ofFamily(family === 6 ? 6 : 4)(address));
};

const ofFamily =
  (family: 4 | 6) =>
  (address: string): ResolvedAddress => ({ address, family });

/** Whether the name has no address in DNS, or no name server is running. Other errors are server failures. */
const isUnknownName = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOTFOUND' || error.code === 'ENODATA' || error.code === 'ECONNREFUSED');
