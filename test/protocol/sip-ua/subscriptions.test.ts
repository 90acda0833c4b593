/** SUBSCRIBE and NOTIFY: busy lamps, waiting messages, registration state (RFC 6665, 4235, 3842, 3680). */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import {
  answerChallenge,
  strongestChallenge,
} from '../../../src/protocol/sip/auth/answer-challenge.ts';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
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
import { ANSWER, brief, type Peer, REALM, seededRandom, World } from './world.ts';

const BOB = '192.0.2.60';

/** Registers Alice's phone at PEER and Bob's at BOB. */
function setUp() {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM });
  const [alice, bob] = [world.peer(PEER), world.peer(BOB)];
  const notified: SipRequest[] = [];
  let notifyStatus = 200;
  for (const name of ['alice', 'bob', 'eve']) server.users.set(name, `${name}pw`);
  server.groups.set('eve', 'others');
  answering(alice, (request) => {
    if (request.method !== 'NOTIFY') return undefined;
    notified.push(request);
    return notifyStatus === 0 ? undefined : reply(request, notifyStatus);
  });
  let calls = 0;
  /** Sends a request and answers its challenge. */
  const ask = (peer: Peer, user: string, script: Partial<RequestScript>): void => {
    calls += 1;
    const host = peer === bob ? BOB : PEER;
    const whole: RequestScript = {
      method: 'SUBSCRIBE',
      uri: `sip:${SERVER}`,
      callId: `c${calls}`,
      from: `<sip:${user}@${SERVER}>;tag=${user}`,
      contact: `<sip:${user}@${host}>`,
      ...script,
    };
    say(peer, whole);
    world.advance(20);
    const challenges = peer
      .lastResponse()
      .headers('www-authenticate')
      .map(parseAuth)
      .filter((challenge) => challenge !== undefined);
    const challenge = strongestChallenge(challenges);
    if (challenge === undefined) throw new Error(`no challenge: ${brief(peer.lastResponse())}`);
    const { method, uri = '' } = whole;
    const account = { username: user, password: `${user}pw` };
    const digest = answerChallenge(challenge, account, { method, uri }, 1, seededRandom(calls));
    const headers = [...(whole.headers ?? []), `Authorization: ${digest}`];
    say(peer, { ...whole, cseq: 2, headers });
    world.advance(40);
  };
  const register = (peer: Peer, user: string): void =>
    ask(peer, user, { method: 'REGISTER', to: `<sip:${user}@${SERVER}>` });
  const subscribe = (event: string, more: Partial<RequestScript> = {}, user = 'alice'): string => {
    ask(alice, user, {
      uri: `sip:bob@${SERVER}`,
      ...more,
      headers: [`Event: ${event}`, ...(more.headers ?? ['Expires: 600'])],
    });
    return brief(alice.lastResponse());
  };
  const lamps = (): string[] =>
    notified.map(({ bodyText }) => /<state>(\w+)<\/state>/.exec(bodyText)?.[1] ?? '');
  const callBob = (): void => {
    server.dispatch(
      inviteCommand({ target: { kind: 'registered', username: 'bob' }, callId: 'out' }),
    );
    world.advance(20);
  };
  const last = (): SipRequest => {
    const request = notified.at(-1);
    if (request === undefined) throw new Error('no NOTIFY');
    return request;
  };
  return {
    world,
    server,
    alice,
    bob,
    notified,
    register,
    subscribe,
    lamps,
    callBob,
    last,
    answersNotify: (status: number) => {
      notifyStatus = status;
    },
  };
}

