import { describe, expect, it } from 'vitest';
import type { UserAgentOptions } from '../../../src/protocol/sip/user-agent-types.ts';
import { invite, PEER, type RequestScript, SERVER, say } from './script.ts';
import { ANSWER, brief, OFFER, type Peer, REALM, World } from './world.ts';

/** A service called by a trusted carrier, without digest authentication. */
function setup(options: Partial<UserAgentOptions> = {}) {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, trustedSource: () => 'carrier', ...options });
  const peer = world.peer(PEER);
  const statuses = () =>
    peer.received.flatMap((m) => (m.kind === 'response' && m.status > 100 ? [brief(m)] : []));
  const requests = () => peer.received.flatMap((m) => (m.kind === 'request' ? [m.method] : []));
  return { world, server, peer, statuses, requests };
}

function ringing(options: Partial<UserAgentOptions> = {}, script: Partial<RequestScript> = {}) {
  const all = setup(options);
  invite(all.peer, script);
  all.world.advance(20);
  return { ...all, leg: all.server.last('incoming').call.leg };
}

const tagOf = (peer: Peer): string => peer.lastResponse().to.tag ?? '';
const inDialog = (peer: Peer, script: RequestScript): RequestScript => ({
  uri: `sip:${SERVER}:5060`,
  to: `<sip:100@${SERVER}>;tag=${tagOf(peer)}`,
  ...script,
});
const ack = (peer: Peer, cseq = 1, body?: string): void =>
  say(peer, inDialog(peer, { method: 'ACK', cseq, ...(body === undefined ? {} : { body }) }));

function talking(options: Partial<UserAgentOptions> = {}, script: Partial<RequestScript> = {}) {
  const all = ringing(options, script);
  all.server.dispatch({ kind: 'answer', leg: all.leg, sdp: ANSWER });
  all.world.advance(20);
  ack(all.peer);
  all.world.advance(20);
  return all;
}

