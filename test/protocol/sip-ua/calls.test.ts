import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { inviteCommand } from './script.ts';
import { type Agent, ANSWER, OFFER, REALM, World } from './world.ts';

const ALICE = { username: 'alice', password: 'wonderland' };

function setup() {
  const world = new World();
  const server = world.agent('192.0.2.1', { realm: REALM });
  server.users.set(ALICE.username, ALICE.password);
  const phone = world.agent('192.0.2.9');
  return { world, server, phone };
}

const dial = (phone: Agent, account = ALICE, user = 'alice', maxForwards?: number): void =>
  phone.dispatch(
    inviteCommand({
      target: { kind: 'uri', uri: 'sip:100@192.0.2.1' },
      from: { user, host: '192.0.2.1', displayName: 'Alice' },
      maxForwards,
      callId: 'call-1',
      account,
    }),
  );

/** Sets up a call that is answered and acknowledged. */
function talking() {
  const { world, server, phone } = setup();
  dial(phone);
  world.advance(50);
  const { leg } = server.last('incoming').call;
  server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
  world.advance(50);
  return { world, server, phone, leg };
}

describe('INVITE with digest', () => {
  it.each(['anonymous', '14155550100', 'bob'])(
    'identifies the caller by the password, whatever From contains: %s (RFC 3323 §4.1)',
    (user) => {
      const { world, server, phone } = setup();
      dial(phone, ALICE, user, 7);
      world.advance(50);
      const { username, request } = server.last('incoming').call;
      expect([username, request.maxForwards]).toEqual(['alice', 7]);
    },
  );

  it('is challenged with 401, then rings, is answered, acknowledged and ended by BYE', () => {
    const { world, server, phone } = setup();
    dial(phone);
    world.advance(50);
    const { call } = server.last('incoming');
    expect(call).toMatchObject({ username: 'alice', carrier: undefined, sdp: OFFER });
    server.dispatch({ kind: 'ring', leg: call.leg, sdp: undefined });
    world.advance(20);
    server.dispatch({ kind: 'answer', leg: call.leg, sdp: ANSWER });
    world.advance(20);
    phone.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(20);
    expect(phone.last('progress')).toMatchObject({ status: 180 });
    expect(phone.last('connected')).toMatchObject({ sdp: ANSWER });
    expect(server.count('acknowledged')).toBe(1);
    expect(server.last('ended').end).toMatchObject({ by: 'remote', how: 'bye' });
    expect(phone.last('ended').end).toMatchObject({ by: 'local', how: 'bye' });
    expect(world.ladder()).toEqual([
      ...['INVITE', '401 INVITE', 'ACK'],
      ...['INVITE', '100 INVITE', '180 INVITE', '200 INVITE', 'ACK', 'BYE', '200 BYE'],
    ]);
  });

  it('can be ended by the callee', () => {
    const { world, server, phone, leg } = talking();
    server.dispatch({ kind: 'hangup', leg, status: 480, reason: 'Q.850;cause=16' });
    world.advance(50);
    expect(phone.last('ended').end).toMatchObject({
      by: 'remote',
      how: 'bye',
      reason: 'Q.850;cause=16',
    });
    expect(server.last('ended').end).toMatchObject({ by: 'local', how: 'bye' });
    expect([server.ua.legs, phone.ua.legs]).toEqual([0, 0]);
  });

  it('is refused with the status of the hangup if unanswered', () => {
    const { world, server, phone } = setup();
    dial(phone);
    world.advance(50);
    const { leg } = server.last('incoming').call;
    server.dispatch({ kind: 'hangup', leg, status: 486, reason: undefined });
    world.advance(50);
    expect(phone.last('ended').end).toMatchObject({ by: 'remote', how: 'refused', status: 486 });
    expect(server.last('ended').end).toMatchObject({ by: 'local', how: 'refused', status: 486 });
  });

  it('ends with 401 without ringing if the password is wrong', () => {
    const { world, server, phone } = setup();
    dial(phone, { ...ALICE, password: 'guess' });
    world.advance(50);
    expect(phone.last('ended').end).toMatchObject({ how: 'refused', status: 401 });
    expect(server.count('incoming')).toBe(0);
  });
});

describe('CANCEL', () => {
  it('ends a ringing call with 487 on both sides', () => {
    const { world, server, phone } = setup();
    dial(phone);
    world.advance(50);
    server.dispatch({ kind: 'ring', leg: server.last('incoming').call.leg, sdp: undefined });
    world.advance(20);
    phone.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
    world.advance(50);
    expect(server.last('ended').end).toMatchObject({ by: 'remote', how: 'cancel' });
    expect(phone.last('ended').end).toMatchObject({ by: 'local', how: 'cancel' });
    expect(world.ladder().slice(-4)).toEqual(['CANCEL', '200 CANCEL', '487 INVITE', 'ACK']);
  });
});
