import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { inviteCommand } from './script.ts';
import { ANSWER, REALM, seededRandom, World } from './world.ts';

/** Complete calls between two user agents over a network that loses a third of all datagrams. */
function lossyCall(seed: number) {
  const world = new World();
  const random = seededRandom(seed);
  world.lose = () => random.integer(3) === 0;
  const server = world.agent('192.0.2.1', { realm: REALM, random: seededRandom(seed + 1) });
  const phone = world.agent('192.0.2.9', { random: seededRandom(seed + 2) });
  server.users.set('alice', 'wonderland');
  phone.dispatch(
    inviteCommand({
      target: { kind: 'uri', uri: 'sip:100@192.0.2.1' },
      from: { user: 'alice', host: '192.0.2.1', displayName: '' },
      callId: `lossy-${seed}`,
      account: { username: 'alice', password: 'wonderland' },
    }),
  );
  return { world, server, phone };
}

describe('over a network that loses every third message', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'sets up and ends a call with one report per side and no state left (seed %i)',
    (seed) => {
      const { world, server, phone } = lossyCall(seed);
      for (let i = 0; i < 40 && server.count('incoming') === 0; i += 1) world.advance(1_000);
      const { leg } = server.last('incoming').call;
      server.dispatch({ kind: 'ring', leg, sdp: undefined });
      world.advance(2_000);
      server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
      world.advance(31_000);
      expect([phone.count('connected'), server.count('acknowledged')]).toEqual([1, 1]);
      server.dispatch({ kind: 'hangup', leg, status: 480, reason: undefined });
      world.advance(70_000);
      expect([phone.count('ended'), server.count('ended')]).toEqual([1, 1]);
      expect(phone.last('ended').end).toMatchObject({ by: 'remote', how: 'bye' });
      expect([server.ua.legs, phone.ua.legs]).toEqual([0, 0]);
      expect([server.ua.transactions, phone.ua.transactions]).toEqual([0, 0]);
    },
  );

  it.each([11, 12, 13, 14, 15, 16])(
    'ends a call cancelled at any time on both sides (seed %i)',
    (seed) => {
      const { world, server, phone } = lossyCall(seed);
      world.advance(seed * 97);
      const incoming = server.events.find((event) => event.kind === 'incoming');
      if (incoming?.kind === 'incoming' && seed % 2 === 0) {
        server.dispatch({ kind: 'answer', leg: incoming.call.leg, sdp: ANSWER });
      }
      phone.dispatch({ kind: 'hangup', leg: asLegId(2), status: 487, reason: undefined });
      world.advance(200_000);
      expect(phone.count('ended')).toBe(1);
      expect(server.count('incoming')).toBe(server.count('ended'));
      expect([server.ua.transactions, phone.ua.transactions]).toEqual([0, 0]);
    },
  );
});
