/** Contacts registered at other nodes. */
import { expect, it } from 'vitest';
import type { ContactBinding } from '../../../src/protocol/sip/registrar/binding.ts';
import { Location } from '../../../src/protocol/sip/registrar/location.ts';
import { DEFAULT_REGISTRAR_LIMITS } from '../../../src/protocol/sip/registrar/register.ts';

const binding = (over: Partial<ContactBinding> = {}): ContactBinding => ({
  username: 'bob',
  contactUri: 'sip:bob@192.0.2.1',
  callId: 'c',
  cseq: 1,
  expiresUs: 1000,
  q: 1,
  instanceId: undefined,
  userAgent: '',
  flow: { transport: 'tcp', address: '192.0.2.9', port: 5060, connectionId: '7' },
  path: ['<sip:edge.test;lr>'],
  updatedUs: 10,
  ...over,
});

it('keeps the Path of a contact from another node, but not its connection', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  location.take([binding()], []);
  const [found] = location.contactsOf('bob', 0);
  expect(found).toMatchObject({ path: ['<sip:edge.test;lr>'], flow: { connectionId: undefined } });
  expect(location.connectionLost('7')).toEqual([]);
});

it('tries contacts with a higher q first', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  const contacts = [0.2, 1, 0.5].map((q) => binding({ q, contactUri: `sip:${q}@192.0.2.1` }));
  location.take(contacts, []);
  expect(location.contactsOf('bob', 0).map(({ q }) => q)).toEqual([1, 0.5, 0.2]);
});

it('restores a browser only if an edge proxy holds its connection', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  const flow = { transport: 'wss', address: '192.0.2.9', port: 443, connectionId: '7' } as const;
  const behind = binding({ flow });
  const direct = binding({ flow, path: [], username: 'eve' });
  expect(location.restore([behind, direct])).toEqual([direct]);
  expect(location.contactsOf('bob', 0)).toMatchObject([{ flow: { connectionId: undefined } }]);
  expect(location.contactsOf('eve', 0)).toEqual([]);
});

it('removes the contacts of one login, or all of the user', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  const ofLogin = binding({ login: 'l1', contactUri: 'sip:l1@192.0.2.1' });
  location.take([binding(), ofLogin], []);
  expect(location.remove('bob', 'l1').map(({ login }) => login)).toEqual(['l1']);
  expect(location.contactsOf('bob', 0)).toHaveLength(1);
  location.remove('bob', undefined);
  expect(location.contactsOf('bob', 0)).toEqual([]);
});

it('sweeps a contact at its expiry', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  location.take([binding()], []);
  expect(location.contactsOf('bob', 999)).toHaveLength(1);
  expect(location.contactsOf('bob', 1000)).toEqual([]);
  expect(location.sweep(999)).toEqual([]);
  expect(location.sweep(1000)).toHaveLength(1);
});

it('keeps the later of two versions and removes deleted contacts', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  location.take([binding({ updatedUs: 20, cseq: 2 })], []);
  location.take([binding({ updatedUs: 10, cseq: 1 })], []);
  expect(location.contactsOf('bob', 0)).toMatchObject([{ cseq: 2 }]);
  location.take([], [{ username: 'bob', contactUri: 'sip:bob@192.0.2.1' }]);
  expect(location.contactsOf('bob', 0)).toEqual([]);
});
