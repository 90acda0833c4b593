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

it('keeps the later of two versions and removes deleted contacts', () => {
  const location = new Location(DEFAULT_REGISTRAR_LIMITS);
  location.take([binding({ updatedUs: 20, cseq: 2 })], []);
  location.take([binding({ updatedUs: 10, cseq: 1 })], []);
  expect(location.contactsOf('bob', 0)).toMatchObject([{ cseq: 2 }]);
  location.take([], [{ username: 'bob', contactUri: 'sip:bob@192.0.2.1' }]);
  expect(location.contactsOf('bob', 0)).toEqual([]);
});
