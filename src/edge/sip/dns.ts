import { lookup, Resolver } from 'node:dns/promises';

export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly service: string;
  readonly replacement: string;
}

export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly name: string;
  readonly port: number;
}

/** DNS queries of RFC 3263. An empty result means that there are no records. Rejections count as empty. */
export interface Dns {
  naptr(name: string): Promise<readonly NaptrRecord[]>;
  srv(name: string): Promise<readonly SrvRecord[]>;
  /** IPv4 and IPv6 addresses of a name. */
  addresses(name: string): Promise<readonly string[]>;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Queries the system's name servers, then the hosts file for unknown names. */
export function systemDns(): Dns {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return {
    naptr: (name) => resolver.resolveNaptr(name),
    srv: (name) => resolver.resolveSrv(name),
    async addresses(name) {
      const isLocal = !name.includes('.') || name.endsWith('.localhost');
      if (!isLocal) {
        const answers = await Promise.allSettled([
          resolver.resolve4(name),
          resolver.resolve6(name),
        ]);
        const found = answers.flatMap((a) => (a.status === 'fulfilled' ? a.value : []));
        if (found.length > 0) return found;
      }
      return (await lookup(name, { all: true })).map(({ address }) => address);
    },
  };
}
