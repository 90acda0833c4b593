import { lookup, Resolver } from 'node:dns/promises';
import type { Clock } from '../../base/clock.ts';
import { noOperation } from '../../base/no-operation.ts';

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

/**
 * Time in milliseconds for the addresses of the other family. Some name servers never answer queries for IPv6
 * addresses, and the time limits of the queries exceed that of a call.
 */
const OTHER_FAMILY_MS = 1_000;

type Queries = Pick<Resolver, 'resolve4' | 'resolve6' | 'resolveNaptr' | 'resolveSrv'>;

/** Queries the system's name servers, then the hosts file for unknown names. */
export function systemDns(
  clock: Pick<Clock, 'sleep'>,
  resolver: Queries = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES }),
): Dns {
  return {
    naptr: (name) => resolver.resolveNaptr(name),
    srv: (name) => resolver.resolveSrv(name),
    async addresses(name) {
      const isLocal = !name.includes('.') || name.endsWith('.localhost');
      if (!isLocal) {
        const found = await ofBothFamilies(clock, [
          resolver.resolve4(name),
          resolver.resolve6(name),
        ]);
        if (found.length > 0) return found;
      }
      return (await lookup(name, { all: true })).map(({ address }) => address);
    },
  };
}

/** Addresses of both families, or those of the first if the other does not follow in time. */
async function ofBothFamilies(
  clock: Pick<Clock, 'sleep'>,
  queries: readonly Promise<readonly string[]>[],
): Promise<readonly string[]> {
  const found: (readonly string[])[] = queries.map(() => []);
  const over = new AbortController();
  const late = Promise.any(queries).then(() => clock.sleep(OTHER_FAMILY_MS, over.signal));
  const all = queries.map(async (query, family) => {
    found[family] = await query;
  });
  await Promise.race([Promise.allSettled(all), late.catch(noOperation)]);
  over.abort();
  return found.flat();
}