describe('inbound INVITE', () => {
  it('from a carrier address needs no digest and gets 100 immediately', () => {
    const { server, peer } = ringing();
    expect(peer.received.map(brief)).toEqual(['100 INVITE']);
    expect(server.last('incoming').call).toMatchObject({ carrier: 'carrier', username: undefined });
  });

  it('from a carrier address is challenged if it uses a local user name (shared address)', () => {
    const { world, server, peer, statuses } = setup();
    server.users.set('alice', 'secret12');
    invite(peer);
    world.advance(20);
    expect(statuses()).toEqual(['401 INVITE']);
    expect(server.count('incoming')).toBe(0);
  });

  it.each(['alice', '%61lice'])('likewise for a MESSAGE of %s', (user) => {
    const { world, server, peer, statuses } = setup({ messageMaxBytes: 100 });
    server.users.set('alice', 'secret12');
    const from = `<sip:${user}@${SERVER}>;tag=peer`;
    say(peer, { method: 'MESSAGE', from, headers: ['Content-Type: text/plain'], body: 'hello' });
    world.advance(20);
    expect(statuses()).toEqual(['401 MESSAGE']);
    expect(server.count('message')).toBe(0);
  });

  it('rings with 180, with 183 and SDP for early media, and repeats it every minute (RFC 3261 §13.3.1.1)', () => {
    const { world, server, peer, leg, statuses } = ringing();
    server.dispatch({ kind: 'ring', leg, sdp: undefined });
    server.dispatch({ kind: 'ring', leg, sdp: ANSWER });
    world.advance(60_100);
    expect(statuses()).toEqual(['180 INVITE', '183 INVITE', '183 INVITE']);
    expect(peer.lastResponse().bodyText).toBe(ANSWER);
  });

  it('repeats the 2xx at T1 doubling to T2 until the ACK (RFC 3261 §13.3.1.4)', () => {
    const { world, server, leg } = ringing();
    server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
    const startMs = world.nowMs;
    world.advance(12_000);
    const times = world.sent
      .filter(({ message }) => brief(message) === '200 INVITE')
      .map(({ atMs }) => atMs - startMs);
    expect(times).toEqual([0, 500, 1500, 3500, 7500, 11_500]);
  });

  it('sends BYE and ends after 64*T1 without ACK (RFC 3261 §13.3.1.4)', () => {
    const { world, server, leg, requests } = ringing();
    server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
    world.advance(31_999);
    expect(server.count('ended')).toBe(0);
    world.advance(100);
    expect(server.last('ended').end).toMatchObject({ by: 'remote', how: 'timeout' });
    expect(requests()).toContain('BYE');
  });

  it('delays the BYE until the ACK if hung up before (RFC 3261 §15)', () => {
    const { world, server, peer, leg, requests } = ringing();
    server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
    server.dispatch({ kind: 'hangup', leg, status: 480, reason: undefined });
    world.advance(100);
    expect(server.last('ended').end).toMatchObject({ by: 'local', how: 'bye' });
    expect(requests()).toEqual([]);
    ack(peer);
    world.advance(100);
    expect(requests()).toEqual(['BYE']);
  });

  it('without offer: our 200 contains the offer and the ACK the answer (RFC 3264 §4)', () => {
    const { world, server, peer, leg } = ringing({}, { body: '' });
    expect(server.last('incoming').call.sdp).toBeUndefined();
    server.dispatch({ kind: 'ring', leg, sdp: ANSWER });
    server.dispatch({ kind: 'answer', leg, sdp: OFFER });
    world.advance(20);
    expect(peer.received.filter((m) => m.body.length > 0).map(brief)).toEqual(['200 INVITE']);
    ack(peer, 1, ANSWER);
    world.advance(20);
    expect(server.last('answered')).toMatchObject({ sdp: ANSWER });
    expect(server.count('acknowledged')).toBe(1);
  });

  it('without offer is ended by BYE if the ACK has no answer', () => {
    const { world, server, peer, leg, requests } = ringing({}, { body: '' });
    server.dispatch({ kind: 'answer', leg, sdp: OFFER });
    world.advance(20);
    ack(peer);
    world.advance(20);
    expect(server.last('ended').end).toMatchObject({ by: 'local', how: 'refused', status: 488 });
    expect(requests()).toContain('BYE');
  });

  it('explains a refused offer in Warning (§20.43)', () => {
    const { world, server, peer, leg } = ringing();
    const warning = { code: 301, text: 'no "IPv6" here' };
    server.dispatch({ kind: 'hangup', leg, status: 488, reason: undefined, warning });
    world.advance(20);
    expect(peer.lastResponse().header('warning')).toBe(`301 ${SERVER} "no \\"IPv6\\" here"`);
  });

  it('ends with 487 when its Expires elapses before the answer (RFC 3261 §13.3.1)', () => {
    const { world, server, statuses } = ringing({}, { headers: ['Expires: 20'] });
    world.advance(20_100);
    expect(statuses()).toContain('487 INVITE');
    expect(server.last('ended').end).toMatchObject({ how: 'cancel' });
  });

  it('has no time limit with an Expires of 0', () => {
    const { world, server, statuses } = ringing({}, { headers: ['Expires: 0'] });
    world.advance(60_000);
    expect(statuses()).toEqual([]);
    expect(server.count('ended')).toBe(0);
  });

  it('finds SDP in a multipart body (RFC 5621 §3.1)', () => {
    const body = `--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b\r\nContent-Type: application/sdp\r\n\r\n${OFFER}\r\n--b--\r\n`;
    const { server } = ringing({}, { body, headers: ['Content-Type: multipart/mixed;boundary=b'] });
    expect(server.last('incoming').call.sdp).toBe(OFFER);
  });

  it.each([
    [
      'with line feeds only',
      `--b\nContent-Type: text/plain\n\nhello\n--b\nContent-Type: application/sdp\n\n${OFFER}\n--b--\n`,
    ],
    [
      'inside another one',
      `--b\r\nContent-Type: multipart/alternative;\r\n boundary="inner"\r\n\r\n--inner\r\nContent-Type: text/plain\r\n\r\nhello\r\n--inner\r\nContent-Type: application/sdp\r\n\r\n${OFFER}\r\n--inner--\r\n\r\n--b--\r\n`,
    ],
    [
      'behind the description of an early session (RFC 3959)',
      `--b\r\nContent-Type: application/sdp\r\nContent-Disposition: early-session\r\n\r\nv=0\r\n--b\r\nContent-Type: application/sdp\r\n\r\n${OFFER}\r\n--b--\r\n`,
    ],
  ])('finds SDP in a multipart body %s', (_, body) => {
    const { server } = ringing({}, { body, headers: ['Content-Type: multipart/mixed;boundary=b'] });
    expect(server.last('incoming').call.sdp).toBe(OFFER);
  });

  it('is refused with 503 and Retry-After while paused, and accepted afterwards', () => {
    const { world, server, peer, statuses } = ringing();
    server.dispatch({ kind: 'pause', cause: 'Redis does not answer' });
    invite(peer, { callId: 'second' });
    say(peer, { method: 'OPTIONS', callId: 'third' });
    world.advance(20);
    expect(statuses()).toEqual(['503 INVITE', '503 OPTIONS']);
    for (const message of peer.received.slice(-2))
      expect(message.header('warning')).toMatch(/^399 \S+ "Redis does not answer"$/);
    server.dispatch({ kind: 'pause', cause: undefined });
    say(peer, { method: 'OPTIONS', callId: 'fourth' });
    world.advance(20);
    expect(statuses()).toContain('200 OPTIONS');
  });

  it('is refused with 503 while draining and above the call limit', () => {
    const { world, server, peer, statuses } = ringing({
      limits: { maxSessions: 1, maxWaiting: 10 },
    });
    invite(peer, { callId: 'second' });
    world.advance(20);
    expect(statuses()).toEqual(['503 INVITE']);
    server.dispatch({ kind: 'drain' });
    say(peer, { method: 'OPTIONS', callId: 'third' });
    world.advance(20);
    expect(statuses()).toEqual(['503 INVITE', '503 OPTIONS']);
  });
});

