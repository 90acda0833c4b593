import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type { SipRequest } from '../../../src/protocol/sip/message.ts';
import type { InviteCommand } from '../../../src/protocol/sip/user-agent-types.ts';
import { answering, inviteCommand, inviteFrom, PEER, reply, SERVER, say } from './script.ts';
import { ANSWER, brief, OFFER, World } from './world.ts';

function setup() {
  const world = new World();
  const caller = world.agent(SERVER, { realm: 'carillon.test' });
  const peer = world.peer(PEER);
  const call = (more: Partial<InviteCommand> = {}): void => caller.dispatch(inviteCommand(more));
  const hangup = (reason?: string): void =>
    caller.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason });
  const received = () => peer.received.map(brief);
  return { world, caller, peer, call, hangup, received };
}

/** Answers INVITE with the listed statuses and any other request with 200. */
const callee =
  (...answers: ((invite: SipRequest) => Uint8Array)[]) =>
  (request: SipRequest) => {
    if (request.method === 'INVITE') return answers.map((answer) => answer(request));
    return request.method === 'ACK' ? undefined : reply(request, 200);
  };

describe('outbound INVITE', () => {
  it('reports progress with early media, then connects and acknowledges', () => {
    const { world, caller, peer, call, received } = setup();
    answering(
      peer,
      callee(
        (r) => reply(r, 180),
        (r) => reply(r, 183, { body: ANSWER }),
        (r) => reply(r, 180),
        (r) => reply(r, 200, { body: ANSWER }),
      ),
    );
    call();
    world.advance(50);
    const progress = caller.events.filter((event) => event.kind === 'progress');
    expect(progress.map((p) => [p.status, p.sdp])).toEqual([
      [180, undefined],
      [183, ANSWER],
      [180, undefined],
    ]);
    expect(caller.last('connected')).toMatchObject({ callId: 'out-1', sdp: ANSWER });
    expect(received()).toEqual(['INVITE', 'ACK']);
  });

  it('does not ask again with a longer session interval once it is cancelled', () => {
    const { world, peer, call, hangup, received } = setup();
    let invite: SipRequest | undefined;
    answering(peer, (request) => {
      if (request.method === 'INVITE') invite = request;
      if (request.method === 'CANCEL' && invite !== undefined) {
        const raised = reply(invite, 422, { headers: [['Min-SE', '3600']] });
        return [reply(request, 200), raised];
      }
      return request.method === 'ACK' ? undefined : reply(request, 180);
    });
    call();
    world.advance(50);
    hangup();
    world.advance(1000);
    expect(received()).toEqual(['INVITE', 'CANCEL', 'ACK']);
  });

  it('refuses the BYE of a party that has not answered (RFC 3261 §15)', () => {
    const { world, caller, peer, call } = setup();
    answering(
      peer,
      callee((r) => reply(r, 180)),
    );
    call();
    world.advance(50);
    const ours = peer.lastRequest('INVITE');
    say(peer, {
      method: 'BYE',
      uri: `sip:${SERVER}:5060`,
      callId: ours.callId,
      from: `${ours.header('to')};tag=callee`,
      to: ours.header('from') ?? '',
    });
    world.advance(20);
    expect(brief(peer.lastResponse())).toBe('481 BYE');
    expect(caller.count('ended')).toBe(0);
  });

  it('reports the responding peer once before its response; 100 does not identify it', () => {
    const { world, caller, peer, call } = setup();
    const headers = [['Server', 'Bob/1.0']] as const;
    answering(
      peer,
      callee(
        (r) => reply(r, 100, { headers: [['Server', 'Some proxy']] }),
        (r) => reply(r, 180, { headers }),
        (r) => reply(r, 486, { headers }),
      ),
    );
    call();
    world.advance(50);
    expect(caller.events.map(({ kind }) => kind)).toEqual(['heardFrom', 'progress', 'ended']);
    expect(caller.last('heardFrom').peer).toMatchObject({
      flow: { transport: 'udp', remoteAddress: PEER, remotePort: 5060 },
      software: 'Bob/1.0',
    });
  });

  it('reports the peer again when another target responds (RFC 3263 §4.3)', () => {
    const { world, caller, peer, call } = setup();
    const second = world.peer('192.0.2.10');
    world.dns.set('carrier.example', [
      { transport: 'udp', address: PEER, port: 5060 },
      { transport: 'udp', address: '192.0.2.10', port: 5060 },
    ]);
    answering(
      peer,
      callee(
        (r) => reply(r, 180),
        (r) => reply(r, 503),
      ),
    );
    answering(
      second,
      callee((r) => reply(r, 200, { body: ANSWER })),
    );
    call({ target: { kind: 'uri', uri: 'sip:1@carrier.example' } });
    world.advance(50);
    const peers = caller.events.filter((event) => event.kind === 'heardFrom');
    expect(peers.map((event) => event.peer.flow.remoteAddress)).toEqual([PEER, '192.0.2.10']);
    expect(caller.count('connected')).toBe(1);
  });

  it('repeats the ACK with each repeated 2xx (RFC 3261 §13.2.2.4)', () => {
    const { world, peer, call, received } = setup();
    let ok: Uint8Array | undefined;
    answering(
      peer,
      callee((r) => {
        ok = reply(r, 200, { body: ANSWER });
        return ok;
      }),
    );
    call();
    world.advance(50);
    for (let i = 0; i < 3; i += 1) {
      peer.sendText(SERVER, ok ?? '');
      world.advance(500);
    }
    expect(received()).toEqual(['INVITE', 'ACK', 'ACK', 'ACK', 'ACK']);
    const acks = peer.received.filter((m) => m.kind === 'request' && m.method === 'ACK');
    expect(new Set(acks.map((m) => m.via.branch)).size).toBe(1);
  });

  it('ends the other dialog of a forked 2xx with ACK and BYE (RFC 3261 §13.2.2.4)', () => {
    const { world, caller, peer, call, received } = setup();
    answering(
      peer,
      callee(
        (r) => reply(r, 200, { tag: 'first', body: ANSWER }),
        (r) => reply(r, 200, { tag: 'second', body: ANSWER }),
      ),
    );
    call();
    world.advance(50);
    expect(received()).toEqual(['INVITE', 'ACK', 'ACK', 'BYE']);
    expect(peer.lastRequest('BYE').to.tag).toBe('second');
    expect([caller.count('connected'), caller.count('ended')]).toEqual([1, 0]);
  });

  it('acknowledges a repeated 2xx and ends a fork even after the call has ended', () => {
    const { world, caller, peer, call, hangup, received } = setup();
    const oks: Uint8Array[] = [];
    answering(
      peer,
      callee((r) => {
        const ok = reply(r, 200, { body: ANSWER });
        oks.push(ok, reply(r, 200, { tag: 'fork', body: ANSWER }));
        return ok;
      }),
    );
    call();
    world.advance(50);
    hangup();
    world.advance(10_000);
    for (const ok of [...oks, ...oks]) peer.sendText(SERVER, ok);
    world.advance(50);
    expect(received()).toEqual(['INVITE', 'ACK', 'BYE', 'ACK', 'ACK', 'BYE', 'ACK', 'ACK']);
    const requests = peer.received.filter((m) => m.kind === 'request');
    const acks = requests.filter((m) => m.method === 'ACK');
    const branchOf = (tag: string | undefined) =>
      new Set(acks.filter((m) => m.to.tag === tag).map((m) => m.via.branch)).size;
    expect([branchOf('fork'), branchOf(acks[0]?.to.tag)]).toEqual([1, 1]);
    expect(peer.lastRequest('BYE').to.tag).toBe('fork');
    expect([caller.count('connected'), caller.count('ended')]).toEqual([1, 1]);
  });

  it('reports and acknowledges a refusal with status and Reason', () => {
    const { world, caller, peer, call, received } = setup();
    answering(
      peer,
      callee((r) => reply(r, 486, { headers: [['Reason', 'Q.850;cause=17']] })),
    );
    call();
    world.advance(50);
    expect(caller.last('ended').end).toEqual({
      by: 'remote',
      how: 'refused',
      status: 486,
      reason: 'Q.850;cause=17',
    });
    expect(received()).toEqual(['INVITE', 'ACK']);
  });

  it('ends by timeout without response for 64*T1 (RFC 3261 §17.1.1.2)', () => {
    const { world, caller, call } = setup();
    call();
    world.advance(31_999);
    expect(caller.count('ended')).toBe(0);
    world.advance(10);
    expect(caller.last('ended').end).toMatchObject({ by: 'remote', how: 'timeout' });
  });

  it('answers 401 and 407 with the account, each in a new transaction with a new CSeq (RFC 3261 §22.2)', () => {
    const { world, caller, peer, call } = setup();
    const challenge = 'Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth"';
    answering(peer, (request) => {
      if (request.method !== 'INVITE') return undefined;
      if (request.header('proxy-authorization') === undefined) {
        return reply(request, 407, { headers: [['Proxy-Authenticate', challenge]] });
      }
      if (request.header('authorization') === undefined) {
        return reply(request, 401, { headers: [['WWW-Authenticate', challenge]] });
      }
      return reply(request, 200, { body: ANSWER });
    });
    call({ account: { username: 'u', password: 'p' } });
    world.advance(100);
    expect(caller.count('connected')).toBe(1);
    expect(peer.lastRequest('INVITE').cseq.sequence).toBe(3);
    expect(peer.lastRequest('ACK').cseq.sequence).toBe(3);
  });

  it('answers only the realm of the account, if it names one', () => {
    const account = { username: 'u', password: 'p', realm: 'ours' };
    const attempts = (realm: string): readonly string[] => {
      const { world, peer, call, received } = setup();
      const headers = [['WWW-Authenticate', `Digest realm="${realm}", nonce="n"`]] as const;
      answering(
        peer,
        callee((r) => reply(r, r.header('authorization') === undefined ? 401 : 486, { headers })),
      );
      call({ account });
      world.advance(100);
      return received();
    };
    expect(attempts('ours')).toEqual(['INVITE', 'ACK', 'INVITE', 'ACK']);
    expect(attempts('other')).toEqual(['INVITE', 'ACK']);
  });

  it('stops when the same challenge is repeated, because the password is wrong', () => {
    const { world, caller, peer, call, received } = setup();
    const headers = [['WWW-Authenticate', 'Digest realm="r", nonce="n", qop="auth"']] as const;
    answering(
      peer,
      callee((r) => reply(r, 401, { headers })),
    );
    call({ account: { username: 'u', password: 'p' } });
    world.advance(100);
    expect(caller.last('ended').end).toMatchObject({ how: 'refused', status: 401 });
    expect(received()).toEqual(['INVITE', 'ACK', 'INVITE', 'ACK']);
  });

  it('retries with a longer session interval after 422, a limited number of times (RFC 4028 §7.3)', () => {
    const { world, caller, peer, call } = setup();
    answering(peer, (request) => {
      if (request.method !== 'INVITE') return undefined;
      const brief = Number.parseInt(request.header('session-expires') ?? '0', 10) < 3600;
      return brief
        ? reply(request, 422, { headers: [['Min-SE', '3600']] })
        : reply(request, 200, { body: ANSWER });
    });
    call();
    world.advance(100);
    expect(caller.count('connected')).toBe(1);
    expect(peer.lastRequest('INVITE').header('min-se')).toBe('3600');
    const stubborn = setup();
    answering(
      stubborn.peer,
      callee((r) => reply(r, 422, { headers: [['Min-SE', '90']] })),
    );
    stubborn.call();
    stubborn.world.advance(100);
    expect(stubborn.caller.last('ended').end).toMatchObject({ how: 'refused', status: 422 });
  });
});

