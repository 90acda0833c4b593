import { describe, expect, it } from 'vitest';
import type { Dns, NaptrRecord, SrvRecord } from '../../../src/edge/sip/dns.ts';
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
  const asked: string[] = [];
  const from =
    <Row>(table: Readonly<Record<string, readonly Row[]>> | undefined, kind: string) =>
    async (name: string): Promise<readonly Row[]> => {
      asked.push(`${kind} ${name}`);
      const rows = table?.[name];
      if (rows === undefined) throw new Error('ENOTFOUND');
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
  return { resolve, asked, clock };
}

const srv = (priority: number, weight: number, name: string, port = 5060): SrvRecord => ({
  priority,
  weight,
  name,
  port,
});

describe('finding SIP servers (RFC 3263)', () => {
  it('follows NAPTR by order and preference, passing over what we cannot speak (§4.1)', async () => {
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

  it('without NAPTR asks SRV for each transport that we have', async () => {
    const { resolve } = setup({
      srv: { '_sip._tcp.example.com': [srv(1, 1, 'one', 5070)] },
      a: { one: ['192.0.2.1', '2001:db8::1'] },
    });
    expect(await resolve({})).toEqual(['tcp 192.0.2.1:5070', 'tcp 2001:db8::1:5070']);
  });

  it('without SRV takes the addresses of the host and the default port (§4.2)', async () => {
    const { resolve } = setup({ a: { 'example.com': ['192.0.2.1'] } });
    expect(await resolve({})).toEqual(['udp 192.0.2.1:5060']);
    expect(await resolve({ transport: 'tcp' })).toEqual(['tcp 192.0.2.1:5060']);
  });

  it('with a port asks for addresses only, with a transport for no NAPTR', async () => {
    const { resolve, asked } = setup({ a: { 'example.com': ['192.0.2.1'] } });
    expect(await resolve({ port: 5080 })).toEqual(['udp 192.0.2.1:5080']);
    expect(asked).toEqual(['A example.com']);
    await resolve({ transport: 'tcp' });
    expect(asked).toEqual(['A example.com', 'SRV _sip._tcp.example.com']);
  });

  it('orders SRV by priority, then by chance in proportion to weight (RFC 2782)', () => {
    const records = [srv(2, 0, 'backup'), srv(1, 10, 'small'), srv(1, 90, 'large')];
    const drawn = (dart: number): string[] =>
      bySrvRules(records, { ...first, integer: () => dart }).map(({ name }) => name);
    expect(drawn(10)).toEqual(['small', 'large', 'backup']);
    expect(drawn(11)).toEqual(['large', 'small', 'backup']);
    let seed = 7;
    const random = {
      ...first,
      integer: (below: number) => {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
        return Math.floor((seed / 2 ** 32) * below);
      },
    };
    const wins = Array.from({ length: 2000 }, () => bySrvRules(records, random)[0]?.name);
    const large = wins.filter((name) => name === 'large').length;
    expect(large / 2000).toBeGreaterThan(0.86);
    expect(large / 2000).toBeLessThan(0.93);
  });

  it('keeps answers for half a minute', async () => {
    const { resolve, asked, clock } = setup({ a: { 'example.com': ['192.0.2.1'] } });
    await resolve({ port: 1 });
    await resolve({ port: 2 });
    expect(asked).toHaveLength(1);
    await clock.advance(30_001);
    await resolve({ port: 3 });
    expect(asked).toHaveLength(2);
  });

  it('gives up on name servers that never answer', async () => {
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
