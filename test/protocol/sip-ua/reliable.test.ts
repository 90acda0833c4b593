/** Reliable provisional responses in both directions (RFC 3262), and offers before the answer (RFC 3311). */
import { describe, expect, it } from 'vitest';
import type { SipRequest } from '../../../src/protocol/sip/message.ts';
import {
  answering,
  invite,
  inviteCommand,
  PEER,
  type RequestScript,
  reply,
  SERVER,
  say,
} from './script.ts';
import { ANSWER, brief, OFFER, REALM, World } from './world.ts';

/** A caller whose INVITE has `100rel` in the given header field. The call rings as the test specifies. */
function called(header: string, script: Partial<RequestScript> = {}) {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, trustedSource: () => 'carrier' });
  const peer = world.peer(PEER);
  invite(peer, { headers: [header], ...script });
  world.advance(20);
  const { leg } = server.last('incoming').call;
  const dispatch = (how: 'ring' | 'answer', sdp?: string): void => {
    if (how === 'ring') server.dispatch({ kind: 'ring', leg, sdp });
    else server.dispatch({ kind: 'answer', leg, sdp: sdp ?? ANSWER });
    world.advance(20);
  };
  let cseq = 1;
  const inDialog = (method: string, more: Partial<RequestScript> = {}): void => {
    cseq += 1;
    const to = `<sip:100@${SERVER}>;tag=${peer.lastResponse().to.tag ?? ''}`;
    say(peer, { method, uri: `sip:${SERVER}:5060`, to, cseq, ...more });
    world.advance(20);
  };
  const prack = (sequence: number | string, more: Partial<RequestScript> = {}): void =>
    inDialog('PRACK', { headers: [`RAck: ${sequence} 1 INVITE`], ...more });
  const statuses = () =>
    peer.received.flatMap((m) => (m.kind === 'response' && m.status > 100 ? [brief(m)] : []));
  const sequence = (): number => Number(peer.lastResponse().header('rseq'));
  return { world, server, peer, leg, dispatch, prack, inDialog, statuses, sequence };
}

describe('reliable provisional responses that we send', () => {
  it('required: repeats 180 at T1 doubling until its PRACK; the next one waits for it (§3)', () => {
    const { world, dispatch, prack, peer, statuses, sequence } = called('Require: 100rel');
    dispatch('ring');
    expect(peer.lastResponse().tokens('require')).toEqual(['100rel']);
    const first = sequence();
    expect(first).toBeGreaterThan(0);
    dispatch('ring', ANSWER);
    world.advance(3_600);
    expect(statuses()).toEqual(['180 INVITE', '180 INVITE', '180 INVITE', '180 INVITE']);
    prack(first);
    expect(statuses().slice(4)).toEqual(['200 PRACK', '183 INVITE']);
    expect(sequence()).toBe(first + 1);
    prack(first + 1);
    world.advance(10_000);
    expect(statuses().slice(6)).toEqual(['200 PRACK']);
  });

  it('supported: sends only early media reliably; the 200 waits for its PRACK and omits the answer', () => {
    const { dispatch, prack, peer, statuses, sequence } = called('Supported: 100rel');
    dispatch('ring');
    expect(peer.lastResponse().header('rseq')).toBeUndefined();
    dispatch('ring', ANSWER);
    dispatch('answer');
    expect(statuses()).toEqual(['180 INVITE', '183 INVITE']);
    prack(sequence());
    expect(statuses().slice(2)).toEqual(['200 PRACK', '200 INVITE']);
    expect(peer.lastResponse().body).toHaveLength(0);
  });

  it('sends no further provisional response while the 200 waits for a PRACK', () => {
    const { world, dispatch, prack, statuses, sequence } = called('Supported: 100rel');
    dispatch('ring', ANSWER);
    dispatch('answer');
    dispatch('ring');
    dispatch('ring', ANSWER);
    expect(statuses()).toEqual(['183 INVITE']);
    prack(sequence());
    expect(statuses().slice(1)).toEqual(['200 PRACK', '200 INVITE']);
    world.advance(60_000);
    expect(statuses()).not.toContain('180 INVITE');
  });

  it.each(['Supported', 'Require'])(
    '%s: repeats early media without the answer that the caller has acknowledged (RFC 3261 §13.2.1)',
    (header) => {
      const { world, dispatch, prack, peer, statuses, sequence } = called(`${header}: 100rel`);
      dispatch('ring', ANSWER);
      prack(sequence());
      world.advance(60_000);
      expect(statuses()[2]).toBe('183 INVITE');
      const repeated = peer.lastResponse();
      expect(repeated.body).toHaveLength(0);
      expect(repeated.header('content-type')).toBeUndefined();
      expect(repeated.header('rseq') === undefined).toBe(header === 'Supported');
    },
  );

  it('an answer does not wait for the PRACK of a response without SDP', () => {
    const { dispatch, statuses } = called('Require: 100rel');
    dispatch('ring');
    dispatch('answer');
    expect(statuses()).toEqual(['180 INVITE', '200 INVITE']);
  });

  it('not supported: never sends reliably', () => {
    const { dispatch, peer, statuses } = called('Supported: timer');
    dispatch('ring', ANSWER);
    dispatch('answer');
    expect(peer.lastResponse().body.length).toBeGreaterThan(0);
    expect(statuses()).toEqual(['183 INVITE', '200 INVITE']);
  });

  it('answers an unmatched or repeated PRACK with 481', () => {
    const { dispatch, prack, inDialog, statuses, sequence } = called('Require: 100rel');
    dispatch('ring');
    const first = sequence();
    for (const wrong of [first + 1, 'x', '']) prack(wrong);
    inDialog('PRACK', { headers: [`RAck: ${first} 2 INVITE`] });
    inDialog('PRACK', { headers: [`RAck: ${first} 1 UPDATE`] });
    inDialog('PRACK');
    expect(statuses().filter((status) => status === '481 PRACK')).toHaveLength(6);
    prack(first);
    prack(first);
    expect(
      statuses()
        .filter((status) => /PRACK/.test(status))
        .slice(6),
    ).toEqual(['200 PRACK', '481 PRACK']);
  });

  it('refuses the INVITE and ends the leg without PRACK for 64*T1', () => {
    const { world, server, dispatch, statuses } = called('Require: 100rel');
    dispatch('ring');
    world.advance(32_000);
    expect(statuses().at(-1)).toBe('504 INVITE');
    expect(server.last('ended').end).toMatchObject({ how: 'timeout', reason: 'No PRACK' });
    world.advance(60_000);
    expect([server.ua.transactions, server.ua.legs]).toEqual([0, 0]);
  });

  it('stops retransmissions at a hangup, a CANCEL or an answer', () => {
    const { world, server, leg, dispatch, statuses } = called('Require: 100rel');
    dispatch('ring');
    server.dispatch({ kind: 'hangup', leg, status: 486, reason: undefined });
    world.advance(20);
    const before = statuses().filter((status) => status === '180 INVITE').length;
    world.advance(20_000);
    expect(statuses().filter((status) => status === '180 INVITE')).toHaveLength(before);
  });

  it('answers an INVITE that requires 100rel and has no offer, without ringing', () => {
    const { dispatch, statuses } = called('Require: 100rel', { body: '' });
    dispatch('ring');
    dispatch('answer');
    expect(statuses()).toEqual(['200 INVITE']);
  });
});

