/** Peers that answer nothing: how long they are waited for, and what becomes of an answer that comes after all. */
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
    ...{ transport: 'udp' as const, address, port: 5060 },
  }));
  world.dns.set('carrier.test', targets);
  let leg = 0;
  const call = (more: Partial<InviteCommand> = {}): void => {
    leg += 2;
    caller.tell(
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

/** What the agent has sent there last, as ICMP quotes it. */
const quoted = (peer: ReturnType<typeof setup>['peer'], method: string) => ({
  kind: 'undelivered' as const,
  method,
  branch: peer.lastRequest(method).via.branch ?? '',
});

describe('a peer that is not there, says ICMP', () => {
  it('has failed by transport when the repetition does not arrive either, and the next target is tried', () => {
    const { world, caller, silent, peer, call, answers } = setup();
    answering(peer, answers);
    call();
    world.advance(10);
    caller.tell(quoted(silent, 'INVITE'));
    world.advance(20);
    expect(caller.count('connected')).toBe(0);
    world.advance(500);
    caller.tell(quoted(silent, 'INVITE'));
    world.advance(20);
    expect(caller.count('connected')).toBe(1);
  });

  it('goes on being asked inside a dialog, and once it has answered anything', () => {
    const { world, caller, peer, call, answers } = setup();
    let rings = true;
    answering(peer, (request) => {
      if (request.method === 'BYE') return undefined;
      return rings && request.method === 'INVITE' ? reply(request, 180) : answers(request);
    });
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` } });
    world.advance(20);
    for (let times = 0; times < 2; times += 1) caller.tell(quoted(peer, 'INVITE'));
    expect(caller.count('ended')).toBe(0);
    rings = false;
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` } });
    world.advance(20);
    caller.tell({ kind: 'hangup', leg: asLegId(4), status: 480, reason: undefined });
    world.advance(10);
    const before = peer.heard.filter((m) => brief(m) === 'BYE').length;
    for (let times = 0; times < 2; times += 1) caller.tell(quoted(peer, 'BYE'));
    world.advance(600);
    expect(peer.heard.filter((m) => brief(m) === 'BYE').length).toBeGreaterThan(before);
  });

  it('is not believed without the branch of the request', () => {
    const { world, caller, call } = setup();
    call();
    world.advance(10);
    caller.tell({ kind: 'undelivered', method: 'INVITE', branch: 'z9hG4bKforged' });
    expect(caller.count('ended')).toBe(0);
  });
});

describe('a peer that answers nothing', () => {
  it('has failed by timeout after firstResponseMs, not after 64*T1', () => {
    const { world, caller, call } = setup();
    call({ target: { kind: 'uri', uri: `sip:bob@${SILENT}` } });
    world.advance(3_999);
    expect(caller.count('ended')).toBe(0);
    world.advance(2);
    expect(caller.last('ended').end).toMatchObject({ how: 'timeout', status: undefined });
  });

  it('100 is an answer: whoever sent it is waited for', () => {
    const { world, caller, silent, call } = setup();
    answering(silent, (request) =>
      request.method === 'INVITE' ? reply(request, 100, { tag: '' }) : undefined,
    );
    call({ target: { kind: 'uri', uri: `sip:bob@${SILENT}` } });
    world.advance(60_000);
    expect(caller.count('ended')).toBe(0);
  });

  it('of two targets of a name the second gets the call in time; later calls go there first', () => {
    const { world, caller, silent, peer, call, answers } = setup();
    answering(peer, answers);
    call();
    world.advance(1_990);
    expect(peer.heard).toEqual([]);
    world.advance(50);
    expect(caller.count('connected')).toBe(1);
    const before = silent.heard.length;
    call();
    world.advance(100);
    expect(caller.count('connected')).toBe(2);
    // The first INVITE is still repeated there (RFC 3261 §9.1), the second never went there.
    expect(silent.heard.slice(before)).toEqual([]);
    world.advance(120_000);
    call();
    world.advance(20);
    expect(silent.lastRequest('INVITE').callId).toBe('out-6');
  });

  it('that rings after all gets CANCEL, and one that answers ACK and BYE; the call goes on elsewhere', () => {
    const { world, caller, silent, peer, call, answers } = setup();
    answering(peer, answers);
    call();
    world.advance(2_100);
    const invite = silent.lastRequest('INVITE');
    silent.sendText(SERVER, reply(invite, 180));
    world.advance(20);
    expect(silent.heard.map(brief)).toContain('CANCEL');
    silent.sendText(
      SERVER,
      reply(invite, 200, { tag: 'late', body: ANSWER, contact: `<sip:${SILENT}>` }),
    );
    world.advance(20);
    expect(silent.heard.map(brief).slice(-2)).toEqual(['ACK', 'BYE']);
    expect(caller.count('connected')).toBe(1);
    expect(caller.count('ended')).toBe(0);
    expect(peer.heard.map(brief)).toEqual(['INVITE', 'ACK']);
  });

  it('is left at the hangup of the call, whatever comes then', () => {
    const { world, caller, call } = setup();
    call({ target: { kind: 'uri', uri: `sip:bob@${SILENT}` } });
    world.advance(1000);
    caller.tell({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(60_000);
    expect(caller.count('ended')).toBe(1);
    expect(caller.ua.transactions).toBe(0);
  });
});

describe('a peer that never answers the call', () => {
  it('is cancelled after answerMs, and the call ends as 408', () => {
    const { world, caller, peer, call } = setup();
    answering(peer, (request) => {
      if (request.method === 'INVITE') return reply(request, 183);
      return request.method === 'ACK' ? undefined : reply(request, 200);
    });
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` }, answerMs: 20_000 });
    world.advance(20_050);
    expect(peer.heard.map(brief)).toEqual(['INVITE', 'CANCEL']);
    expect(caller.last('ended').end).toMatchObject({ by: 'local', how: 'refused', status: 408 });
  });
});

describe('what a refusal says besides', () => {
  const refusedWith = (status: number, headers: ReadonlyArray<readonly [string, string]>) => {
    const { world, caller, peer, call } = setup();
    answering(peer, (request) =>
      request.method === 'INVITE' ? reply(request, status, { headers }) : undefined,
    );
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}` } });
    world.advance(50);
    return caller.last('ended').end;
  };

  it('Retry-After of a 503, comment and parameters left away', () => {
    const end = refusedWith(503, [['Retry-After', '120 (maintenance);duration=60']]);
    expect(end).toMatchObject({ status: 503, retryAfterMs: 120_000 });
    expect(refusedWith(500, [['Retry-After', '120']]).retryAfterMs).toBeUndefined();
  });

  it('contacts of a 302, by q, a few at most (RFC 3261 §8.1.3.4)', () => {
    const many = Array.from({ length: 9 }, (_, index) => `<sip:${index}@x.test>;q=0.${index}`);
    const end = refusedWith(302, [['Contact', many.join(', ')]]);
    expect(end.contacts).toHaveLength(4);
    expect(end.contacts?.slice(0, 3)).toEqual([
      `sip:callee@${PEER}`,
      'sip:8@x.test',
      'sip:7@x.test',
    ]);
  });
});
