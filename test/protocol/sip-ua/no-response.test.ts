/** Unresponsive peers: timeouts and late responses. */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type { SipRequest } from '../../../src/protocol/sip/message.ts';
import type { InviteCommand } from '../../../src/protocol/sip/user-agent-types.ts';
import { answering, inviteCommand, PEER, reply, SERVER } from './script.ts';
import { ANSWER, brief, World } from './world.ts';

const SILENT = '192.0.2.71';

function setup() {
  const world = new World();
  const caller = world.agent(SERVER, { realm: 'carillon.test' });
  const silent = world.peer(SILENT);
  const peer = world.peer(PEER);
  const targets = [SILENT, PEER].map((address) => ({
    transport: 'udp' as const,
    address,
    port: 5060,
  }));
  world.dns.set('carrier.test', targets);
  let leg = 0;
  const call = (more: Partial<InviteCommand> = {}): void => {
    leg += 2;
    caller.dispatch(
      inviteCommand({
        leg: asLegId(leg),
        target: { kind: 'uri', uri: 'sip:bob@carrier.test' },
        callId: `out-${leg}`,
        firstResponseMs: 4000,
        ...more,
      }),
    );
  };
  const answers = (request: SipRequest): Uint8Array | undefined =>
    request.method === 'ACK' ? undefined : reply(request, 200, { body: ANSWER });
  return { world, caller, silent, peer, call, answers };
}

/** Last request that the agent sent there, as quoted by ICMP. */
const quoted = (peer: ReturnType<typeof setup>['peer'], method: string) => ({
  kind: 'undelivered' as const,
  method,
  branch: peer.lastRequest(method).via.branch ?? '',
});

describe('an ICMP report of a missing peer', () => {
  it('fails by transport when the retransmission fails too, and the next target is tried', () => {
    const { world, caller, silent, peer, call, answers } = setup();
    answering(peer, answers);
    call();
    world.advance(10);
    caller.dispatch(quoted(silent, 'INVITE'));
    world.advance(20);
    expect(caller.count('connected')).toBe(0);
    world.advance(500);
    caller.dispatch(quoted(silent, 'INVITE'));
    world.advance(20);
    expect(caller.count('connected')).toBe(1);
  });

  it('does not stop retransmissions inside a dialog, or after any response', () => {
    const { world, caller, peer, call, answers } = setup();
    let rings = true;
    answering(peer, (request) => {
      if (request.method === 'BYE') return undefined;
      return rings && request.method === 'INVITE' ? reply(request, 180) : answers(request);
    });
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` } });
    world.advance(20);
    for (let times = 0; times < 2; times += 1) caller.dispatch(quoted(peer, 'INVITE'));
    expect(caller.count('ended')).toBe(0);
    rings = false;
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` } });
    world.advance(20);
    caller.dispatch({ kind: 'hangup', leg: asLegId(4), status: 480, reason: undefined });
    world.advance(10);
    const before = peer.received.filter((m) => brief(m) === 'BYE').length;
    for (let times = 0; times < 2; times += 1) caller.dispatch(quoted(peer, 'BYE'));
    world.advance(600);
    expect(peer.received.filter((m) => brief(m) === 'BYE').length).toBeGreaterThan(before);
  });

  it('is ignored without the branch of the request', () => {
    const { world, caller, call } = setup();
    call();
    world.advance(10);
    caller.dispatch({ kind: 'undelivered', method: 'INVITE', branch: 'z9hG4bKforged' });
    expect(caller.count('ended')).toBe(0);
  });
});

