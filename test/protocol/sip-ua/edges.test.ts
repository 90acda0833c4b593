/** Requests to carriers through edge proxies: choice of edge and target, and the source of responses. */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { Edges } from '../../../src/edge/sip/edges.ts';
import type { SipRequest } from '../../../src/protocol/sip/message.ts';
import type { InviteCommand } from '../../../src/protocol/sip/user-agent-types.ts';
import { answering, inviteCommand, PEER, type ReplyScript, reply, SERVER } from './script.ts';
import { ANSWER, brief, type Peer, World } from './world.ts';

const FIRST = '192.0.2.51';
const SECOND = '192.0.2.52';
const PORT = 5070;
const TARGETS = ['198.51.100.1', '198.51.100.2'];
const GONE_MS = 3_600;

/** Response of a carrier behind the edge. */
const theirs = (request: SipRequest, status: number, more: ReplyScript = {}): Uint8Array =>
  reply(request, status, {
    ...more,
    headers: [
      ['X-Carillon-Source', 'udp 198.51.100.1 5060'],
      ['Record-Route', `<sip:${FIRST}:${PORT};lr>`],
      ...(more.headers ?? []),
    ],
  });
/** Response of the edge itself. */
const own = (request: SipRequest, status: number): Uint8Array =>
  reply(request, status, { tag: status === 100 ? '' : 'edge' });

const next = (request: SipRequest): string => request.header('x-carillon-next') ?? '';

type Rule = Parameters<typeof answering>[1];
/** Answered call: 100 of the edge, 200 of the carrier. */
const answers: Rule = (request) => {
  if (request.method === 'ACK') return undefined;
  return request.method === 'INVITE'
    ? [own(request, 100), theirs(request, 200, { body: ANSWER })]
    : theirs(request, 200);
};

function setup() {
  const world = new World();
  const edges = [FIRST, SECOND].map((address) => ({ address, port: PORT }));
  const caller = world.agent(SERVER, { realm: 'carillon.test', edges });
  const marks = new Edges([FIRST, SECOND]);
  const receive = caller.receive.bind(caller);
  caller.receive = (bytes, flow) => {
    const received = marks.received(bytes, flow) ?? { bytes, flow };
    receive(received.bytes, received.flow);
  };
  const [first, second, peer] = [world.peer(FIRST), world.peer(SECOND), world.peer(PEER)];
  world.dns.set(
    'carrier.test',
    TARGETS.map((address) => ({ transport: 'udp' as const, address, port: 5060 })),
  );
  let leg = 0;
  const call = (more: Partial<InviteCommand> = {}): void => {
    leg += 2;
    caller.dispatch(
      inviteCommand({
        leg: asLegId(leg),
        target: { kind: 'uri', uri: 'sip:bob@carrier.test', transport: 'udp' },
        callId: `out-${leg}`,
        firstResponseMs: 4000,
        ...more,
      }),
    );
  };
  /** OPTIONS that each edge sends every second. */
  const asks = (edge: Peer): void =>
    edge.send(SERVER, [
      `OPTIONS sip:${SERVER} SIP/2.0`,
      `Via: SIP/2.0/UDP ${edge.address}:${PORT};branch=z9hG4bK${world.nowMs}`,
      `From: <sip:edge@${edge.address}>;tag=e`,
      `To: <sip:${SERVER}>`,
      `Call-ID: o${edge.address}${world.nowMs}`,
      'CSeq: 1 OPTIONS',
    ]);
  const hangUp = (): void =>
    caller.dispatch({ kind: 'hangup', leg: asLegId(leg), status: 480, reason: undefined });
  return { world, caller, first, second, peer, call, asks, hangUp };
}

