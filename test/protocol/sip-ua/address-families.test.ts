/** A user agent with a public host for each address family. */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { loopMark } from '../../../src/protocol/sip/dialog/capabilities.ts';
import type { SipMessage } from '../../../src/protocol/sip/message.ts';
import type {
  InviteCommand,
  UserAgentOptions,
} from '../../../src/protocol/sip/user-agent-types.ts';
import { answering, invite, inviteCommand, PEER, reply, SERVER, say } from './script.ts';
import { ANSWER, OFFER, type Peer, World } from './world.ts';

const PEER6 = '2001:db8::9';
const [HOST, HOST6] = ['198.51.100.7', '[2001:db8::7]'];

function setup(options: Partial<UserAgentOptions> = {}) {
  const world = new World();
  const both = { publicHost: HOST, publicHost6: '2001:db8::7', trustedSource: () => 'north' };
  const server = world.agent(SERVER, { realm: 'carillon.test', ...both, ...options });
  const peers = { four: world.peer(PEER), six: world.peer(PEER6) };
  const call = (uri: string, more: Partial<InviteCommand> = {}): void =>
    server.dispatch(inviteCommand({ target: { kind: 'uri', uri }, ...more }));
  return { world, server, ...peers, call };
}

/** Host of the top Via, and the whole Contact. */
const shown = (message: SipMessage | undefined) => [
  message?.topVia?.host,
  message?.header('contact'),
];

describe('Via and Contact', () => {
  it.each([
    [PEER, HOST],
    [PEER6, HOST6],
  ])('have the host of the family of %s', (address, host) => {
    const { world, call, four, six } = setup();
    const peer = address === PEER ? four : six;
    answering(peer, (request) =>
      request.method === 'INVITE'
        ? reply(request, 200, { body: ANSWER, contact: `<sip:bob@[${PEER6}]>` })
        : undefined,
    );
    call(address === PEER ? `sip:bob@${PEER}` : `sip:bob@[${PEER6}]`);
    world.advance(50);
    expect(shown(peer.lastRequest('INVITE'))).toEqual([host, `<sip:${host}:5060>`]);
    // The ACK goes to the Contact of the 200, which has IPv6.
    expect(six.lastRequest('ACK').topVia?.host).toBe(HOST6);
  });

  it('change with the target if a name has addresses of both families', () => {
    const { world, call, four, six } = setup();
    world.dns.set('carrier.example', [
      { transport: 'udp', address: PEER6, port: 5060 },
      { transport: 'udp', address: PEER, port: 5060 },
    ]);
    answering(six, (request) => (request.method === 'INVITE' ? reply(request, 503) : undefined));
    call('sip:bob@carrier.example');
    world.advance(50);
    expect(shown(six.lastRequest('INVITE'))).toEqual([HOST6, `<sip:${HOST6}:5060>`]);
    expect(shown(four.lastRequest('INVITE'))).toEqual([HOST, `<sip:${HOST}:5060>`]);
  });

  it('have one host for both families without publicHost6', () => {
    const { world, call, six } = setup({ publicHost: 'sip.example', publicHost6: undefined });
    call(`sip:bob@[${PEER6}]`);
    world.advance(50);
    expect(shown(six.lastRequest('INVITE'))).toEqual(['sip.example', '<sip:sip.example:5060>']);
  });

  it('of a response have the host of the request’s flow', () => {
    const { world, server, four, six } = setup();
    for (const [peer, host, callId] of [
      [four, HOST, 'four'],
      [six, HOST6, 'six'],
    ] as const) {
      invite(peer, { callId });
      world.advance(50);
      const { leg } = server.last('incoming').call;
      server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
      world.advance(50);
      expect(peer.lastResponse().header('contact')).toBe(`<sip:${host}:5060>`);
    }
  });

  it('of a registration have the host of the registrar’s family and keep the parameters', () => {
    const instanceId = 'urn:uuid:00000000-0000-5000-8000-000000000001';
    const { world, server, six } = setup({ instanceId });
    server.dispatch({
      kind: 'register',
      registration: 1,
      aor: 'sip:trunk@registrar.example',
      registrar: 'sip:registrar.example;transport=tcp',
      transport: 'tcp',
      account: { username: 'trunk', password: 'secret' },
      expires: 600,
    });
    world.dns.set('registrar.example', [{ transport: 'tcp', address: PEER6, port: 5060 }]);
    answering(six, (request) =>
      reply(request, 200, { contact: `${request.header('contact')};expires=120` }),
    );
    world.advance(50);
    const contact = `<sip:trunk@${HOST6}:5060;transport=tcp>;+sip.instance="<${instanceId}>";reg-id=1`;
    expect(shown(six.lastRequest('REGISTER'))).toEqual([HOST6, contact]);
    // The granted time of our own contact is used: nine tenths of 120 s, minus the margin.
    expect(server.last('registration')).toMatchObject({ state: 'registered', againIn: 90 });
  });
});

