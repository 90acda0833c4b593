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
/** Cache lifetime of a temporary failure in milliseconds, so that calls recover soon after the name servers. */
const FAILED_MS = 1_000;
/** Time in milliseconds to wait for the name servers before the last answer is used. */
const SLOW_MS = 500;
const MAX_CACHED = 1_000;
/** Errors by which a name server states that there are no such records. All others are temporary failures. */
const NO_RECORDS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
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
  untilMs: number;
  /** Answer of the query. A temporary failure gives the last answer of the name servers, or none. */
  readonly answer: Promise<readonly unknown[]>;
  isPending: boolean;
  /** Last answer of the name servers. */
  rows: readonly unknown[] | undefined;
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
    const key = `${kind} ${name.toLowerCase()}`;
    const cached = this.#cache.get(key);
    const isFresh = cached !== undefined && cached.untilMs > this.#options.clock.monotonicMs();
    const entry = isFresh ? cached : this.#query(kind, name, cached?.rows);
    if (!isFresh) this.#keep(key, entry);
    const { isPending, rows, answer } = entry;
    return (await (isPending && rows !== undefined ? this.#soon(answer, rows) : answer)) as Row[];
  }

  #query(kind: keyof Dns, name: string, last: Cached['rows']): Cached {
    const { clock, dns } = this.#options;
    const answer = dns[kind](name).then(
      (rows) => settled(rows),
      (error: unknown) => {
        if (hasNoRecords(error)) return settled([]);
        entry.isPending = false;
        entry.untilMs = clock.monotonicMs() + FAILED_MS;
        return entry.rows ?? [];
      },
    );
    const settled = (rows: readonly unknown[]): readonly unknown[] => {
      entry.isPending = false;
      entry.rows = rows;
      return rows;
    };
    const untilMs = clock.monotonicMs() + CACHE_MS;
    const entry: Cached = { untilMs, answer, isPending: true, rows: last };
    return entry;
  }

  #keep(key: string, entry: Cached): void {
    this.#cache.delete(key);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size < MAX_CACHED) break;
      this.#cache.delete(oldest);
    }
    this.#cache.set(key, entry);
  }

  /** The answer, or the last one if the name servers are slow (RFC 8767 §5). */
  async #soon(answer: Cached['answer'], last: readonly unknown[]): Promise<readonly unknown[]> {
    const over = new AbortController();
    const late = this.#options.clock.sleep(SLOW_MS, over.signal).then(
      () => last,
      () => last,
    );
    const rows = await Promise.race([answer, late]);
    over.abort();
    return rows;
  }
}

const hasNoRecords = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && NO_RECORDS.has(String(error.code));

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
