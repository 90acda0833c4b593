/** Route test: reports the routing decision without placing a call. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CallService, DID, openCallService, PRICE } from '../../spec/calls/service.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

const explained = async (from: string, to: string) => {
  const reported = await service.control.explainRoute({ accountId: service.accountId, from, to });
  if (!reported.ok) throw new Error(reported.error.kind);
  return reported.value;
};

it('reports price, caller ID and each carrier with its rank or reason for exclusion', async () => {
  const { carriers } = service.provisioning;
  await carriers.create({ name: 'cheap', host: 'c.test', policy: { costs: { '1': 0.001 } } });
  await carriers.create({ name: 'off', host: 'o.test', enabled: false });
  await carriers.create({ name: 'german', host: 'g.test', prefixes: ['49'] });
  const reported = await explained(DID, '+1 (415) 555-0122'.replace(/[^\d+]/g, ''));
  expect(reported).toMatchObject({
    to: '14155550122',
    country: 'US',
    callerId: DID,
    refusal: undefined,
    price: { perMinute: PRICE.outbound },
  });
  expect(reported.carriers.map(({ name, rank, why }) => [name, rank, why])).toEqual([
    ['cheap', 1, undefined],
    ['north', 2, undefined],
    ['off', undefined, 'it is disabled'],
    ['german', undefined, 'its prefixes do not match the number'],
  ]);
  expect(service.signalling.invites).toEqual([]);
});

it('reports why the call would be refused', async () => {
  expect((await explained('14085550000', '14155550122')).refusal).toMatch(/not a caller ID/);
  expect((await explained(DID, '911')).refusal).toMatch(/emergency/);
  expect(await explained(DID, 'abc')).toMatchObject({
    refusal: expect.stringMatching(/not a telephone number/),
    carriers: [],
  });
});
