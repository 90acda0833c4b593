/** Numbers have one form everywhere: digits without `+`, for any input form. */
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

it.each(FORMS)('shows a caller %s in the same form in callback and record', async (from) => {
  service.site.on('/answer', document('<Hangup/>'));
  await calledFrom(service, { from, to: `+${DID}` });
  expect(service.site.reported('/answer')[0]).toMatchObject({ From: '14155550177', To: DID });
  expect(await service.cdr()).toMatchObject({ from: '14155550177', to: DID });
});

it('keeps text that is not a number unchanged', async () => {
  service.site.on('/answer', document('<Hangup/>'));
  await calledFrom(service, { from: 'anonymous' });
  expect(await service.cdr()).toMatchObject({ from: 'anonymous' });
});

it('treats +1415… and 1415… dialed by an endpoint alike', async () => {
  service.site.on('/answer', document('<Hangup/>'));
  await dialledBy(service, await registered(service), '+14155550101');
  expect(await service.cdr()).toMatchObject({ to: '14155550101' });
});