describe('offers before the answer', () => {
  it('accepts an offer in UPDATE and PRACK after the first exchange and delays it before (RFC 3311 §5.1)', () => {
    const { server, dispatch, prack, inDialog, peer, statuses, sequence } =
      called('Supported: 100rel');
    dispatch('ring', ANSWER);
    const first = sequence();
    inDialog('UPDATE', { body: OFFER });
    expect(statuses().at(-1)).toBe('500 UPDATE');
    prack(first, { body: OFFER });
    expect(server.count('offered')).toBe(1);
    expect(peer.lastResponse().body.length).toBeGreaterThan(0);
    inDialog('UPDATE', { body: OFFER });
    expect(server.count('offered')).toBe(2);
    expect(statuses().slice(-2)).toEqual(['200 PRACK', '200 UPDATE']);
    dispatch('answer');
    expect(statuses().at(-1)).toBe('200 INVITE');
  });

  it('refuses an UPDATE with 491 while the offer in our 2xx waits for its answer (RFC 3311 §5.2)', () => {
    const { server, dispatch, inDialog, statuses } = called('Supported: 100rel', { body: '' });
    dispatch('answer');
    inDialog('UPDATE', { body: OFFER });
    expect(statuses()).toEqual(['200 INVITE', '491 UPDATE']);
    expect(server.count('offered')).toBe(0);
    inDialog('ACK', { cseq: 1, body: ANSWER });
    inDialog('UPDATE', { body: OFFER });
    expect(statuses().at(-1)).toBe('200 UPDATE');
    expect(server.count('offered')).toBe(1);
  });

  it('the refresh of the session repeats our answer to the last offer', () => {
    const { world, server, dispatch, prack, inDialog, peer, sequence } = called('', {
      headers: ['Supported: 100rel, timer', 'Session-Expires: 90;refresher=uas'],
    });
    const latest = ANSWER.replace('- 1 1 IN', '- 1 2 IN');
    dispatch('ring', ANSWER);
    prack(sequence());
    server.onOffer = () => latest;
    inDialog('UPDATE', { body: OFFER });
    dispatch('answer', ANSWER);
    inDialog('ACK', { cseq: 1 });
    world.advance(46_000);
    expect(peer.lastRequest('INVITE').bodyText).toBe(latest);
  });

  it('starts no session timer before the answer', () => {
    const { world, server, dispatch, prack, inDialog, peer, sequence } =
      called('Supported: 100rel');
    dispatch('ring', ANSWER);
    prack(sequence());
    inDialog('UPDATE', { body: OFFER, headers: ['Supported: timer', 'Session-Expires: 90'] });
    expect(brief(peer.lastResponse())).toBe('200 UPDATE');
    expect(peer.lastResponse().header('session-expires')).toBeUndefined();
    world.advance(80_000);
    expect(server.count('ended')).toBe(0);
  });
});