describe('the offer', () => {
  const OFFER6 = OFFER.replaceAll('IP4', 'IP6').replaceAll(PEER, PEER6);
  const both = { sdp: OFFER, sdp6: OFFER6 };
  const invitesTo = ({ received }: Peer) =>
    received.filter((message) => message.kind === 'request' && message.method === 'INVITE');
  const named = (world: World, ...addresses: readonly string[]): void =>
    void world.dns.set(
      'carrier.example',
      addresses.map((address) => ({ transport: 'udp', address, port: 5060 })),
    );

  it.each([
    [PEER, PEER6, OFFER6],
    [PEER6, PEER, OFFER],
  ])('has the family of each target, also after %s failed', (dead, alive, offer) => {
    const { world, server, call, four, six } = setup();
    named(world, dead, alive);
    const [silent, peer] = dead === PEER ? [four, six] : [six, four];
    const account = { username: 'trunk', password: 'secret' };
    const auth = 'Digest realm="carrier.example",nonce="1",algorithm=MD5';
    answering(peer, (request) => {
      if (request.method !== 'INVITE') return undefined;
      const sent = invitesTo(peer).length;
      if (sent === 1) return reply(request, 401, { headers: [['WWW-Authenticate', auth]] });
      if (sent === 2) return reply(request, 422, { headers: [['Min-SE', '900']] });
      const contact = `<sip:callee@${peer === six ? `[${PEER6}]` : PEER}>`;
      const headers = [['Session-Expires', '900;refresher=uac']] as const;
      return reply(request, 200, { body: ANSWER, contact, headers });
    });
    call('sip:bob@carrier.example', { ...both, account, firstResponseMs: 4000 });
    world.advance(50);
    expect(silent.lastRequest('INVITE').bodyText).toBe(offer === OFFER ? OFFER6 : OFFER);
    world.advance(2100);
    expect(invitesTo(peer).map(({ bodyText }) => bodyText)).toEqual([offer, offer, offer]);
    expect(server.last('heardFrom').peer.isOfferedIpv6).toBe(offer === OFFER6);
    // The refresh repeats the offer that the peer knows (RFC 4028 §7.4).
    world.advance(451_000);
    expect(peer.lastRequest('INVITE').cseq.sequence).toBe(4);
    expect(peer.lastRequest('INVITE').bodyText).toBe(offer);
  });

  it('of a call to several phones has the family of each', () => {
    const { world, server, four, six } = setup();
    const bindings = [PEER, PEER6].map((address) => ({
      username: 'bob',
      contactUri: `sip:bob@${address.includes(':') ? `[${address}]` : address}`,
      callId: address,
      cseq: 1,
      expiresUs: Date.UTC(2026, 0, 2) * 1000,
      q: 1,
      instanceId: undefined,
      userAgent: '',
      flow: { transport: 'udp', address, port: 5060, connectionId: undefined } as const,
      path: [],
      updatedUs: 0,
    }));
    server.dispatch({ kind: 'restoreBindings', bindings });
    server.dispatch(inviteCommand({ target: { kind: 'registered', username: 'bob' }, ...both }));
    world.advance(50);
    expect(four.lastRequest('INVITE').bodyText).toBe(OFFER);
    expect(six.lastRequest('INVITE').bodyText).toBe(OFFER6);
  });
});

describe('a request to either host', () => {
  it.each([HOST, HOST6])('belongs to its dialog: %s', (host) => {
    const { world, server, six } = setup();
    invite(six, { callId: 'either' });
    world.advance(50);
    const { leg } = server.last('incoming').call;
    server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
    world.advance(50);
    const to = six.lastResponse().header('to') ?? '';
    say(six, { method: 'BYE', uri: `sip:${host}:5060`, callId: 'either', cseq: 2, to });
    world.advance(50);
    expect(six.lastResponse().status).toBe(200);
    expect(server.last('ended').leg).toBe(leg);
  });

  it.each([HOST, HOST6])('that returns to us is a loop: %s', (host) => {
    const { world, four } = setup();
    const uri = 'sip:100@elsewhere.example';
    const ours = `Via: SIP/2.0/UDP ${host}:5060;branch=z9hG4bKa.${loopMark(uri)}`;
    invite(four, { uri, headers: [ours] });
    world.advance(50);
    expect(four.lastResponse().status).toBe(482);
  });
});

it('an IPv6 public host is in brackets in the URIs of a REFER', () => {
  const { world, server, call, six } = setup({ publicHost: '2001:db8::7', publicHost6: undefined });
  answering(six, (request) =>
    request.method === 'INVITE'
      ? reply(request, 200, { body: ANSWER, contact: `<sip:bob@[${PEER6}]>` })
      : undefined,
  );
  call(`sip:bob@[${PEER6}]`);
  world.advance(50);
  const [leg, to] = [asLegId(2), 'sip:carol@192.0.2.50'];
  server.dispatch({ kind: 'refer', leg, to, by: '1555', guard: undefined });
  world.advance(50);
  expect(six.lastRequest('REFER').header('referred-by')).toBe(`<sip:1555@${HOST6}>`);
});

describe('addresses of an IPv6 peer', () => {
  it('without brackets are refused, because the port would be ambiguous', () => {
    const { world, six } = setup();
    invite(six, { callId: 'bare', contact: `<sip:alice@${PEER6}:5060>` });
    world.advance(50);
    expect(six.lastResponse().status).toBe(400);
  });

  it.each([
    ['[2001:DB8:0::9]', PEER6, HOST6],
    [`[::ffff:${PEER}]`, PEER, HOST],
  ])('are canonical, and IPv4 if they are IPv4-mapped: %s', (host, address, ours) => {
    const { world, call, four, six } = setup();
    call(`sip:bob@${host}`);
    world.advance(50);
    const peer = address === PEER ? four : six;
    expect(peer.lastRequest('INVITE').topVia?.host).toBe(ours);
  });
});