describe('busy lamps (RFC 4235)', () => {
  it('follow a call of another phone from its first ring to its end', () => {
    const { world, server, bob, register, subscribe, lamps, callBob, last } = setUp();
    register(bob, 'bob');
    expect(subscribe('dialog')).toBe('200 SUBSCRIBE');
    expect(lamps()).toEqual(['terminated']);
    expect(last().header('subscription-state')).toBe('active;expires=600');
    expect(last().header('event')).toBe('dialog');
    let rings = true;
    answering(bob, (request) => {
      if (request.method === 'BYE') return reply(request, 200);
      if (request.method !== 'INVITE') return undefined;
      return rings ? reply(request, 180, { tag: 'bobs' }) : undefined;
    });
    callBob();
    expect(lamps()).toEqual(['terminated', 'trying', 'early']);
    const { from } = bob.lastRequest('INVITE');
    expect(last().bodyText).toContain(
      `call-id="out" local-tag="bobs" remote-tag="${from.tag}" direction="recipient"`,
    );
    expect(last().bodyText).toContain(`entity="sip:bob@${SERVER}"`);
    expect(last().bodyText).toContain('<identity>sip:1555@192.0.2.1</identity>');
    rings = false;
    bob.sendText(
      `${SERVER}:5060`,
      reply(bob.lastRequest('INVITE'), 200, {
        tag: 'bobs',
        body: ANSWER,
        contact: `<sip:bob@${BOB}>`,
      }),
    );
    world.advance(20);
    expect(lamps().at(-1)).toBe('confirmed');
    server.dispatch({ kind: 'hangup', leg: asLegId(2), status: 480, reason: undefined });
    world.advance(50);
    expect(lamps().at(-1)).toBe('terminated');
    const versions = lamps().map((_, index) => index);
    expect(last().bodyText).toContain(`version="${versions.at(-1)}" state="full"`);
  });

  it('reach a phone behind NAT whose connection has closed and which registered again', () => {
    const { world, server, bob, register, subscribe, lamps, callBob, alice } = setUp();
    world.refusing.add(`${PEER}:5060`);
    const receive = server.receive.bind(server);
    server.receive = (bytes, flow) => {
      const byTcp = { ...flow, transport: 'tcp', connectionId: 77 } as const;
      receive(bytes, flow.remoteAddress === PEER ? byTcp : flow);
    };
    register(bob, 'bob');
    register(alice, 'alice');
    expect(subscribe('dialog')).toBe('200 SUBSCRIBE');
    server.dispatch({ kind: 'connectionLost', connectionId: 77 });
    register(alice, 'alice');
    callBob();
    expect(lamps()).toEqual(['terminated', 'trying']);
  });

  it('are limited to phones of the same account; others cannot detect the user', () => {
    const { subscribe } = setUp();
    expect(subscribe('dialog', {}, 'eve')).toBe('404 SUBSCRIBE');
    expect(subscribe('dialog', { uri: `sip:nobody@${SERVER}` })).toBe('404 SUBSCRIBE');
  });

  it('report calls that the phone itself starts', () => {
    const { world, alice, register, subscribe, lamps, notified } = setUp();
    register(alice, 'alice');
    subscribe('dialog', { uri: `sip:alice@${SERVER}` });
    const before = notified.length;
    invite(alice, { from: `<sip:alice@${SERVER}>;tag=x`, callId: 'mine' });
    world.advance(20);
    expect(brief(alice.lastResponse())).toBe('401 INVITE');
    expect(lamps().slice(before)).toEqual([]);
  });

  it('sends changes during a pending NOTIFY with the next one', () => {
    const { world, bob, register, subscribe, lamps, callBob, answersNotify, alice, last } = setUp();
    register(bob, 'bob');
    subscribe('dialog');
    answering(bob, (request) => (request.method === 'INVITE' ? reply(request, 180) : undefined));
    answersNotify(0);
    callBob();
    expect(lamps()).toEqual(['terminated', 'trying']);
    answersNotify(200);
    alice.sendText(`${SERVER}:5060`, reply(last(), 200));
    world.advance(20);
    expect(lamps()).toEqual(['terminated', 'trying', 'early']);
  });
});

describe('other packages', () => {
  it('message-summary: always empty, because there are no mailboxes (RFC 3842)', () => {
    const { subscribe, last } = setUp();
    expect(subscribe('message-summary', { uri: `sip:alice@${SERVER}` })).toBe('200 SUBSCRIBE');
    expect(last().bodyText).toBe(
      `Messages-Waiting: no\r\nMessage-Account: sip:alice@${SERVER}\r\nVoice-Message: 0/0 (0/0)\r\n`,
    );
    expect(subscribe('message-summary')).toBe('403 SUBSCRIBE');
  });

  it("reg: reports changes of the phone's contacts (RFC 3680)", () => {
    const { world, alice, register, subscribe, last, server } = setUp();
    subscribe('reg', { uri: `sip:alice@${SERVER}` });
    expect(last().bodyText).toContain('state="terminated"');
    register(alice, 'alice');
    expect(last().bodyText).toContain('state="active"');
    expect(last().bodyText).toContain(`<uri>sip:alice@${PEER}</uri>`);
    server.dispatch({ kind: 'forgetBindings', username: 'alice' });
    world.advance(20);
    expect(last().bodyText).not.toContain('<contact');
  });

  it.each([
    ['presence', [], '489 SUBSCRIBE'],
    ['', [], '489 SUBSCRIBE'],
    ['dialog', ['Accept: application/pidf+xml'], '406 SUBSCRIBE'],
    ['dialog', ['Accept: application/dialog-info+xml;q=1, text/x'], '200 SUBSCRIBE'],
    ['dialog', ['Expires: 5'], '423 SUBSCRIBE'],
  ])('answers %j with %j: %s', (event, headers, expected) => {
    const { subscribe, alice } = setUp();
    expect(subscribe(event, { headers })).toBe(expected);
    const response = alice.lastResponse();
    if (response.status === 489) {
      expect(response.header('allow-events')).toBe('dialog, message-summary, reg');
    }
    if (response.status === 423) expect(response.header('min-expires')).toBe('60');
  });
});