describe('outbound CANCEL', () => {
  it('waits for the first provisional response (RFC 3261 §9.1) and contains the Reason', () => {
    const { world, caller, peer, call, hangup, received } = setup();
    call();
    world.advance(20);
    hangup('SIP;cause=200;text="Call completed elsewhere"');
    world.advance(100);
    expect(received()).toEqual(['INVITE']);
    expect(caller.last('ended').end).toMatchObject({ by: 'local', how: 'cancel' });
    const invite = peer.lastRequest('INVITE');
    answering(peer, callee());
    peer.sendText(SERVER, reply(invite, 180));
    world.advance(20);
    peer.sendText(SERVER, reply(invite, 487));
    world.advance(20);
    expect(received()).toEqual(['INVITE', 'CANCEL', 'ACK']);
    expect(peer.lastRequest('CANCEL').header('reason')).toContain('cause=200');
    expect(peer.lastRequest('CANCEL').via.branch).toBe(invite.via.branch);
  });

  it('crossed by a 200: ACK, then BYE along the route set (RFC 3261 §15)', () => {
    const { world, caller, peer, call, hangup, received } = setup();
    let invite: SipRequest | undefined;
    answering(peer, (request) => {
      if (request.method === 'INVITE') {
        invite = request;
        return reply(request, 180);
      }
      return request.method === 'ACK' ? undefined : reply(request, 200);
    });
    call();
    world.advance(50);
    hangup();
    const route = [['Record-Route', `<sip:${PEER};lr>`]] as const;
    if (invite !== undefined) {
      peer.sendText(SERVER, reply(invite, 200, { body: ANSWER, headers: route }));
    }
    world.advance(100);
    expect(received()).toEqual(['INVITE', 'CANCEL', 'ACK', 'BYE']);
    expect(peer.lastRequest('BYE').list('route')).toEqual([`<sip:${PEER};lr>`]);
    expect([caller.count('connected'), caller.count('ended')]).toEqual([0, 1]);
  });

  it('sends no message if the INVITE was not sent yet', () => {
    const { world, caller, call, hangup, received } = setup();
    world.dns.set('slow.test', [{ transport: 'udp', address: PEER, port: 5060 }]);
    call({ target: { kind: 'uri', uri: 'sip:bob@slow.test' } });
    hangup();
    world.advance(1000);
    expect(received()).toEqual([]);
    expect(caller.last('ended').end).toMatchObject({ by: 'local', how: 'cancel' });
  });
});

