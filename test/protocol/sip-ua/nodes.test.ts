/** Two nodes that accept each other's nonces and share used nonce counts. */
import { describe, expect, it } from 'vitest';
import {
  answerChallenge,
  strongestChallenge,
} from '../../../src/protocol/sip/auth/answer-challenge.ts';
import { UNCOUNTED_LIFETIME_MS } from '../../../src/protocol/sip/auth/authenticator.ts';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
import type { SipResponse } from '../../../src/protocol/sip/message.ts';
import { REALM, seededRandom, World } from './world.ts';

const [A, B, PHONE] = ['192.0.2.1', '192.0.2.2', '192.0.2.9'];
const URI = 'sip:carillon.test';
const ACCOUNT = { username: 'alice', password: 'wonderland' };

function setup() {
  const world = new World();
  const shared = { realm: REALM, nonceKey: new Uint8Array(32), sharesNonceCounts: true };
  for (const address of [A, B])
    world.agent(address, shared).users.set(ACCOUNT.username, ACCOUNT.password);
  const phone = world.peer(PHONE);
  let last = 0;
  const send = (node: string, branch: string, authorization?: string): SipResponse => {
    phone.send(`${node}:5060`, [
      `REGISTER ${URI} SIP/2.0`,
      `Via: SIP/2.0/UDP ${PHONE}:5060;branch=z9hG4bK${branch}`,
      'Max-Forwards: 70',
      ...[`From: <sip:alice@carillon.test>;tag=1`, `To: <sip:alice@carillon.test>`],
      ...['Call-ID: nodes', `CSeq: ${last} REGISTER`, `Contact: <sip:alice@${PHONE}:5060>`],
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ]);
    world.advance(100);
    const received = phone.received.at(-1);
    if (received?.kind !== 'response') throw new Error('no answer');
    return received;
  };
  /** Sends a new request. */
  const ask = (node: string, authorization?: string): SipResponse => {
    last += 1;
    return send(node, `b${last}`, authorization);
  };
  const again = (node: string, authorization: string) => send(node, `b${last}`, authorization);
  world.advance(100);
  return { world, phone, ask, again };
}

function answered(challenged: SipResponse, count = 1): string {
  const challenges = challenged.headers('WWW-Authenticate').map(parseAuth);
  const challenge = strongestChallenge(challenges.filter((one) => one !== undefined));
  if (challenge === undefined) throw new Error('no challenge');
  const request = { method: 'REGISTER', uri: URI };
  return answerChallenge(challenge, ACCOUNT, request, count, seededRandom());
}

const isStale = (response: SipResponse): boolean =>
  response.status === 401 &&
  response.headers('WWW-Authenticate').every((value) => value.includes('stale=true'));

describe('credentials valid on several nodes', () => {
  it('are accepted by one node with retransmissions; the next count is accepted by the other', () => {
    const { phone, ask, again } = setup();
    const challenge = ask(A);
    const captured = answered(challenge);
    expect(ask(A, captured).status).toBe(200);
    const before = phone.received.length;
    expect(again(A, captured).status).toBe(200);
    expect(phone.received).toHaveLength(before + 1);
    expect(isStale(ask(B, captured))).toBe(true);
    expect(isStale(ask(A, captured))).toBe(true);
    expect(ask(B, answered(challenge, 2)).status).toBe(200);
  });

  it('for a challenge of one node are accepted by the other, and then refused by the first', () => {
    const { ask } = setup();
    const captured = answered(ask(A));
    expect(ask(B, captured).status).toBe(200);
    expect(isStale(ask(A, captured))).toBe(true);
  });

  it('are accepted for a young nonce while nodes cannot communicate; later a new nonce is issued', () => {
    const { world, ask } = setup();
    world.nodesTalk = false;
    const challenge = ask(A);
    expect(ask(A, answered(challenge)).status).toBe(200);
    expect(isStale(ask(A, answered(challenge)))).toBe(true); // the node remembers its own use
    world.advance(UNCOUNTED_LIFETIME_MS);
    const refused = ask(B, answered(challenge, 2));
    expect(isStale(refused)).toBe(true);
    expect(ask(B, answered(refused)).status).toBe(200);
  });
});
