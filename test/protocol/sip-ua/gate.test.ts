/** What the registrar answers to credentials: wrong ones, tokens, and those of users without permission. */
import { describe, expect, it } from 'vitest';
import {
  answerChallenge,
  strongestChallenge,
} from '../../../src/protocol/sip/auth/answer-challenge.ts';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
import type { SipResponse } from '../../../src/protocol/sip/message.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import { REALM, seededRandom, World } from './world.ts';

const [SERVER, PHONE] = ['192.0.2.1', '192.0.2.9'];
const URI = 'sip:carillon.test';

function setup(transport: Flow['transport'] = 'udp') {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, transports: ['udp', 'tls'] });
  server.users.set('alice', 'wonderland');
  const phone = world.peer(PHONE);
  let last = 0;
  const ask = (authorization?: string, method = 'REGISTER'): SipResponse => {
    last += 1;
    const lines = [
      `${method} ${URI} SIP/2.0`,
      `Via: SIP/2.0/${transport.toUpperCase()} ${PHONE}:5060;branch=z9hG4bKgate${last}`,
      'Max-Forwards: 70',
      ...[`From: <sip:alice@carillon.test>;tag=1`, `To: <sip:alice@carillon.test>`],
      ...['Call-ID: gate', `CSeq: ${last} ${method}`, `Contact: <sip:alice@${PHONE}:5060>`],
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ];
    phone.send(`${SERVER}:5060`, lines, '', transport);
    world.advance(100);
    return phone.lastResponse();
  };
  /** Answers a new challenge. */
  const signed = (password = 'wonderland', username = 'alice'): string => {
    const challenges = ask().headers('WWW-Authenticate').map(parseAuth);
    const challenge = strongestChallenge(challenges.filter((one) => one !== undefined));
    if (challenge === undefined) throw new Error('no challenge');
    const request = { method: 'REGISTER', uri: URI };
    return answerChallenge(challenge, { username, password }, request, 1, seededRandom());
  };
  world.advance(100);
  return { world, server, ask, signed };
}

const retryAfterS = (response: SipResponse): number => Number(response.header('retry-after'));

describe('a client that guesses', () => {
  it('passwords is refused with 403 for the rest of a minute', () => {
    const { world, ask, signed } = setup();
    for (let guess = 0; guess < 10; guess += 1) expect(ask(signed('guess')).status).toBe(401);
    const locked = ask(signed('wonderland'));
    expect(locked.status).toBe(403);
    expect(retryAfterS(locked)).toBeGreaterThan(50);
    world.advance(60_000);
    expect(ask(signed()).status).toBe(200);
  });

  it('tokens is refused with 403, as with passwords', () => {
    const { ask } = setup('tls');
    const guessed = Array.from({ length: 10 }, (_, guess) => ask(`Bearer guess${guess}`));
    expect(guessed.map(({ status }) => status)).toEqual(Array(10).fill(401));
    expect(guessed[0]?.headers('www-authenticate')).toContain('Bearer error="invalid_token"');
    expect(ask('Bearer guess').status).toBe(403);
  });

  it('tokens over UDP is challenged for a password, without a check of the token', () => {
    const { ask } = setup();
    const statuses = Array.from({ length: 12 }, () => ask('Bearer guess').status);
    expect(statuses).toEqual(Array(12).fill(401));
  });
});

it('does not count an expired nonce as a failure', () => {
  const { world, ask, signed } = setup();
  const old = signed();
  world.advance(301_000);
  for (let request = 0; request < 12; request += 1) {
    const challenged = ask(old);
    expect(challenged.status).toBe(401);
    expect(challenged.header('www-authenticate')).toContain('stale=true');
  }
  expect(ask(signed()).status).toBe(200);
});

it('refuses the right password of a user whose account is not active', () => {
  const { server, ask, signed } = setup();
  server.inactive.add('alice');
  expect(ask(signed()).status).toBe(403);
  server.inactive.delete('alice');
  expect(ask(signed()).status).toBe(200);
});

it('asks to try later while the directory of users fails, and counts no failure', () => {
  const { server, ask, signed } = setup();
  server.directoryWorks = false;
  for (let request = 0; request < 12; request += 1) {
    const refused = ask(signed());
    expect([refused.status, retryAfterS(refused)]).toEqual([503, 10]);
  }
  server.directoryWorks = true;
  expect(ask(signed()).status).toBe(200);
});

it('ignores credentials of another realm', () => {
  const { ask, signed } = setup();
  const foreign = signed().replace(`realm="${REALM}"`, 'realm="elsewhere"');
  const challenged = ask(foreign);
  expect(challenged.status).toBe(401);
  expect(challenged.header('www-authenticate')).not.toContain('stale=true');
});

it('offers all challenges to a phone that has authenticated, although its request is short', () => {
  const { ask, signed } = setup();
  const offered = () => ask().headers('www-authenticate').length;
  expect(offered()).toBeLessThan(3);
  expect(ask(signed()).status).toBe(200);
  expect(offered()).toBe(3);
});