describe('a call to a carrier through an edge', () => {
  it('uses the first edge and passes it the target and the timeout', () => {
    const { world, caller, first, second, call, hangUp } = setup();
    answering(first, answers);
    call();
    world.advance(30);
    const invite = first.lastRequest('INVITE');
    expect(next(invite)).toBe('udp 198.51.100.1 5060 2000');
    expect(invite.requestUri).toBe('sip:bob@carrier.test');
    expect(caller.count('connected')).toBe(1);
    expect(caller.last('heardFrom').peer.flow.behind).toMatchObject({ address: TARGETS[0] });
    hangUp();
    world.advance(30);
    expect(first.received.map(brief)).toEqual(['INVITE', 'ACK', 'BYE']);
    expect(next(first.lastRequest('BYE'))).toBe('');
    expect(second.received).toEqual([]);
  });

  it.each([
    ['reports a timeout', 408],
    ['did not reach the target', 430],
  ])('tries the next target when the edge %s', (_, status) => {
    const { world, caller, first, second, call } = setup();
    answering(first, (request) => {
      if (request.method !== 'INVITE' || !next(request).includes('100.1 ')) return answers(request);
      return [own(request, 100), own(request, status)];
    });
    call();
    world.advance(60);
    expect(caller.count('connected')).toBe(1);
    expect(next(first.lastRequest('INVITE'))).toContain('198.51.100.2');
    expect(second.received).toEqual([]);
    // The unresponsive target is tried last from now on.
    const before = first.received.length;
    call();
    world.advance(30);
    const [again] = first.received.slice(before);
    expect(again?.kind === 'request' && next(again)).toContain('198.51.100.2');
  });

  it('tries the next target through the same edge after a 503 of the carrier; 486 and its own 408 are final', () => {
    for (const [status, tries] of [
      [503, 2],
      [486, 1],
      [408, 1],
    ] as const) {
      const { world, caller, first, second, call } = setup();
      answering(first, (request) =>
        request.method === 'INVITE' ? [own(request, 100), theirs(request, status)] : undefined,
      );
      call();
      world.advance(60);
      expect(caller.last('ended').end).toMatchObject({ how: 'refused', status });
      expect(first.received.filter((one) => brief(one) === 'INVITE')).toHaveLength(tries);
      expect(second.received).toEqual([]);
    }
  });

  it('waits without limit once the carrier has sent 180', () => {
    const { world, caller, first, second, call } = setup();
    answering(first, (request) =>
      request.method === 'INVITE' ? [own(request, 100), theirs(request, 180)] : undefined,
    );
    call();
    world.advance(60_000);
    expect(caller.count('ended')).toBe(0);
    expect(second.received).toEqual([]);
  });

  it('switches the edge after two seconds without response, keeps the target and later tries that edge last', () => {
    const { world, caller, first, second, call } = setup();
    answering(second, answers);
    call();
    world.advance(1_990);
    expect(second.received).toEqual([]);
    world.advance(60);
    expect(caller.count('connected')).toBe(1);
    expect(next(second.lastRequest('INVITE'))).toContain(TARGETS[0]);
    const before = first.received.length;
    call();
    world.advance(60);
    expect(caller.count('connected')).toBe(2);
    expect(first.received.slice(before).map(brief)).not.toContain('INVITE');
  });

  it('switches to the other edge if the first fails while it waits', () => {
    const { world, caller, first, second, call } = setup();
    answering(first, (request) => (request.method === 'INVITE' ? own(request, 100) : undefined));
    answering(second, answers);
    call();
    world.advance(4_100);
    expect(caller.count('connected')).toBe(1);
    expect(next(second.lastRequest('INVITE'))).toContain(TARGETS[0]);
  });

  it('tries an edge that stopped sending OPTIONS last', () => {
    const { world, caller, first, second, call, asks } = setup();
    answering(second, answers);
    asks(first);
    asks(second);
    world.advance(GONE_MS);
    asks(second);
    world.advance(10);
    call();
    world.advance(60);
    expect(caller.count('connected')).toBe(1);
    expect(first.received.map(brief)).not.toContain('INVITE');
  });

  it('ends by timeout if no edge responds, and on a hangup before that', () => {
    const { world, caller, call, hangUp } = setup();
    call({ target: { kind: 'uri', uri: 'sip:bob@198.51.100.7', transport: 'udp' } });
    world.advance(4_100);
    expect(caller.last('ended').end).toMatchObject({ how: 'timeout' });
    call();
    world.advance(100);
    hangUp();
    world.advance(70_000);
    expect(caller.count('ended')).toBe(2);
    expect(caller.ua.transactions).toBe(0);
  });

  it('sends a large INVITE to the edge over TCP and lets the edge connect to a TCP carrier', () => {
    const { world, caller, first, call } = setup();
    answering(first, answers);
    call({ headers: [['X-Long', 'x'.repeat(1500)]] });
    world.advance(60);
    expect(first.lastRequest('INVITE').via.transport).toBe('TCP');
    const uri = 'sip:bob@198.51.100.7;transport=tcp';
    call({ target: { kind: 'uri', uri, transport: 'tcp' } });
    world.advance(60);
    const small = first.lastRequest('INVITE');
    expect(small.via.transport).toBe('UDP');
    expect(next(small)).toBe('tcp 198.51.100.7 5060 4000');
    expect(small.header('contact')).not.toContain('transport=tcp');
    expect(caller.count('connected')).toBe(2);
  });

  it('calls other nodes directly', () => {
    const { world, first, peer, call } = setup();
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}`, transport: 'udp', viaFlow: true } });
    world.advance(60);
    expect(peer.received.map(brief)).toEqual(['INVITE']);
    expect(first.received).toEqual([]);
  });
});

describe('an active call whose edge has failed', () => {
  it('is ended through the other edge, which accepts the Route of the first', () => {
    const { world, first, second, call, asks, hangUp } = setup();
    answering(first, answers);
    answering(second, answers);
    call();
    world.advance(60);
    asks(first);
    world.advance(GONE_MS);
    first.onMessage = () => undefined;
    hangUp();
    world.advance(60);
    expect(first.received.map(brief)).toEqual(['INVITE', 'ACK', '200 OPTIONS']);
    const bye = second.lastRequest('BYE');
    expect(bye.header('route')).toContain(FIRST);
  });

  it('is ended through the other edge if the first fails during the BYE', () => {
    const { world, caller, first, second, call, asks, hangUp } = setup();
    answering(first, answers);
    answering(second, answers);
    call();
    world.advance(60);
    asks(first);
    world.advance(10);
    first.onMessage = () => undefined;
    hangUp();
    world.advance(1_500);
    expect(second.received).toEqual([]);
    world.advance(4_600);
    expect(second.received.map(brief)).toEqual(['BYE']);
    world.advance(60_000);
    expect(caller.ua.transactions).toBe(0);
  });

  it('is acknowledged through the other edge, which delivers the answer', () => {
    const { world, caller, first, second, call, asks } = setup();
    answering(first, (request) =>
      request.method === 'INVITE' ? [own(request, 100), theirs(request, 180)] : undefined,
    );
    call();
    asks(first);
    world.advance(GONE_MS);
    second.sendText(SERVER, theirs(first.lastRequest('INVITE'), 200, { body: ANSWER }));
    world.advance(60);
    expect(caller.count('connected')).toBe(1);
    expect(second.received.map(brief)).toEqual(['ACK']);
  });

  it('keeps waiting for the pending response of its peer', () => {
    const { world, first, second, call, asks, hangUp } = setup();
    answering(first, (request) => (request.method === 'BYE' ? undefined : answers(request)));
    call();
    world.advance(60);
    hangUp();
    for (let turn = 0; turn < 30; turn += 1) {
      asks(first);
      world.advance(1000);
    }
    expect(second.received).toEqual([]);
  });
});

describe('OPTIONS to a carrier', () => {
  it('use an edge too and wait while the edge is live', () => {
    const { world, caller, first, second, asks } = setup();
    answering(first, (request) =>
      request.method === 'OPTIONS' ? theirs(request, 200) : undefined,
    );
    const probe = {
      kind: 'probe',
      uri: 'sip:carrier.test',
      transport: 'udp',
      waitMs: 4000,
    } as const;
    caller.dispatch({ ...probe, id: 1 });
    world.advance(60);
    expect(caller.last('probed')).toMatchObject({ id: 1, status: 200 });
    expect(next(first.lastRequest('OPTIONS'))).toBe('udp 198.51.100.1 5060 2000');
    answering(first, (request) => {
      if (next(request).includes(TARGETS[0] ?? '')) return own(request, 408);
      return theirs(request, 200);
    });
    asks(first);
    caller.dispatch({ ...probe, id: 2 });
    world.advance(60);
    expect(caller.last('probed')).toMatchObject({ id: 2, status: 200 });
    expect(second.received).toEqual([]);
  });
});
