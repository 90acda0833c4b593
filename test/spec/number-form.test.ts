/** One form of a number everywhere: digits without `+`, however the peer or the customer writes it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { calledFrom, dialledBy, registered } from './calls/phone.ts';
import { type CallService, DID, openCallService } from './calls/service.ts';
import { document } from './calls/site.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

const FORMS = ['+14155550177', '14155550177', '+1-415-555-0177', '+14155550177;npdi'];

it.each(FORMS)('a caller %s appears alike in callback and record', async (from) => {
  service.site.on('/answer', document('<Hangup/>'));
  await calledFrom(service, { from, to: `+${DID}` });
  expect(service.site.told('/answer')[0]).toMatchObject({ From: '14155550177', To: DID });
  expect(await service.cdr()).toMatchObject({ from: '14155550177', to: DID });
});

it('what is no number stays what it is', async () => {
  service.site.on('/answer', document('<Hangup/>'));
  await calledFrom(service, { from: 'anonymous' });
  expect(await service.cdr()).toMatchObject({ from: 'anonymous' });
});

it('an endpoint that dials +1415… dials 1415…', async () => {
  service.site.on('/answer', document('<Hangup/>'));
  await dialledBy(service, await registered(service), '+14155550101');
  expect(await service.cdr()).toMatchObject({ to: '14155550101' });
});
