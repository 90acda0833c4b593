/** Spec, Dial: without callerId, a call of an endpoint uses a number that its account owns, or is refused (3030). */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { asEndpointId } from '../../src/base/ids.ts';
import { dialledBy, registered } from './calls/phone.ts';
import { type CallService, DID, HOST, openCallService } from './calls/service.ts';
import { document, SITE } from './calls/site.ts';

const SECOND = '14155550188';
const THIRD = '14155550189';
const FOREIGN = '14155550177';
let service: CallService;
beforeEach(async () => {
  service = await openCallService();
  for (const number of [SECOND, THIRD]) {
    await service.provisioning.callerIds.verify(service.accountId, number);
  }
});
afterEach(() => service.close());

/** Returns the caller ID that the called party receives, or undefined if no leg was created. */
async function shown(destination: string, attributes = ''): Promise<string | undefined> {
  const before = service.signalling.invites.length;
  const dial = `<Dial action="${SITE}/dialled" redirect="false" ${attributes}>${destination}</Dial>`;
  service.site.on('/answer', document(`${dial}<Wait length="60"/>`));
  await dialledBy(service, alice, '1000');
  return service.signalling.invites[before]?.options.from.user;
}

const NUMBER = '<Number>14155550101</Number>';
let alice = '';

it('uses that of the endpoint, its application, or the account default, in this order', async () => {
  const { accountId, appId, accounts, provisioning } = service;
  alice = await registered(service);
  const endpoint = await provisioning.endpoints.byUsername(alice);
  await accounts.patch(accountId, { defaultCallerId: DID });
  expect(await shown(NUMBER)).toBe(DID);
  await provisioning.applications.patch(accountId, appId, { callerId: SECOND });
  expect(await shown(NUMBER)).toBe(SECOND);
  await provisioning.endpoints.patch(accountId, endpoint?.endpointId ?? asEndpointId(''), {
    callerId: THIRD,
  });
  expect(await shown(NUMBER)).toBe(THIRD);
  expect(await shown('<User>sip:bob@192.0.2.9</User>')).toBe(THIRD);
  expect(await shown(NUMBER, `callerId="${DID}"`)).toBe(DID);
});

it.each([
  ['no default', undefined, ''],
  ['a default that the account no longer owns', FOREIGN, ''],
  ['its username', DID, 'callerId="alice"'],
])('%s: no leg, Unknown Caller ID', async (_, defaultCallerId, attributes) => {
  alice = await registered(service);
  await service.accounts.patch(service.accountId, { defaultCallerId });
  const named = attributes.replace('alice', alice);
  expect(await shown(NUMBER, named)).toBeUndefined();
  expect(service.site.reported('/dialled')[0]).toMatchObject({
    DialBLegUUID: '',
    DialBLegHangupCauseCode: '3030',
  });
});

it("shows the caller's name to a colleague", async () => {
  alice = await registered(service);
  const bob = await registered(service, 'bob');
  expect(await shown(`<User>sip:${bob}@${HOST}</User>`)).toBe(alice);
});