function calling() {
  const world = new World();
  const caller = world.agent(SERVER, { realm: REALM });
  const peer = world.peer(PEER);
  let request: SipRequest | undefined;
  answering(peer, (received) => {
    if (received.method === 'INVITE') {
      request = received;
      return undefined;
    }
    return received.method === 'ACK' ? undefined : reply(received, 200);
  });
  caller.dispatch(inviteCommand());
  world.advance(20);
  const answers = (
    status: number,
    sequence?: number,
    body?: string,
    ...more: readonly (readonly [string, string])[]
  ): void => {
    if (request === undefined) throw new Error('no INVITE');
    const reliable = [
      ['Require', '100rel'],
      ['RSeq', String(sequence)],
    ] as const;
    const headers = [...(sequence === undefined ? [] : reliable), ...more];
    peer.sendText(SERVER, reply(request, status, { headers, ...(body ? { body } : {}) }));
    world.advance(20);
  };
  return { world, caller, peer, answers, invited: () => request };
}

describe('reliable provisional responses of a called party', () => {
  it('get one PRACK each, in order, and their answer applies (§4)', () => {
    const { caller, peer, answers } = calling();
    expect(peer.lastRequest('INVITE').tokens('supported')).toContain('100rel');
    answers(183, 7, ANSWER);
    expect(peer.lastRequest('PRACK').header('rack')).toBe('7 1 INVITE');
    expect(peer.lastRequest('PRACK').cseq.sequence).toBe(2);
    answers(183, 7, ANSWER);
    answers(180, 9);
    answers(180, 8);
    expect(peer.received.map(brief)).toEqual(['INVITE', 'PRACK', 'PRACK']);
    const reported = caller.events.filter((event) => event.kind === 'progress');
    expect(reported).toMatchObject([
      { status: 183, sdp: ANSWER },
      { status: 180, sdp: undefined },
    ]);
    answers(200);
    expect(caller.last('connected')).toMatchObject({ sdp: ANSWER });
    expect(peer.received.map(brief).at(-1)).toBe('ACK');
  });

  it('sends no PRACK for responses without 100rel', () => {
    const { peer, answers } = calling();
    answers(183, undefined, ANSWER);
    answers(200, undefined, ANSWER);
    expect(peer.received.map(brief)).toEqual(['INVITE', 'ACK']);
  });

  it('an UPDATE before the answer replaces the answer, also for the refresh of the session', () => {
    const { world, caller, peer, answers, invited } = calling();
    const ours = invited();
    if (ours === undefined) throw new Error('no INVITE');
    answers(183, 4, ANSWER);
    say(peer, {
      method: 'UPDATE',
      uri: `sip:${SERVER}:5060`,
      callId: ours.callId,
      cseq: 11,
      body: OFFER,
      from: `${ours.header('to') ?? ''};tag=callee`,
      to: ours.header('from') ?? '',
    });
    world.advance(20);
    answers(180, 5, ANSWER);
    expect(caller.last('progress')).toMatchObject({ status: 180, sdp: undefined });
    answers(200, undefined, ANSWER, ['Session-Expires', '90;refresher=uac']);
    expect(caller.last('connected').sdp).toBeUndefined();
    world.advance(46_000);
    expect(peer.lastRequest('INVITE').cseq.sequence).toBeGreaterThan(1);
    expect(peer.lastRequest('INVITE').bodyText).toBe(ANSWER);
  });

  it('delivers an UPDATE of the called party before the answer to the leg and answers it', () => {
    const { world, caller, peer, answers, invited } = calling();
    const ours = invited();
    if (ours === undefined) throw new Error('no INVITE');
    const update = (cseq: number): void => {
      say(peer, {
        method: 'UPDATE',
        uri: `sip:${SERVER}:5060`,
        callId: ours.callId,
        cseq,
        body: OFFER,
        from: `${ours.header('to') ?? ''};tag=callee`,
        to: ours.header('from') ?? '',
      });
      world.advance(20);
    };
    answers(180, 3);
    update(10);
    expect(caller.count('offered')).toBe(0);
    expect(brief(peer.lastResponse())).toBe('491 UPDATE');
    answers(183, 4, ANSWER);
    update(11);
    expect(caller.count('offered')).toBe(1);
    expect(brief(peer.lastResponse())).toBe('200 UPDATE');
    expect(peer.lastResponse().body.length).toBeGreaterThan(0);
  });
});
