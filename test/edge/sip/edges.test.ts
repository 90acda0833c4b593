/** Edge proxies: unknown peers are accepted only through them, and the source that they report identifies the sender. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/edge/clock/system-clock.ts';
import { Edges, edgePlaces } from '../../../src/edge/sip/edges.ts';
import { Traffic } from '../../../src/edge/sip/traffic.ts';
import type { Flow, UserAgentInput } from '../../../src/protocol/sip/sip.ts';
import { freePort } from '../../e2e/service.ts';
import { until } from '../../eventually.ts';
import {
  authenticated,
  carrier,
  headerOf,
  QUIET,
  requestText,
  SDP,
  startRig,
  UdpPeer,
} from './rig.ts';
import { answer, DIAL, home, recorder, stageOf } from './scenarios.ts';

const { retained, rigOf, udp } = stageOf(startRig);
/** Addresses of edge proxies: all test peers are at 127.0.0.1. */
const EDGE = ['127.0.0.0/8'];
const from = (place: string): readonly string[] => [`X-Carillon-Source: ${place}`];

describe('an edge proxy', () => {
  it('is trusted about the carrier that calls through it; its header is removed', async () => {
    const north = carrier({ sourceAddresses: ['192.0.2.7'], port: 9 });
    const rig = await rigOf({ edges: EDGE, carriers: () => [north] });
    const peer = await udp(rig);
    const lines = { method: 'INVITE', uri: home(rig, '1555'), user: '4930123', body: SDP };
    const waiting = rig.nextLeg();
    peer.write(
      requestText(peer, {
        ...lines,
        callId: 'a',
        more: [...from('udp 192.0.2.7 5062'), 'X-Own: 1'],
      }),
    );
    expect(await waiting).toMatchObject({
      carrier: 'north',
      source: { transport: 'udp', address: '192.0.2.7', port: 5062 },
      headers: [['X-Own', '1']],
    });
    peer.write(requestText(peer, { ...lines, callId: 'b', more: from('udp 192.0.2.8 5062') }));
    await peer.read('401');
  });

  it('is not trusted from another address', async () => {
    const north = carrier({ sourceAddresses: ['192.0.2.7'], port: 9 });
    const rig = await rigOf({ carriers: () => [north] });
    const peer = await udp(rig);
    const lines = { method: 'INVITE', uri: home(rig, '1555'), user: '4930123', body: SDP };
    peer.write(requestText(peer, { ...lines, callId: 'a', more: from('udp 192.0.2.7 5062') }));
    await peer.read('401');
  });

  it('is the only path for unknown peers; carriers and called peers are accepted directly', async () => {
    const rig = await rigOf({ edges: ['192.0.2.1'] });
    const [unknownPeer, called] = [await udp(rig), await udp(rig)];
    unknownPeer.write(requestText(unknownPeer, { method: 'OPTIONS', uri: home(rig), callId: 'o' }));
    const dropped = (): number => rig.signalling.counters().dropped['stranger'] ?? 0;
    await until(() => dropped() === 1);
    expect(unknownPeer.texts).toEqual([]);
    const { log, events } = recorder();
    const target = { kind: 'uri', uri: `sip:a@127.0.0.1:${called.port}` } as const;
    rig.signalling.invite(target, DIAL, events);
    const invite = await called.read('INVITE');
    called.write(answer(invite, '486 Busy Here'));
    await until(() => log.length === 1);
    expect(log).toEqual(['ended refused']);
  });

  it('does not serve a new call that waited in the socket until the proxy tried another node', async () => {
    const reported: UserAgentInput[] = [];
    const traffic = new Traffic({
      options: { clock: systemClock, edges: EDGE },
      acquaintance: { knows: () => true, isCarrier: () => false, hasNonce: () => false },
      dispatch: (input) => reported.push(input),
      close: () => undefined,
    });
    const flow: Flow = {
      transport: 'udp',
      localAddress: '127.0.0.1',
      localPort: 5080,
      remoteAddress: '127.0.0.1',
      remotePort: 5060,
      connectionId: undefined,
    };
    const request = (method: string, to: string): Uint8Array =>
      Buffer.from(
        `${method} sip:1000@127.0.0.1 SIP/2.0\r\nTo: <sip:1000@127.0.0.1>${to}\r\nCall-ID: a\r\nCSeq: 1 ${method}\r\n\r\n`,
      );
    traffic.received(request('INVITE', ''), flow, 501);
    expect(traffic.dropped()).toMatchObject({ late: 1 });
    traffic.received(request('BYE', ';tag=b'), flow, 501);
    traffic.received(request('INVITE', ';tag=b'), flow, 501);
    expect(reported).toHaveLength(2);
  });

  it('registers browsers, which are called along their Path', async () => {
    const rig = await rigOf({ edges: EDGE });
    const edge = await udp(rig);
    const path = `Path: <sip:127.0.0.1:${edge.port};lr;received=sip:198.51.100.9:4711%3Btransport%3Dws>`;
    await authenticated(edge, {
      method: 'REGISTER',
      uri: home(rig),
      to: '<sip:alice@127.0.0.1>',
      callId: 'reg',
      password: 'wonderland',
      more: [path, 'Supported: path', ...from('wss 198.51.100.9 4711')],
    });
    expect(headerOf(await edge.read('200'), 'Path')).toContain('received=');
    expect([rig.signalling.isBrowser('alice'), rig.signalling.isSecured('alice')]).toEqual([
      true,
      true,
    ]);
    expect(rig.signalling.registrations()).toMatchObject([
      {
        flow: { transport: 'wss', address: '127.0.0.1', port: edge.port, connectionId: undefined },
      },
    ]);
    rig.signalling.invite({ kind: 'endpoint', username: 'alice' }, DIAL, {
      ...recorder().events,
      ...QUIET,
    });
    expect(headerOf(await edge.read('INVITE'), 'Route')).toContain('198.51.100.9');
  });

  it('keeps lock-outs separate per sender behind it', async () => {
    const rig = await rigOf({ edges: EDGE });
    const edge = await udp(rig);
    let said = '';
    for (let i = 0; i < 30 && !said.includes(' 403 '); i += 1) {
      await authenticated(edge, {
        method: 'REGISTER',
        uri: home(rig),
        to: '<sip:alice@127.0.0.1>',
        callId: `bad-${i}`,
        password: `guess-${i}`,
        more: from('udp 198.51.100.66 5060'),
      });
      said = await edge.read(' 40');
    }
    expect(said).toContain(' 403 ');
    const more = from('udp 198.51.100.9 5060');
    const lines = { uri: home(rig), to: '<sip:bob@127.0.0.1>', callId: 'good' };
    await authenticated(edge, {
      ...lines,
      method: 'REGISTER',
      user: 'bob',
      password: 'builder',
      more,
    });
    expect(headerOf(await edge.read('200'), 'Call-ID')).toBe('good');
  });

  it('forwards calls, reads the target only from us, and its own responses are not those of the called party', async () => {
    const port = await freePort();
    const edge = retained(await UdpPeer.open(port));
    const outboundEdges = [{ address: '127.0.0.1', port: edge.port }];
    const rig = await rigOf({ port, edges: EDGE, outboundEdges });
    const { log, events } = recorder();
    const smuggled = [
      ['X-Carillon-Next', 'udp 10.0.0.9 5060 1'],
      ['x-carillon-source', 'udp 10.0.0.9 5060'],
      ['X-Own', '1'],
    ] as const;
    const target = { kind: 'uri', uri: 'sip:a@192.0.2.7:5062' } as const;
    rig.signalling.invite(target, { ...DIAL, headers: smuggled }, events);
    const invite = await edge.read('INVITE');
    const own = invite.split('\r\n').filter((line) => /^x-/i.test(line));
    expect(own.sort()).toEqual(['X-Carillon-Next: udp 192.0.2.7 5062 4000', 'X-Own: 1']);
    edge.write(answer(invite, '100 Trying'));
    edge.write(answer(invite, '408 Request Timeout'));
    await until(() => log.length === 1);
    expect(log).toEqual(['ended timeout']);
  });

  it.each([
    [
      ['10.0.0.5', '10.0.0.6:5080'],
      ['10.0.0.5 5070', '10.0.0.6 5080'],
    ],
    [
      ['[2001:DB8::1]', '[2001:db8::2]:5071'],
      ['2001:db8::1 5070', '2001:db8::2 5071'],
    ],
    [['edge.example.com'], 'needs addresses'],
    [['10.0.0.300'], 'needs addresses'],
    [['10.0.0.5:99999'], 'needs addresses'],
    [['10.0.0.5', '10.0.1.5'], 'sip.edges lacks 10.0.1.5'],
  ])('sip.outboundEdges with %s', (texts, places) => {
    const read = (): string[] =>
      edgePlaces(texts, ['10.0.0.0/24', '2001:db8::/32']).map(
        ({ address, port }) => `${address} ${port}`,
      );
    if (typeof places === 'string') expect(read).toThrow(places);
    else expect(read()).toEqual(places);
  });

  it.each([
    ['udp 192.0.2.1 5060', { transport: 'udp', address: '192.0.2.1', port: 5060 }],
    ['WSS [2001:db8::1] 443', { transport: 'wss', address: '2001:db8::1', port: 443 }],
    ['sctp 192.0.2.1 5060', undefined],
    ['udp 192.0.2.1 99999', undefined],
    ['', undefined],
  ])('says "%s"', (text, behind) => {
    const flow = {
      transport: 'udp',
      localAddress: '',
      localPort: 0,
      remoteAddress: '10.0.0.1',
    } as const;
    const bytes = Buffer.from(
      `A\r\nx-carillon-source: lie\r\nX-Carillon-Source : ${text}\r\n\r\nX-Carillon-Source: body`,
    );
    const received = new Edges(['10.0.0.0/8']).received(bytes, {
      ...flow,
      remotePort: 1,
      connectionId: undefined,
    });
    expect(received?.flow.behind).toEqual(behind);
    expect(String(received?.bytes)).toBe('A\r\n\r\nX-Carillon-Source: body');
  });
});
