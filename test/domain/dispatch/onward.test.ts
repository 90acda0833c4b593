/** Data that a Dial passes on from its caller: history, user data and hops. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { calledFrom } from '../../spec/calls/phone.ts';
import { type CallService, DID, openCallService } from '../../spec/calls/service.ts';
import { document } from '../../spec/calls/site.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
  service.site.on(
    '/answer',
    document(`<Dial callerId="${DID}"><Number>14155550122</Number></Dial>`),
  );
});
afterEach(() => service.close());

it('passes on Diversion, History-Info, User-to-User and Session-ID only, and decrements Max-Forwards', async () => {
  const headers = [
    ['Diversion', '<sip:14155550111@far.test>;reason=no-answer'],
    ['History-Info', '<sip:14155550111@far.test>;index=1'],
    ['User-to-User', '5465;encoding=hex'],
    ['Session-ID', 'ab30317f1a784dc48ff824d0d3715d86;remote=00000000000000000000000000000000'],
    ['Privacy', 'none'],
    ['User-to-User', 'x'.repeat(1025)],
  ] as const;
  await calledFrom(service, {}, { headers, maxForwards: 12 });
  const { options } = service.signalling.last;
  expect(options.maxForwards).toBe(11);
  expect(options.headers.filter(([name]) => !name.startsWith('X-'))).toEqual(headers.slice(0, 4));
});

it('passes on no header fields if the call has none', async () => {
  await calledFrom(service);
  const { options } = service.signalling.last;
  expect(options.maxForwards).toBeUndefined();
  expect(options.headers.filter(([name]) => !name.startsWith('X-'))).toEqual([]);
});
