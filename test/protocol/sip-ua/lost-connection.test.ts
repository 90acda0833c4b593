/** Requests in a dialog with a phone behind NAT whose TCP connection has closed and which registered again. */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import type { ContactBinding } from '../../../src/protocol/sip/registrar/binding.ts';
import { inviteCommand, PEER, SERVER } from './script.ts';
import { type Agent, ANSWER, REALM, World } from './world.ts';

const LEG = asLegId(2);
const FIRST = 1;

const OTHER_PHONE: ContactBinding = {
  username: 'bob',
  contactUri: 'sip:bob@10.0.0.9:5060',
  callId: 'other',
  cseq: 1,
  expiresUs: Date.UTC(2027, 0, 1) * 1000,
  q: 1,
  instanceId: undefined,
  userAgent: 'other',
  flow: { transport: 'udp', address: PEER, port: 6000, connectionId: undefined },
  path: [],
  updatedUs: 0,
};

/** A phone that registered over TCP. It refuses connections, as a NAT does. */
function registered() {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM });
  server.users.set('bob', 'builder');
  const phone = world.agent(PEER);
  world.refusing.add(`${PEER}:5060`);
  const account = { username: 'bob', password: 'builder' };
  const registrar = `sip:${SERVER};transport=tcp`;
  const aor = `sip:bob@${SERVER}`;
  phone.dispatch({ kind: 'register', registration: 1, aor, registrar, account, expires: 600 });
  world.advance(100);
  const lose = (connectionId: number): void => {
    for (const agent of [server, phone]) agent.dispatch({ kind: 'connectionLost', connectionId });
  };
  const hangUp = (agent: Agent, leg = LEG): void => {
    agent.dispatch({ kind: 'hangup', leg, status: 487, reason: undefined });
    world.advance(1000);
  };
  return { world, server, phone, account, lose, hangUp };
}

/** The server calls the phone, which answers. */
function called() {
  const scene = registered();
  const { world, server, phone } = scene;
  server.dispatch(inviteCommand({ leg: LEG, target: { kind: 'registered', username: 'bob' } }));
  world.advance(50);
  phone.dispatch({ kind: 'answer', leg: asLegId(1), sdp: ANSWER });
  world.advance(100);
  expect(server.last('connected')).toMatchObject({ sdp: ANSWER });
  return scene;
}

describe('BYE to a phone whose connection has closed', () => {
  it('uses the connection over which the called phone registered again', () => {
    const { world, server, phone, lose, hangUp } = called();
    lose(FIRST);
    world.advance(5000);
    hangUp(server);
    expect(phone.last('ended').end).toMatchObject({ by: 'remote', how: 'bye' });
    expect(server.ua.dialogs).toBe(0);
  });

  it.each([
    ['alone', []],
    ['next to another phone of the user behind the same NAT', [OTHER_PHONE]],
  ])(
    'uses the connection over which the calling phone registered again, with another Contact, %s',
    (_, bindings) => {
      const { world, server, phone, account, lose, hangUp } = registered();
      server.dispatch({ kind: 'restoreBindings', bindings });
      const target = { kind: 'uri', uri: `sip:100@${SERVER};transport=tcp` } as const;
      phone.dispatch(inviteCommand({ leg: LEG, target: { ...target, viaFlow: true }, account }));
      world.advance(100);
      const { leg } = server.last('incoming').call;
      server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
      world.advance(100);
      for (const connection of [1, 2]) lose(connection);
      world.advance(5000);
      const contact = server.last('incoming').call.request.header('contact');
      for (const { contactUri } of server.ua.contactsOf('bob', world.nowMs))
        expect(contact).not.toContain(contactUri);
      hangUp(server, leg);
      expect(phone.last('ended').end).toMatchObject({ by: 'remote', how: 'bye' });
    },
  );

  it('uses the Contact of a phone that did not register again', () => {
    const { world, server, phone, hangUp, lose } = called();
    phone.dispatch({ kind: 'unregister', registration: 1 });
    world.advance(100);
    world.refusing.clear();
    lose(FIRST);
    hangUp(server);
    expect(phone.last('ended').end).toMatchObject({ by: 'remote', how: 'bye' });
  });
});
