import { lookup, Resolver } from 'node:dns/promises';
import type { ResolvedAddress } from '../../base/egress.ts';

/** All addresses of a name; rejects with the resolver's error when it has none. */
export type NameResolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

const TIMEOUT_MS = 2000;
const TRIES = 2;

/**
 * Asks the name servers directly: getaddrinfo would block one of the few threads of the process for as long as a dead
 * name server of one customer takes. Names that no server knows may stand in the hosts file, which getaddrinfo reads.
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

/** No name server knows the name or has an address for it, or none is running. Other errors are failures of a server. */
const isUnknownName = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOTFOUND' || error.code === 'ENODATA' || error.code === 'ECONNREFUSED');
