import { describe, expect, it } from 'vitest';
import { createDestinationGuard, createServiceAddresses } from '../../../src/edge/egress/egress.ts';

const PUBLIC = '203.0.114.7';
const own = {
  isAddress: (address: string) => address === PUBLIC || address === '192.168.1.10',
  isListening: (port: number) => [5060, 8080, 20_400].includes(port),
  isRtpRange: (port: number) => port >= 20_000 && port <= 29_999,
};
const guard = (allow: readonly string[] = [], allowLoopback = false) =>
  createDestinationGuard({ allow, allowLoopback, own });
const to = (address: string, port: number, more: object = {}) => ({
  address,
  port,
  receivedAt: [],
  allow: [],
  ...more,
});

describe('SIP to customers', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['100.100.100.200', 'carrier-grade'],
    ['239.1.1.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['0.0.0.0', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'reserved'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:0:10.0.0.1', 'rfc6145'],
    ['64:ff9b::a00:1', 'private'],
    ['64:ff9b:1::a00:1', 'rfc6052'],
    ['2002:a00:1::1', '6to4'],
    ['fd00:ec2::254', 'unique local'],
    ['pbx.example', 'not an IP address'],
  ])('refuses %s', (address, word) => {
    expect(guard().refusesSip(to(address, 5070))).toContain(word);
    expect(guard([], true).refusesSip(to('8.8.8.8', 5070))).toBeUndefined();
  });

  it('permits addresses that the operator allowed in general, for one trunk, or by name', () => {
    expect(guard(['10.0.0.0/8']).refusesSip(to('10.0.0.1', 5070))).toBeUndefined();
    expect(guard(['*.lan']).refusesSip(to('10.0.0.1', 5070, { name: 'pbx.LAN.' }))).toBeUndefined();
    expect(guard().refusesSip(to('10.0.0.1', 5070, { allow: ['10.0.0.1'] }))).toBeUndefined();
    expect(guard().refusesSip(to('10.0.0.2', 5070, { allow: ['10.0.0.1'] }))).toContain('private');
  });

  it('never permits an address of the service, including its public one', () => {
    expect(guard().refusesSip(to(PUBLIC, 6379))).toContain('this service');
    expect(guard([PUBLIC]).refusesSip(to(PUBLIC, 6379))).toBeUndefined();
    for (const port of [5060, 8080, 20_400]) {
      expect(guard([PUBLIC], true).refusesSip(to(PUBLIC, port))).toContain('this service');
      expect(guard([], true).refusesSip(to('127.0.0.1', port))).toContain('this service');
    }
    expect(guard([], true).refusesSip(to('127.0.0.1', 5070))).toBeUndefined();
  });

  it('permits the address at which a peer was heard, with the same port or a SIP port only', () => {
    const receivedAt = [{ address: '192.168.1.20', port: 40_000 }];
    expect(guard().refusesSip(to('192.168.1.20', 40_000, { receivedAt }))).toBeUndefined();
    expect(guard().refusesSip(to('::ffff:192.168.1.20', 5060, { receivedAt }))).toBeUndefined();
    expect(guard().refusesSip(to('192.168.1.20', 6379, { receivedAt }))).toContain('private');
    expect(guard().refusesSip(to('192.168.1.21', 40_000, { receivedAt }))).toContain('private');
  });
});

describe('RTP to customers', () => {
  const judged = (address: string, port: number, more: object = {}, allowLoopback = false) =>
    guard([], allowLoopback).judgeRtp(to(address, port, more), port + 1);
  const kind = (...of: Parameters<typeof judged>) => judged(...of).kind;
  const received = (address: string) => ({ receivedAt: [{ address, port: 1 }] });

  it('permits public addresses and addresses at which the peer was heard', () => {
    expect(kind('8.8.8.8', 4000)).toBe('send');
    expect(kind('192.168.1.20', 4000, received('192.168.1.20'))).toBe('send');
    expect(kind('192.168.1.10', 4000, received('192.168.1.10'))).toBe('send');
    expect(kind('127.0.0.1', 4000, {}, true)).toBe('send');
  });

  it("learns the peer's address if the SDP address is private", () => {
    expect(kind('192.168.1.20', 4000, received('8.8.8.8'))).toBe('learn');
    expect(kind('169.254.169.254', 4000, received('8.8.8.8'))).toBe('learn');
    expect(kind('127.0.0.1', 4000, received('8.8.8.8'))).toBe('learn');
    expect(kind(PUBLIC, 4000, received('8.8.8.8'))).toBe('learn');
  });

  it('refuses the ports of the service', () => {
    expect(kind(PUBLIC, 5060, received(PUBLIC))).toBe('refuse');
    expect(kind('127.0.0.1', 8080, received('127.0.0.1'), true)).toBe('refuse');
    expect(kind(PUBLIC, 20_402, received('8.8.8.8'))).toBe('refuse');
    // A phone on the service's machine may use any port without a leg.
    expect(kind(PUBLIC, 20_402, received(PUBLIC))).toBe('send');
    expect(kind(PUBLIC, 20_400, received(PUBLIC))).toBe('refuse');
  });

  it('permits the port just below a service port, without RTCP', () => {
    const learnt = { rtcp: 'learn' };
    expect(judged('127.0.0.1', 20_399, received('127.0.0.1'), true)).toEqual({
      kind: 'send',
      ...learnt,
    });
    expect(judged(PUBLIC, 5059, received('8.8.8.8'))).toMatchObject({ kind: 'learn', ...learnt });
    expect(judged('8.8.8.8', 5059)).toEqual({ kind: 'send' });
    // RTP and RTCP on one port.
    expect(guard([], true).judgeRtp(to('127.0.0.1', 20_399), 20_399)).toEqual({ kind: 'send' });
    // A port that a later leg may use.
    expect(judged(PUBLIC, 19_999, received('8.8.8.8'))).toMatchObject({ kind: 'learn', ...learnt });
  });
});

describe('addresses of the service', () => {
  it('include bound addresses, addresses of names, and addresses of the interfaces', async () => {
    const places = createServiceAddresses({
      hosts: ['0.0.0.0', '203.0.114.7', 'voice.example'],
      isPort: (port) => port === 5060,
      isRtpOfLeg: (port) => port === 20_000,
      rtpRange: { min: 20_000, max: 20_099 },
      monotonicMs: () => 0,
      resolver: async () => [{ address: '203.0.114.8', family: 4 }],
    });
    await Promise.resolve();
    await Promise.resolve();
    for (const address of ['203.0.114.7', '::ffff:203.0.114.8', '127.0.0.1', '::1']) {
      expect([address, places.isAddress(address)]).toEqual([address, true]);
    }
    expect(places.isAddress('203.0.114.9')).toBe(false);
    expect([5060, 20_000, 20_002].map((port) => places.isListening(port))).toEqual([
      true,
      true,
      false,
    ]);
    expect([19_999, 20_100, 20_101].map((port) => places.isRtpRange(port))).toEqual([
      false,
      true,
      false,
    ]);
  });
});
