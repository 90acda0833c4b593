import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { plainAddress } from '../../base/host.ts';
import type { Random } from '../../base/ids.ts';
import {
  defaultPort,
  type SipTransportName,
  type Target,
  type TargetQuery,
  TRANSPORT_NAMES,
  TRANSPORTS,
} from '../../protocol/sip/sip.ts';
import type { Dns, SrvRecord } from './dns.ts';

export interface ResolverOptions {
  readonly dns: Dns;
  readonly clock: Clock;
  readonly random: Random;
  /** Supported transports, best first. */
  readonly transports: readonly SipTransportName[];
}

/** Time limit of one resolution with all its queries, in milliseconds. */
const MAX_RESOLUTION_MS = 5_000;
/** Cache lifetime in milliseconds. */
const CACHE_MS = 30_000;
const MAX_CACHED = 1_000;
/** Maximum number of targets for one request; further ones are ignored. */
const MAX_TARGETS = 8;

/** Transports by NAPTR service. */
const NAPTR_SERVICES: ReadonlyMap<string, SipTransportName> = new Map(
  TRANSPORT_NAMES.flatMap((name) => {
    const { dns } = TRANSPORTS[name];
    return dns === undefined ? [] : [[dns.naptr, name] as const];
  }),
);

interface Cached {
  readonly untilMs: number;
  readonly answer: Promise<readonly unknown[]>;
}

/** Finds the targets of a host, best first (RFC 3263 §4.1, §4.2). Never rejects; a failure returns an empty list. */
export class SipResolver {
  readonly #options: ResolverOptions;
  readonly #cache = new Map<string, Cached>();

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  async resolve(query: TargetQuery): Promise<readonly Target[]> {
    const timeout = new AbortController();
    const found = this.#find(query).catch(() => []);
    const late = this.#options.clock
      .sleep(MAX_RESOLUTION_MS, timeout.signal)
      .then(() => [])
      .catch(() => []);
    const targets = await Promise.race([found, late]);
    timeout.abort();
    const { host: name } = query;
    return targets.slice(0, MAX_TARGETS).map((target) => ({ ...target, name }));
  }

  async #find(query: TargetQuery): Promise<readonly Target[]> {
    const { host, port } = query;
    const named = query.transport ?? 'udp';
    if (isIP(host) !== 0)
      return [{ transport: named, address: plainAddress(host), port: port ?? defaultPort(named) }];
    // A port disables SRV (§4.2). A transport disables NAPTR (§4.1).
    if (port !== undefined) return this.#addresses(host, port, named);
    const services = await this.#services(query);
    let isOffered = services.length === 0;
    for (const { transport, name } of services) {
      const records = await this.#ask<SrvRecord>('srv', name);
      const targets = await this.#servers(records, transport);
      if (targets.length > 0) return targets;
      isOffered ||= !isDeclined(records);
    }
    return isOffered ? this.#addresses(host, defaultPort(named), named) : [];
  }

  /** SRV targets in the order in which to try them. */
  async #services(
    query: TargetQuery,
  ): Promise<readonly { readonly transport: SipTransportName; readonly name: string }[]> {
    const { host, transport, secure } = query;
    const wanted = (transport === undefined ? this.#options.transports : [transport]).filter(
      (candidate) => !secure || candidate === 'tls',
    );
    if (transport === undefined) {
      const records = await this.#ask<Awaited<ReturnType<Dns['naptr']>>[number]>('naptr', host);
      const named = [...records]
        .sort((a, b) => a.order - b.order || a.preference - b.preference)
        .flatMap((record) => {
          const offered = NAPTR_SERVICES.get(record.service.toUpperCase());
          const usable = offered !== undefined && wanted.includes(offered);
          return usable ? [{ transport: offered, name: record.replacement }] : [];
        });
      if (named.length > 0) return named;
    }
    return wanted.flatMap((candidate) => {
      const { dns } = TRANSPORTS[candidate];
      return dns === undefined ? [] : [{ transport: candidate, name: `${dns.srv}${host}` }];
    });
  }

  async #servers(
    records: readonly SrvRecord[],
    transport: SipTransportName,
  ): Promise<readonly Target[]> {
    const targets: Target[] = [];
    for (const { name, port } of bySrvRules(records, this.#options.random).slice(0, MAX_TARGETS)) {
      if (!isNowhere(name)) targets.push(...(await this.#addresses(name, port, transport)));
    }
    return targets;
  }

  async #addresses(
    host: string,
    port: number,
    transport: SipTransportName,
  ): Promise<readonly Target[]> {
    const addresses = await this.#ask<string>('addresses', host);
    return addresses.map((address) => ({ transport, address: plainAddress(address), port }));
  }

  async #ask<Row>(kind: keyof Dns, name: string): Promise<readonly Row[]> {
    const { clock, dns } = this.#options;
    const key = `${kind} ${name.toLowerCase()}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined && cached.untilMs > clock.monotonicMs()) {
      return (await cached.answer) as readonly Row[];
    }
    const answer: Promise<readonly unknown[]> = dns[kind](name).catch(() => []);
    this.#cache.delete(key);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size < MAX_CACHED) break;
      this.#cache.delete(oldest);
    }
    this.#cache.set(key, { untilMs: clock.monotonicMs() + CACHE_MS, answer });
    return (await answer) as readonly Row[];
  }
}

const isNowhere = (name: string): boolean => name === '' || name === '.';

/** Returns whether the domain declines the service (RFC 2782, target "."). */
const isDeclined = (records: readonly SrvRecord[]): boolean =>
  records.length > 0 && records.every(({ name }) => isNowhere(name));

/** Orders by priority, then randomly in proportion to weight (RFC 2782). Without weights, the order is random. */
export function bySrvRules(records: readonly SrvRecord[], random: Random): readonly SrvRecord[] {
  const left = [...records].sort((a, b) => a.priority - b.priority || a.weight - b.weight);
  const ordered: SrvRecord[] = [];
  for (;;) {
    const first = left[0];
    if (first === undefined) return ordered;
    const group = left.filter((record) => record.priority === first.priority);
    const total = group.reduce((sum, record) => sum + record.weight, 0);
    const next = (total === 0 ? anyOf(group, random) : byWeight(group, random, total)) ?? first;
    ordered.push(next);
    left.splice(left.indexOf(next), 1);
  }
}

const anyOf = (group: readonly SrvRecord[], random: Random): SrvRecord | undefined =>
  group[random.integer(group.length)];

function byWeight(group: readonly SrvRecord[], random: Random, total: number) {
  let dart = random.integer(total + 1);
  return group.find((record) => {
    dart -= record.weight;
    return dart <= 0;
  });
}