describe('CANCEL (RFC 3261 §9)', () => {
  const cancel = (peer: Peer, branch: string): void =>
    say(peer, { method: 'CANCEL', branch, headers: ['Reason: SIP;cause=200;text="elsewhere"'] });

  it('of a ringing call: 200 to the CANCEL, 487 to the INVITE, and its Reason is reported', () => {
    const { world, server, peer, statuses } = ringing({}, { branch: 'z9hG4bKc1' });
    cancel(peer, 'z9hG4bKc1');
    world.advance(20);
    expect(statuses()).toEqual(['200 CANCEL', '487 INVITE']);
    expect(server.last('ended').end).toMatchObject({
      by: 'remote',
      how: 'cancel',
      reason: 'SIP;cause=200;text="elsewhere"',
    });
  });

  it('after the 200 has no effect', () => {
    const { world, server, peer, leg, statuses } = ringing({}, { branch: 'z9hG4bKc2' });
    server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
    cancel(peer, 'z9hG4bKc2');
    world.advance(20);
    ack(peer);
    world.advance(20);
    expect(statuses()).toEqual(['200 INVITE', '200 CANCEL']);
    expect(server.count('ended')).toBe(0);
  });

  it('its 200 has the To tag of the INVITE, even before the caller is identified (§9.2)', () => {
    for (const users of [[], ['alice']]) {
      const all = setup();
      for (const user of users) all.server.users.set(user, 'secret12');
      invite(all.peer, { branch: 'z9hG4bKcancelled' });
      all.world.advance(users.length === 0 ? 20 : 0);
      say(all.peer, { method: 'CANCEL', branch: 'z9hG4bKcancelled', contact: null });
      all.world.advance(50);
      const finals = all.peer.received.flatMap((m) => (m.kind === 'response' ? [m] : []));
      const tags = finals.filter(({ status }) => status >= 200).map(({ to }) => to.tag);
      expect(new Set(tags).size).toBe(1);
    }
  });

  it('without a matching INVITE gets 481', () => {
    const { world, peer, statuses } = setup();
    cancel(peer, 'z9hG4bKnone');
    world.advance(20);
    expect(statuses()).toEqual(['481 CANCEL']);
  });

  it('during the lookup of the caller ends the INVITE without an event', () => {
    const { world, server, peer, statuses } = setup({ trustedSource: () => undefined });
    server.users.set('alice', 'secret12');
    invite(peer, { callId: 'asks-first' });
    world.advance(20);
    const nonce = /nonce="[^"]*"/.exec(peer.lastResponse().header('www-authenticate') ?? '')?.[0];
    const credentials = `Authorization: Digest username="alice",realm="carillon.test",${nonce},uri="sip:100@192.0.2.1",response="00"`;
    peer.received.length = 0;
    invite(peer, { branch: 'z9hG4bKc3', headers: [credentials] });
    cancel(peer, 'z9hG4bKc3');
    world.advance(50);
    expect(statuses()).toEqual(['200 CANCEL', '487 INVITE']);
    expect(server.count('incoming')).toBe(0);
  });
});

