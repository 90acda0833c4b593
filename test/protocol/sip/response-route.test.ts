import { describe, expect, test } from 'vitest';
import { responseFlow, stampVia } from '../../../src/protocol/sip/transport/response-route.ts';
import { sketch, TCP, UDP } from './support.ts';

const via = (text: string) => sketch({ via: `SIP/2.0/UDP ${text}` });
const SOURCE = { ...UDP, remoteAddress: '203.0.113.4', remotePort: 31_000 };

describe('received and rport (RFC 3261 §18.2.1, RFC 3581)', () => {
  test('names no interface of this machine for a link-local sender', () => {
    const flow = { ...SOURCE, remoteAddress: 'fe80::7%eth0' };
    const received = (host: string) =>
      stampVia(via(`${host};branch=z9hG4bKx`), flow).via.params.get('received');
    expect(received('host.example.com')).toBe('fe80::7');
    expect(received('[FE80::7]')).toBeUndefined();
  });

  test('§18.2.1: adds received if sent-by is not the source address', () => {
    expect(
      stampVia(via('host.example.com;branch=z9hG4bKx'), SOURCE).via.params.get('received'),
    ).toBe('203.0.113.4');
    expect(stampVia(via('203.0.113.4;branch=z9hG4bKx'), SOURCE).via.params.has('received')).toBe(
      false,
    );
  });

  test('RFC 3581 §4: fills in rport and adds received even if it equals sent-by', () => {
    const { params } = stampVia(via('203.0.113.4:31000;rport;branch=z9hG4bKx'), SOURCE).via;
    expect([params.get('rport'), params.get('received')]).toEqual(['31000', '203.0.113.4']);
  });

  test('overwrites a received value sent by the client', () => {
    const claimed = via('203.0.113.4;received=198.51.100.1;branch=z9hG4bKx');
    expect(stampVia(claimed, SOURCE).via.params.get('received')).toBe('203.0.113.4');
  });

  test('treats an IPv4-mapped IPv6 address as the same address', () => {
    const mapped = { ...SOURCE, remoteAddress: '::ffff:203.0.113.4' };
    expect(stampVia(via('203.0.113.4;branch=z9hG4bKx'), mapped).via.params.has('received')).toBe(
      false,
    );
  });

  test('leaves further Via lines unchanged', () => {
    const stamped = stampVia(via('a;branch=z9hG4bK1, SIP/2.0/UDP b;rport'), SOURCE);
    expect(stamped.list('via')[1]).toBe('SIP/2.0/UDP b;rport');
  });
});

describe('destination of responses (RFC 3261 §18.2.2)', () => {
  const port = (text: string, replyToSource: boolean) =>
    responseFlow(stampVia(via(text), SOURCE), SOURCE, replyToSource).remotePort;

  test('with rport: the source port', () => {
    expect(port('10.0.0.1:5080;rport;branch=z9hG4bKx', false)).toBe(31_000);
  });

  test('without rport: the port of sent-by, 5060 by default', () => {
    expect(port('10.0.0.1:5080;branch=z9hG4bKx', false)).toBe(5080);
    expect(port('10.0.0.1;branch=z9hG4bKx', false)).toBe(5060);
  });

  test('without rport: the source, if the policy says so', () => {
    expect(port('10.0.0.1:5080;branch=z9hG4bKx', true)).toBe(31_000);
  });

  test('ignores maddr, so a sender cannot redirect responses', () => {
    expect(responseFlow(via('10.0.0.1;maddr=239.255.255.1;branch=z9hG4bKx'), SOURCE, true)).toBe(
      SOURCE,
    );
    expect(responseFlow(via('10.0.0.1;maddr=name.example.com'), SOURCE, true)).toBe(SOURCE);
  });

  test('over a connection: the same connection, regardless of Via', () => {
    expect(responseFlow(via('10.0.0.1;maddr=239.255.255.1'), TCP, false)).toBe(TCP);
  });
});