describe('a subscription', () => {
  const refreshed = (s: ReturnType<typeof setUp>, expires: number, cseq = 3): string => {
    const { to } = s.alice.lastResponse();
    say(s.alice, {
      method: 'SUBSCRIBE',
      uri: `sip:${SERVER}:5060`,
      callId: 'c1',
      cseq,
      from: `<sip:alice@${SERVER}>;tag=alice`,
      to: `<sip:bob@${SERVER}>;tag=${to.tag}`,
      headers: ['Event: dialog', `Expires: ${expires}`],
    });
    s.world.advance(20);
    return brief(s.alice.lastResponse());
  };

  it('is refreshed and ended in its dialog', () => {
    const s = setUp();
    s.subscribe('dialog');
    s.world.advance(500_000);
    expect(refreshed(s, 600)).toBe('200 SUBSCRIBE');
    s.world.advance(500_000);
    expect(s.server.ua.subscriptions).toBe(1);
    expect(refreshed(s, 0, 4)).toBe('200 SUBSCRIBE');
    expect(s.last().header('subscription-state')).toBe('terminated;reason=timeout');
    expect(s.server.ua.subscriptions).toBe(0);
    expect(refreshed(s, 600, 5)).toBe('481 SUBSCRIBE');
  });

  it('ends at expiry, or if the phone does not know it or does not respond', () => {
    const timed = setUp();
    timed.subscribe('dialog');
    timed.world.advance(601_000);
    expect(timed.last().header('subscription-state')).toBe('terminated;reason=timeout');
    expect(timed.server.ua.subscriptions).toBe(0);
    for (const status of [481, 0]) {
      const gone = setUp();
      gone.answersNotify(status);
      gone.subscribe('dialog');
      gone.world.advance(33_000);
      expect(gone.server.ua.subscriptions).toBe(0);
    }
  });

  it('is not refreshed while the phone has not answered its last NOTIFY', () => {
    const s = setUp();
    s.subscribe('dialog');
    s.answersNotify(0);
    s.world.advance(600_000);
    expect(s.last().header('subscription-state')).toBe('terminated;reason=timeout');
    expect(refreshed(s, 600)).toBe('481 SUBSCRIBE');
    expect(s.last().header('subscription-state')).toBe('terminated;reason=timeout');
  });

  it('with Expires: 0 gets one NOTIFY', () => {
    const { subscribe, notified, server } = setUp();
    subscribe('dialog', { headers: ['Expires: 0'] });
    expect(notified).toHaveLength(1);
    expect(notified[0]?.header('subscription-state')).toBe('terminated;reason=timeout');
    expect(server.ua.subscriptions).toBe(0);
  });

  it('of a restarted phone replaces the old one; the number per user is limited', () => {
    const { subscribe, server } = setUp();
    subscribe('dialog');
    subscribe('dialog');
    expect(server.ua.subscriptions).toBe(1);
    for (let index = 0; index < 127; index += 1) {
      subscribe('dialog', { contact: `<sip:alice@${PEER}:${6000 + index}>` });
    }
    expect(server.ua.subscriptions).toBe(128);
    expect(subscribe('dialog', { contact: `<sip:alice@${PEER}:7000>` })).toBe('503 SUBSCRIBE');
    expect(server.ua.subscriptions).toBe(128);
  });

  it('is challenged without a password, and REFER outside a dialog is refused', () => {
    const { world, alice } = setUp();
    say(alice, { method: 'REFER', headers: ['Refer-To: <sip:x@y>'] });
    world.advance(20);
    expect(brief(alice.lastResponse())).toBe('403 REFER');
    say(alice, { method: 'NOTIFY', headers: ['Event: dialog', 'Subscription-State: active'] });
    world.advance(20);
    expect(brief(alice.lastResponse())).toBe('481 NOTIFY');
  });
});