describe('finding the next hop (RFC 3263 §4.3)', () => {
  const targets = ['192.0.2.71', '192.0.2.72', PEER].map((address) => ({
    transport: 'udp' as const,
    address,
    port: 5060,
  }));
  const named = { target: { kind: 'uri', uri: 'sip:bob@carrier.test' } } as const;

  it('tries the next target after a timeout and after a 503, which it acknowledges', () => {
    const { world, caller, peer, call } = setup();
    world.dns.set('carrier.test', targets);
    const busy = world.peer('192.0.2.72');
    answering(
      busy,
      callee((r) => reply(r, 503)),
    );
    answering(
      peer,
      callee((r) => reply(r, 200, { body: ANSWER })),
    );
    call(named);
    world.advance(33_000);
    expect(busy.received.map(brief)).toEqual(['INVITE', 'ACK']);
    expect(caller.count('connected')).toBe(1);
    const branches = [busy, peer].map((p) => p.lastRequest('INVITE').via.branch);
    expect(new Set(branches).size).toBe(2);
  });

  it('tries a target last for the Retry-After time of its 503 (RFC 3261 §21.5.4)', () => {
    const { world, caller, peer, call } = setup();
    world.dns.set('carrier.test', targets.slice(1));
    const busy = world.peer('192.0.2.72');
    answering(
      busy,
      callee((r) => reply(r, 503, { headers: [['Retry-After', '20']] })),
    );
    answering(
      peer,
      callee((r) => reply(r, 200, { body: ANSWER })),
    );
    const requested = (): number => busy.received.filter((m) => brief(m) === 'INVITE').length;
    for (const [waitMs, times] of [
      [100, 1],
      [15_000, 1],
      [6_000, 2],
    ] as const) {
      world.advance(waitMs);
      call(named);
      world.advance(100);
      expect(requested()).toBe(times);
    }
    expect(caller.count('connected')).toBe(3);
  });

  it('tries no other target after a response of the callee such as 486 or 603', () => {
    for (const status of [486, 603, 500]) {
      const { world, caller, peer, call } = setup();
      world.dns.set('carrier.test', targets.slice(1));
      answering(
        world.peer('192.0.2.72'),
        callee((r) => reply(r, status)),
      );
      call(named);
      world.advance(100);
      expect(caller.last('ended').end).toMatchObject({ status });
      expect(peer.received).toEqual([]);
    }
  });

  it('ends as unreachable if DNS returns no address or no socket supports the transport', () => {
    const { world, caller, call } = setup();
    call(named);
    call({ leg: asLegId(4), target: { kind: 'uri', uri: `sip:bob@${PEER};transport=tls` } });
    call({ leg: asLegId(6), target: { kind: 'registered', username: 'nobody' } });
    expect(caller.count('ended')).toBe(0);
    world.advance(10);
    const ends = caller.events.filter((event) => event.kind === 'ended');
    expect(ends.map(({ end }) => end.how)).toEqual(['unreachable', 'unreachable', 'unreachable']);
  });

  const large = { sdp: `${OFFER}a=x:${'y'.repeat(1300)}\r\n` };

  it('uses TCP for a UDP peer only if its policy says so', () => {
    const to = (largeOverTcp: boolean) => {
      const { world, peer, call } = setup();
      const transports: string[] = [];
      peer.onMessage = (_message, flow) => transports.push(flow.transport);
      call({
        target: { kind: 'uri', uri: `sip:bob@${PEER}`, transport: 'udp', largeOverTcp },
        ...large,
      });
      world.advance(30);
      return transports[0];
    };
    expect(to(true)).toBe('tcp');
    expect(to(false)).toBe('udp');
  });

  it('sends above 1300 bytes over TCP without an explicit UDP transport, and over UDP if TCP is refused (§18.1.1)', () => {
    const { world, peer, call } = setup();
    call(large);
    world.advance(20);
    expect(peer.lastRequest('INVITE').via.transport).toBe('TCP');
    const without = setup();
    without.world.refusing.add(`${PEER}:5060`);
    without.call(large);
    without.world.advance(20);
    expect(without.peer.lastRequest('INVITE').via.transport).toBe('UDP');
  });

  it.each([
    ['without an explicit UDP transport', {}, '', 'TCP'],
    ['if the policy says so', { transport: 'udp', largeOverTcp: true }, '', 'TCP'],
    ['not with an explicit UDP transport', { transport: 'udp' }, '', 'UDP'],
    ['not if the Contact says UDP', {}, ';transport=udp', 'UDP'],
  ] as const)('does so inside a dialog too: %s', (_, way, contact, transport) => {
    const { world, peer, call, hangup } = setup();
    const answer = { body: ANSWER, contact: `<sip:callee@${PEER}${contact}>` };
    answering(
      peer,
      callee((request) => reply(request, 200, answer)),
    );
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER}`, ...way } });
    world.advance(50);
    expect(peer.lastRequest('ACK').via.transport).toBe('UDP');
    hangup(`Q.850;cause=16;text="${'x'.repeat(1300)}"`);
    world.advance(50);
    expect(peer.lastRequest('BYE').via.transport).toBe(transport);
  });

  it('uses UDP for every size if the carrier is configured for it', () => {
    const { world, peer, call } = setup();
    call({ ...large, target: { kind: 'uri', uri: `sip:bob@${PEER}`, transport: 'udp' } });
    world.advance(20);
    expect(peer.lastRequest('INVITE').via.transport).toBe('UDP');
  });

  it('ends by transport if the connection closes before a response', () => {
    const { world, caller, call } = setup();
    call({ target: { kind: 'uri', uri: `sip:bob@${PEER};transport=tcp` } });
    world.advance(20);
    caller.dispatch({ kind: 'connectionLost', connectionId: 1 });
    world.advance(20);
    expect(caller.last('ended').end).toMatchObject({ how: 'transport' });
  });
});

it('hears a refusal with a malformed Date and Contact', () => {
  const { world, caller, peer, call } = setup();
  const headers = [['Date', 'yesterday']] as const;
  answering(
    peer,
    callee((r) => reply(r, 486, { headers, contact: '<sip:x' })),
  );
  call();
  world.advance(50);
  expect(caller.last('ended').end).toMatchObject({ how: 'refused', status: 486 });
});

describe('an answered outbound call', () => {
  function talking(headers: readonly (readonly [string, string])[] = []) {
    const all = setup();
    answering(
      all.peer,
      callee((r) => reply(r, 200, { body: ANSWER, headers })),
    );
    all.call();
    all.world.advance(50);
    return all;
  }
  const refresh = (interval: number, refresher: string) =>
    [['Session-Expires', `${interval};refresher=${refresher}`]] as const;

  it('is not refreshed if the peer has no session timer (RFC 4028 §7.2)', () => {
    const { world, caller, received } = talking();
    world.advance(7_200_000);
    expect(received()).toEqual(['INVITE', 'ACK']);
    expect(caller.count('ended')).toBe(0);
  });

  it('is refreshed by UPDATE at half the interval if the peer allows it (RFC 4028 §7.4)', () => {
    const { world, peer, received } = talking([
      ...refresh(200, 'uac'),
      ['Allow', 'INVITE, UPDATE'],
    ]);
    world.advance(99_000);
    expect(received()).toEqual(['INVITE', 'ACK']);
    world.advance(2_000);
    expect(received()).toEqual(['INVITE', 'ACK', 'UPDATE']);
    expect(peer.lastRequest('UPDATE').header('session-expires')).toBe('200;refresher=uac');
  });

  it('is refreshed by re-INVITE with the same SDP otherwise', () => {
    const { world, peer, received } = talking(refresh(200, 'uac'));
    world.advance(101_000);
    expect(received()).toEqual(['INVITE', 'ACK', 'INVITE', 'ACK']);
    expect(peer.lastRequest('INVITE').bodyText).toBe(OFFER);
    expect(peer.lastRequest('INVITE').to.tag).toBe('callee');
  });

  it('limits the immediate retries of a refresh that gets 422 with a higher Min-SE each time', () => {
    const { world, caller, peer } = talking([...refresh(200, 'uac'), ['Allow', 'UPDATE']]);
    let updates = 0;
    answering(peer, (request) => {
      if (request.method !== 'UPDATE') return reply(request, 200);
      updates += 1;
      return reply(request, 422, { headers: [['Min-SE', String(200 + updates)]] });
    });
    world.advance(105_000);
    expect(updates).toBe(3);
    world.advance(30_000);
    expect(updates).toBeLessThan(8);
    world.advance(40_000);
    expect(caller.last('ended').end).toMatchObject({ how: 'sessionExpired' });
  });

  it('ends with BYE if the peer does not refresh as agreed (RFC 4028 §10)', () => {
    const { world, caller, received } = talking(refresh(120, 'uas'));
    world.advance(87_900);
    expect(caller.count('ended')).toBe(0);
    world.advance(200);
    expect(caller.last('ended').end).toMatchObject({ by: 'local', how: 'sessionExpired' });
    expect(received()).toEqual(['INVITE', 'ACK', 'BYE']);
  });

  it('ends when the refresh gets 481 or no response (RFC 5057 §5.1)', () => {
    for (const answer of [481, undefined]) {
      const { world, caller, peer } = talking([...refresh(200, 'uac'), ['Allow', 'UPDATE']]);
      answering(peer, (r) => (answer === undefined ? undefined : reply(r, answer)));
      world.advance(134_000);
      expect(caller.last('ended').end).toMatchObject({ how: 'sessionExpired' });
    }
  });

  it('answers a re-INVITE that crosses ours with 491 and retries ours later (glare, RFC 3261 §14.1)', () => {
    const { world, caller, peer, received } = talking(refresh(200, 'uac'));
    let refreshes = 0;
    answering(peer, (request) => {
      if (request.method !== 'INVITE') return undefined;
      refreshes += 1;
      return refreshes === 1 ? undefined : reply(request, refreshes === 2 ? 200 : 491);
    });
    world.advance(100_001);
    expect(refreshes).toBe(1);
    const ours = peer.lastRequest('INVITE');
    say(peer, inviteFrom(ours, { cseq: 50 }));
    world.advance(20);
    expect(received()).toContain('491 INVITE');
    peer.sendText(SERVER, reply(ours, 491));
    world.advance(2_000);
    expect(peer.received.filter((m) => m.kind === 'request' && m.method === 'INVITE')).toHaveLength(
      2,
    );
    world.advance(2_100);
    expect(peer.lastRequest('INVITE').cseq.sequence).toBeGreaterThan(ours.cseq.sequence);
    expect(caller.count('ended')).toBe(0);
  });

  it('sends a digit by INFO', () => {
    const { world, caller, peer } = talking();
    caller.dispatch({ kind: 'sendDigit', leg: asLegId(2), digit: '7', durationMs: 200 });
    world.advance(20);
    expect(peer.lastRequest('INFO').bodyText).toBe('Signal=7\r\nDuration=200\r\n');
  });
});