describe('an unresponsive peer', () => {
  it('fails by timeout after firstResponseMs, not after 64*T1', () => {
    const { world, caller, call } = setup();
    call({ target: { kind: 'uri', uri: `sip:bob@${SILENT}` } });
    world.advance(3_999);
    expect(caller.count('ended')).toBe(0);
    world.advance(2);
    expect(caller.last('ended').end).toMatchObject({ how: 'timeout', status: undefined });
  });

  it('a 100 counts as a response, so the timeout no longer applies', () => {
    const { world, caller, silent, call } = setup();
    answering(silent, (request) =>
      request.method === 'INVITE' ? reply(request, 100, { tag: '' }) : undefined,
    );
    call({ target: { kind: 'uri', uri: `sip:bob@${SILENT}` } });
    world.advance(60_000);
    expect(caller.count('ended')).toBe(0);
  });

  it('with two targets per name, the second gets the call in time and later calls first', () => {
    const { world, caller, silent, peer, call, answers } = setup();
    answering(peer, answers);
    call();
    world.advance(1_990);
    expect(peer.received).toEqual([]);
    world.advance(50);
    expect(caller.count('connected')).toBe(1);
    const before = silent.received.length;
    call();
    world.advance(100);
    expect(caller.count('connected')).toBe(2);
    // The first INVITE is still retransmitted there (RFC 3261 §9.1); the second was never sent there.
    expect(silent.received.slice(before)).toEqual([]);
    world.advance(120_000);
    call();
    world.advance(20);
    expect(silent.lastRequest('INVITE').callId).toBe('out-6');
  });

  it('gets CANCEL if it rings late, and ACK and BYE if it answers late; the call continues elsewhere', () => {
    const { world, caller, silent, peer, call, answers } = setup();
    answering(peer, answers);
    call();
    world.advance(2_100);
    const invite = silent.lastRequest('INVITE');
    silent.sendText(SERVER, reply(invite, 180));
    world.advance(20);
    expect(silent.received.map(brief)).toContain('CANCEL');
    silent.sendText(
      SERVER,
      reply(invite, 200, { tag: 'late', body: ANSWER, contact: `<sip:${SILENT}>` }),
    );
    world.advance(20);
    expect(silent.received.map(brief).slice(-2)).toEqual(['ACK', 'BYE']);
    expect(caller.count('connected')).toBe(1);
    expect(caller.count('ended')).toBe(0);
    expect(peer.received.map(brief)).toEqual(['INVITE', 'ACK']);
  });

  it('is abandoned at the hangup of the call; later responses have no effect', () => {
    const { world, caller, call } = setup();
    call({ target: { kind: 'uri', uri: `sip:bob@${SILENT}` } });
    world.advance(1000);
    caller.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(60_000);
    expect(caller.count('ended')).toBe(1);
    expect(caller.ua.transactions).toBe(0);
  });
});

describe('a peer that rings without answering', () => {
  it('is cancelled after answerMs, and the call ends with 408', () => {
    const { world, caller, peer, call } = setup();
    answering(peer, (request) => {
      if (request.method === 'INVITE') return reply(request, 183);
      return request.method === 'ACK' ? undefined : reply(request, 200);
    });
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` }, answerMs: 20_000 });
    world.advance(20_050);
    expect(peer.received.map(brief)).toEqual(['INVITE', 'CANCEL']);
    expect(caller.last('ended').end).toMatchObject({ by: 'local', how: 'refused', status: 408 });
  });
});

describe('additional facts of a refusal', () => {
  const refusedWith = (status: number, headers: ReadonlyArray<readonly [string, string]>) => {
    const { world, caller, peer, call } = setup();
    answering(peer, (request) =>
      request.method === 'INVITE' ? reply(request, status, { headers }) : undefined,
    );
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` } });
    world.advance(50);
    return caller.last('ended').end;
  };

  it('Retry-After of a 503 without comment and parameters', () => {
    const end = refusedWith(503, [['Retry-After', '120 (maintenance);duration=60']]);
    expect(end).toMatchObject({ status: 503, retryAfterMs: 120_000 });
    expect(refusedWith(500, [['Retry-After', '120']]).retryAfterMs).toBeUndefined();
  });

  it('contacts of a 302 by q, limited in number (RFC 3261 §8.1.3.4)', () => {
    const many = Array.from({ length: 9 }, (_, index) => `<sip:${index}@x.test>;q=0.${index}`);
    const end = refusedWith(302, [['Contact', many.join(', ')]]);
    expect(end.contacts).toHaveLength(4);
    // Headers and method must not become part of a Request-URI (§19.1.1).
    const full = refusedWith(302, [['Contact', '<sip:1@x.test;user=phone;method=INVITE?P=%20>']]);
    expect(full.contacts?.[1]).toBe('sip:1@x.test;user=phone');
    expect(end.contacts?.slice(0, 3)).toEqual([
      `sip:callee@${PEER}`,
      'sip:8@x.test',
      'sip:7@x.test',
    ]);
  });
});
