import { describe, expect, it } from 'vitest';
import {
  type Dns,
  type NaptrRecord,
  type SrvRecord,
  systemDns,
} from '../../../src/edge/sip/dns.ts';
import { bySrvRules, SipResolver } from '../../../src/edge/sip/resolver.ts';
import type { TargetQuery } from '../../../src/protocol/sip/sip.ts';
import { SimClock } from '../../sim/clock.ts';

const first = { bytes: (n: number) => new Uint8Array(n), integer: () => 0 };

interface Zone {
  readonly naptr?: Readonly<Record<string, readonly NaptrRecord[]>>;
  readonly srv?: Readonly<Record<string, readonly SrvRecord[]>>;
  readonly a?: Readonly<Record<string, readonly string[]>>;
}

function setup(zone: Zone) {
  const requested: string[] = [];
  /** Kinds of queries that time out. */
  const failing = new Set<string>();
  const from =
    <Row>(table: Readonly<Record<string, readonly Row[]>> | undefined, kind: string) =>
    async (name: string): Promise<readonly Row[]> => {
      requested.push(`${kind} ${name}`);
      const rows = table?.[name];
      if (failing.has(kind)) throw Object.assign(new Error('timeout'), { code: 'ETIMEOUT' });
      if (rows === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      return rows;
    };
  const dns: Dns = {
    naptr: from(zone.naptr, 'NAPTR'),
    srv: from(zone.srv, 'SRV'),
    addresses: from(zone.a, 'A'),
  };
  const clock = new SimClock();
  const resolver = new SipResolver({ dns, clock, random: first, transports: ['udp', 'tcp'] });
  const resolve = async (query: Partial<TargetQuery>): Promise<string[]> => {
    const all = {
      host: 'example.com',
      port: undefined,
      transport: undefined,
      secure: false,
      ...query,
    };
    const targets = await resolver.resolve(all);
    return targets.map(({ transport, address, port }) => `${transport} ${address}:${port}`);
  };
  return { resolve, requested, clock, failing };
}

const srv = (priority: number, weight: number, name: string, port = 5060): SrvRecord => ({
  priority,
  weight,
  name,
  port,
});

describe('addresses of both families', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  const refused = (): Promise<never> => Promise.reject(new Error('ENODATA'));
  const here = (address: string) => () => Promise.resolve([address]);
  const asked = async (resolve4: () => Promise<string[]>, resolve6: () => Promise<string[]>) => {
    const clock = new SimClock();
    const queries = { resolve4, resolve6, resolveNaptr: refused, resolveSrv: refused };
    const dns = systemDns(clock, queries as unknown as Parameters<typeof systemDns>[1]);
    let found: readonly string[] | undefined;
    void dns.addresses('sip.example.com').then((addresses) => {
      found = addresses;
    });
    await clock.advance(1_000);
    return { found, timers: clock.nextMs() };
  };

  it.each([
    ['both', here('192.0.2.1'), here('2001:db8::1'), ['192.0.2.1', '2001:db8::1']],
    ['IPv4 if IPv6 does not exist', here('192.0.2.1'), refused, ['192.0.2.1']],
    ['IPv4 if the query for IPv6 gets no answer', here('192.0.2.1'), never, ['192.0.2.1']],
    ['IPv6 if the query for IPv4 gets no answer', never, here('2001:db8::1'), ['2001:db8::1']],
  ])('are %s', async (_, resolve4, resolve6, addresses) => {
    expect(await asked(resolve4, resolve6)).toEqual({ found: addresses, timers: undefined });
  });
});

describe('numeric addresses', () => {
  it('are canonical, and IPv4 if they are IPv4-mapped', async () => {
    const { resolve } = setup({ a: { 'mapped.example': ['::ffff:192.0.2.7'] } });
    expect(await resolve({ host: '::ffff:c000:207' })).toEqual(['udp 192.0.2.7:5060']);
    expect(await resolve({ host: '2001:DB8:0::7' })).toEqual(['udp 2001:db8::7:5060']);
    expect(await resolve({ host: 'mapped.example' })).toEqual(['udp 192.0.2.7:5060']);
  });
});

function seeded(start: number) {
  let seed = start;
  const integer = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  return { ...first, integer };
}