describe('requests inside a dialog', () => {
  it('BYE ends the call with its Reason; a second one gets 481 (RFC 3261 §15.1.2)', () => {
    const { world, server, peer, statuses } = talking();
    const bye = inDialog(peer, { method: 'BYE', cseq: 2, headers: ['Reason: Q.850;cause=16'] });
    say(peer, bye);
    world.advance(20);
    expect(server.last('ended').end).toMatchObject({ how: 'bye', reason: 'Q.850;cause=16' });
    say(peer, { ...bye, cseq: 3, branch: 'z9hG4bKother' });
    world.advance(20);
    expect(statuses().slice(-2)).toEqual(['200 BYE', '481 BYE']);
  });

  it('an unknown dialog gets 481 for every method (RFC 3261 §12.2.2)', () => {
    const { world, peer, statuses } = setup();
    for (const method of ['BYE', 'INFO', 'UPDATE', 'INVITE', 'OPTIONS']) {
      say(peer, { method, to: `<sip:100@${SERVER}>;tag=gone`, callId: method });
    }
    world.advance(20);
    expect(statuses()).toEqual(['481 BYE', '481 INFO', '481 UPDATE', '481 INVITE', '481 OPTIONS']);
  });

  it('a CSeq out of order gets 500 (RFC 3261 §12.2.2)', () => {
    const { world, peer, statuses } = talking();
    say(peer, inDialog(peer, { method: 'INFO', cseq: 1 }));
    world.advance(20);
    expect(statuses().at(-1)).toBe('500 INFO');
    say(peer, inDialog(peer, { method: 'OPTIONS', cseq: 4 }));
    say(peer, inDialog(peer, { method: 'OPTIONS', cseq: 3 }));
    world.advance(20);
    expect(statuses().slice(-2)).toEqual(['200 OPTIONS', '500 OPTIONS']);
  });

  it('an ACK to the first INVITE does not acknowledge a later one', () => {
    const { world, peer, statuses } = talking();
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 2, body: OFFER }));
    world.advance(20);
    ack(peer, 1);
    world.advance(2000);
    const repeated = statuses().length;
    world.advance(4000);
    expect(statuses().length).toBeGreaterThan(repeated);
    ack(peer, 2);
    world.advance(20);
    const last = statuses().length;
    world.advance(10_000);
    expect(statuses()).toHaveLength(last);
  });

  it('answers a re-INVITE with the SDP of the leg; 488 keeps the old session (RFC 3261 §14.2)', () => {
    const { world, server, peer, statuses } = talking();
    server.onOffer = () => undefined;
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 2, body: OFFER }));
    world.advance(20);
    server.onOffer = (sdp) => (sdp === OFFER ? ANSWER : undefined);
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 3, body: OFFER }));
    world.advance(20);
    ack(peer, 3);
    world.advance(20);
    expect(statuses().slice(-2)).toEqual(['488 INVITE', '200 INVITE']);
    expect(peer.lastResponse().bodyText).toBe(ANSWER);
    expect(server.count('ended')).toBe(0);
    world.advance(40_000);
    expect(server.count('ended')).toBe(0);
  });

  it('reports the new signalling address of a re-INVITE once', () => {
    const { world, server, peer } = talking();
    server.onOffer = () => ANSWER;
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 2, body: OFFER }));
    world.advance(20);
    ack(peer, 2);
    expect(server.count('moved')).toBe(0);
    const elsewhere = world.peer('192.0.2.77');
    for (const cseq of [3, 4]) {
      say(elsewhere, inDialog(peer, { method: 'INVITE', cseq, body: OFFER }));
      world.advance(20);
      ack(peer, cseq);
      world.advance(20);
    }
    expect(server.count('moved')).toBe(1);
    expect(server.last('moved').flow).toMatchObject({ remoteAddress: '192.0.2.77' });
  });

  it('answers a re-INVITE without offer with ours and reads the answer in its ACK', () => {
    const { world, server, peer } = talking();
    server.onOffer = (sdp) => (sdp === undefined ? OFFER : undefined);
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 2 }));
    world.advance(20);
    expect(peer.lastResponse().bodyText).toBe(OFFER);
    ack(peer, 2, ANSWER);
    world.advance(20);
    expect(server.last('answered')).toMatchObject({ sdp: ANSWER });
  });

  it('answers a re-INVITE with 491 before the ACK to our 2xx, and with 500 and Retry-After before our answer', () => {
    const { world, server, peer, leg, statuses } = ringing();
    server.dispatch({ kind: 'ring', leg, sdp: undefined });
    world.advance(20);
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 2, body: OFFER }));
    world.advance(20);
    expect(statuses().at(-1)).toBe('500 INVITE');
    expect(peer.lastResponse().header('retry-after')).toMatch(/^(\d|10)$/);
    server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
    world.advance(20);
    say(peer, inDialog(peer, { method: 'INVITE', cseq: 3, body: OFFER }));
    world.advance(20);
    expect(statuses().at(-1)).toBe('491 INVITE');
  });

  it('answers an UPDATE with an offer; without one it refreshes only the target (RFC 3311 §5.2)', () => {
    const { world, server, peer, leg } = talking();
    const moved = { contact: `<sip:alice@${PEER}:5080>` };
    say(peer, inDialog(peer, { method: 'UPDATE', cseq: 2, body: OFFER }));
    world.advance(20);
    expect(brief(peer.lastResponse())).toBe('200 UPDATE');
    expect(peer.lastResponse().bodyText).toBe(ANSWER);
    say(peer, inDialog(peer, { method: 'UPDATE', cseq: 3, ...moved }));
    world.advance(20);
    expect(peer.lastResponse().body.length).toBe(0);
    server.dispatch({ kind: 'hangup', leg, status: 480, reason: undefined });
    world.advance(20);
    expect(peer.lastRequest('BYE').requestUri).toBe(`sip:alice@${PEER}:5080`);
  });

  it('INFO delivers digits in both formats; 415 for other bodies, 469 for packages (RFC 6086 §4.2.2)', () => {
    const { world, server, peer, statuses } = talking();
    const info = (cseq: number, headers: string[], body: string): void =>
      say(peer, inDialog(peer, { method: 'INFO', cseq, headers, body }));
    info(2, ['Content-Type: application/dtmf-relay'], 'Signal=5\r\nDuration=160\r\n');
    info(3, ['Content-Type: application/dtmf'], '#');
    info(4, ['Content-Type: application/dtmf-relay'], 'Signal=11\r\nDuration=100');
    info(5, ['Content-Type: text/plain'], 'hello');
    info(6, ['Content-Type: application/dtmf-relay'], 'Signal=\r\n');
    info(7, ['Info-Package: foo', 'Content-Type: x/y'], 'z');
    info(8, [], '');
    world.advance(20);
    const presses = server.events.filter((event) => event.kind === 'dtmf');
    expect(presses).toMatchObject([
      { digit: '5', durationMs: 160 },
      { digit: '#', durationMs: 250 },
      { digit: '#', durationMs: 100 },
    ]);
    expect(statuses().slice(-7)).toEqual(
      [200, 200, 200, 415, 400, 469, 200].map((status) => `${status} INFO`),
    );
  });

  it('answers OPTIONS with 200 and an unsupported method with 405 and Allow', () => {
    const { world, peer, statuses } = talking();
    say(peer, inDialog(peer, { method: 'OPTIONS', cseq: 2 }));
    say(peer, inDialog(peer, { method: 'PUBLISH', cseq: 3 }));
    world.advance(20);
    expect(statuses().slice(-2)).toEqual(['200 OPTIONS', '405 PUBLISH']);
    expect(peer.lastResponse().tokens('allow')).toContain('update');
  });

  it('sends BYE along the recorded route: loose, or strict if the first proxy lacks lr (RFC 3261 §12.2.1.1)', () => {
    const routes = [
      ['<sip:p1@192.0.2.9;lr>, <sip:p2@192.0.2.33;lr>', `sip:alice@${PEER}`],
      ['<sip:p1@192.0.2.9>, <sip:p2@192.0.2.33>', 'sip:p1@192.0.2.9'],
    ] as const;
    for (const [recorded, requestUri] of routes) {
      const { world, server, peer, leg } = talking({}, { headers: [`Record-Route: ${recorded}`] });
      expect(peer.lastResponse().list('record-route')).toHaveLength(2);
      server.dispatch({ kind: 'hangup', leg, status: 480, reason: undefined });
      world.advance(20);
      const bye = peer.lastRequest('BYE');
      expect(bye.requestUri).toBe(requestUri);
      expect(bye.list('route')).toEqual(
        requestUri === 'sip:p1@192.0.2.9'
          ? ['<sip:p2@192.0.2.33>', `<sip:alice@${PEER}>`]
          : ['<sip:p1@192.0.2.9;lr>', '<sip:p2@192.0.2.33;lr>'],
      );
    }
  });

  it('sends to a phone over its flow and to a carrier at its Contact, according to the policy', () => {
    const behindNat = { contact: '<sip:alice@10.0.0.7:5062>' };
    const carrier = talking({}, behindNat);
    carrier.server.dispatch({ kind: 'hangup', leg: carrier.leg, status: 480, reason: undefined });
    carrier.world.advance(20);
    expect(carrier.world.sent.at(-1)).toMatchObject({ to: '10.0.0.7:5062' });
    const phone = talking({ realm: undefined, trustedSource: () => undefined }, behindNat);
    phone.server.dispatch({ kind: 'hangup', leg: phone.leg, status: 480, reason: undefined });
    phone.world.advance(20);
    expect(phone.peer.lastRequest('BYE').requestUri).toBe('sip:alice@10.0.0.7:5062');
  });
});