describe('finding SIP servers (RFC 3263)', () => {
  it('follows NAPTR by order and preference and skips unsupported transports (§4.1)', async () => {
    const { resolve } = setup({
      naptr: {
        'example.com': [
          { order: 20, preference: 1, service: 'SIP+D2U', replacement: '_u.example.com' },
          { order: 10, preference: 1, service: 'SIPS+D2T', replacement: '_s.example.com' },
          { order: 10, preference: 2, service: 'SIP+D2T', replacement: '_t.example.com' },
        ],
      },
      srv: { '_t.example.com': [srv(1, 1, 'one', 5070)], '_u.example.com': [srv(1, 1, 'two')] },
      a: { one: ['192.0.2.1'], two: ['192.0.2.2'] },
    });
    expect(await resolve({})).toEqual(['tcp 192.0.2.1:5070']);
  });

  it('queries SRV for each supported transport without NAPTR', async () => {
    const { resolve } = setup({
      srv: { '_sip._tcp.example.com': [srv(1, 1, 'one', 5070)] },
      a: { one: ['192.0.2.1', '2001:db8::1'] },
    });
    expect(await resolve({})).toEqual(['tcp 192.0.2.1:5070', 'tcp 2001:db8::1:5070']);
  });

  it('uses the addresses of the host and the default port without SRV (§4.2)', async () => {
    const { resolve } = setup({ a: { 'example.com': ['192.0.2.1'] } });
    expect(await resolve({})).toEqual(['udp 192.0.2.1:5060']);
    expect(await resolve({ transport: 'tcp' })).toEqual(['tcp 192.0.2.1:5060']);
  });

  it('queries only addresses with a port, and no NAPTR with a transport', async () => {
    const { resolve, requested } = setup({ a: { 'example.com': ['192.0.2.1'] } });
    expect(await resolve({ port: 5080 })).toEqual(['udp 192.0.2.1:5080']);
    expect(requested).toEqual(['A example.com']);
    await resolve({ transport: 'tcp' });
    expect(requested).toEqual(['A example.com', 'SRV _sip._tcp.example.com']);
  });

  it('orders SRV by priority, then randomly in proportion to weight (RFC 2782)', () => {
    const records = [srv(2, 0, 'backup'), srv(1, 10, 'small'), srv(1, 90, 'large')];
    const drawn = (dart: number): string[] =>
      bySrvRules(records, { ...first, integer: () => dart }).map(({ name }) => name);
    expect(drawn(10)).toEqual(['small', 'large', 'backup']);
    expect(drawn(11)).toEqual(['large', 'small', 'backup']);
    const random = seeded(7);
    const wins = Array.from({ length: 2000 }, () => bySrvRules(records, random)[0]?.name);
    const large = wins.filter((name) => name === 'large').length;
    expect(large / 2000).toBeGreaterThan(0.86);
    expect(large / 2000).toBeLessThan(0.93);
  });

  it('draws the second place by weight among the remaining ones', () => {
    const records = [srv(1, 60, 'a'), srv(1, 30, 'b'), srv(1, 10, 'c'), srv(2, 1, 'd')];
    const random = seeded(11);
    const places = new Map<string, number>();
    for (let turn = 0; turn < 20_000; turn += 1) {
      const order = bySrvRules(records, random).map(({ name }) => name);
      expect(order[3]).toBe('d');
      const key = order.slice(0, 2).join('');
      places.set(key, (places.get(key) ?? 0) + 1);
    }
    // With running sums from 0 to the total inclusive (RFC 2782), c, b, a are drawn in 10/101, 30/101 and 61/101 of the
    // cases.
    const part = (key: string): number => (places.get(key) ?? 0) / 20_000;
    expect(part('ab') + part('ac')).toBeCloseTo(0.6, 1);
    expect(part('ba') + part('bc')).toBeCloseTo(0.3, 1);
    expect(part('ca') + part('cb')).toBeCloseTo(0.1, 1);
    expect(part('ab') / (part('ab') + part('ac'))).toBeCloseTo(0.75, 1);
    expect(part('ca') / (part('ca') + part('cb'))).toBeCloseTo(0.67, 1);
  });

  it('draws a weight of 0 rarely among others, and evenly among equals', () => {
    const random = seeded(5);
    const firstOf = (records: readonly SrvRecord[]): Map<string, number> => {
      const counts = new Map<string, number>();
      for (let turn = 0; turn < 10_000; turn += 1) {
        const [one] = bySrvRules(records, random);
        counts.set(one?.name ?? '', (counts.get(one?.name ?? '') ?? 0) + 1);
      }
      return counts;
    };
    const withRecords = firstOf([srv(1, 99, 'most'), srv(1, 0, 'hardly')]).get('hardly') ?? 0;
    expect(withRecords).toBeGreaterThan(0);
    expect(withRecords).toBeLessThan(300);
    const alike = firstOf([srv(1, 0, 'a'), srv(1, 0, 'b')]);
    for (const name of ['a', 'b']) expect(alike.get(name) ?? 0).toBeGreaterThan(4000);
  });

  it('treats a target of "." as declined, for the transport or for the host itself (RFC 2782)', async () => {
    const declined = [srv(0, 0, '.')];
    const a = { 'example.com': ['192.0.2.1'], 'sip.example.com': ['192.0.2.2'] };
    const both = { '_sip._udp.example.com': declined, '_sip._tcp.example.com': declined };
    expect(await setup({ a, srv: both }).resolve({})).toEqual([]);
    const one = { ...both, '_sip._tcp.example.com': [srv(1, 1, 'sip.example.com')] };
    expect(await setup({ a, srv: one }).resolve({})).toEqual(['tcp 192.0.2.2:5060']);
    // There are no UDP records, so the host is queried.
    const half = { '_sip._tcp.example.com': declined };
    expect(await setup({ a, srv: half }).resolve({})).toEqual(['udp 192.0.2.1:5060']);
  });

  it('caches responses for half a minute', async () => {
    const { resolve, requested, clock } = setup({ a: { 'example.com': ['192.0.2.1'] } });
    await resolve({ port: 1 });
    await resolve({ port: 2 });
    expect(requested).toHaveLength(1);
    await clock.advance(30_001);
    await resolve({ port: 3 });
    expect(requested).toHaveLength(2);
  });

  it('uses the last answer while the name servers fail, and asks again after a second', async () => {
    const { resolve, clock, failing, requested } = setup({
      srv: { '_sip._udp.example.com': [srv(0, 0, 'a.example', 5070)] },
      a: { 'a.example': ['192.0.2.1'], 'example.com': ['192.0.2.80'] },
    });
    const query = { transport: 'udp' } as const;
    expect(await resolve(query)).toEqual(['udp 192.0.2.1:5070']);
    for (const kind of ['SRV', 'A']) failing.add(kind);
    await clock.advance(30_001);
    // Without the last SRV records, the call would go to the address of the host, another server.
    expect(await resolve(query)).toEqual(['udp 192.0.2.1:5070']);
    expect(await resolve({ host: 'new.example', port: 1 })).toEqual([]);
    failing.clear();
    const before = requested.length;
    await clock.advance(1_001);
    expect(await resolve(query)).toEqual(['udp 192.0.2.1:5070']);
    expect(requested.length).toBe(before + 2);
  });

  it('uses the last answer after half a second without a response', async () => {
    const clock = new SimClock();
    let answers = true;
    const addresses = () =>
      answers ? Promise.resolve(['192.0.2.1']) : new Promise<never>(() => undefined);
    const none = async () => [];
    const dns = { naptr: none, srv: none, addresses };
    const resolver = new SipResolver({ dns, clock, random: first, transports: ['udp'] });
    const query = { host: 'x.test', port: 5060, transport: 'udp', secure: false } as const;
    await resolver.resolve(query);
    answers = false;
    await clock.advance(30_001);
    for (const _time of [1, 2]) {
      const targets = resolver.resolve(query);
      await clock.advance(501);
      expect((await targets).map(({ address }) => address)).toEqual(['192.0.2.1']);
    }
  });

  it('times out on unresponsive name servers', async () => {
    const clock = new SimClock();
    const never = () => new Promise<never>(() => undefined);
    const dns = { naptr: never, srv: never, addresses: never };
    const resolver = new SipResolver({ dns, clock, random: first, transports: ['udp'] });
    const targets = resolver.resolve({
      host: 'x.test',
      port: undefined,
      transport: undefined,
      secure: false,
    });
    await clock.advance(5_001);
    expect(await targets).toEqual([]);
  });
});
