/** Carrier limits apply to calls in both directions, and a refusal names the exhausted limit. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calledFrom, placed } from '../../spec/calls/phone.ts';
import { type CallService, NOTHING_LEFT, openCallService } from '../../spec/calls/service.ts';
import { document } from '../../spec/calls/site.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
  service.site.on('/answer', document('<Wait length="3600"/>'));
});
afterEach(() => service.close());

const limit = (concurrentCallsLimit: number, cpsLimit: number): Promise<unknown> =>
  service.provisioning.carriers.patch('north', { concurrentCallsLimit, cpsLimit });

async function finish(): Promise<void> {
  for (const call of service.live()) call.hangup('normal', 'API Request');
  await service.clock.advance(10_000);
  expect(await service.leftovers()).toEqual(NOTHING_LEFT);
}

describe('calls from a carrier', () => {
  it('are limited in number: 10 of 40 are accepted, the others get 503 with the limit', async () => {
    await limit(10, 1000);
    const phones = [];
    for (let call = 0; call < 40; call += 1) {
      phones.push(await calledFrom(service, { from: String(14155550200 + call) }));
    }
    expect(service.live()).toHaveLength(10);
    const refused = phones.filter(({ sent }) => sent.includes('hangup concurrencyBreached'));
    expect(refused).toHaveLength(30);
    expect(await service.cdr(refused[0]?.callUuid)).toMatchObject({
      hangupCauseCode: 5030,
      failureReason: 'carrier north is full: 10 concurrent calls',
      cost: 0,
    });
    // The end of one call frees a slot for another.
    await phones[0]?.hangsUp();
    await calledFrom(service);
    expect(service.live()).toHaveLength(10);
    await finish();
  });

  it('are limited per second', async () => {
    await limit(1000, 3);
    for (let call = 0; call < 5; call += 1) await calledFrom(service);
    expect(service.live()).toHaveLength(3);
    expect((await service.cdrs())[0]?.failureReason).toBe(
      'carrier north is full: 3 calls per second',
    );
    await service.clock.advance(1000);
    await calledFrom(service);
    expect(service.live()).toHaveLength(4);
    await finish();
  });

  it('share the limit with calls to the carrier', async () => {
    await limit(1, 1000);
    await calledFrom(service);
    await placed(service).catch(() => undefined);
    await service.clock.advance(5000);
    expect(service.signalling.invites).toEqual([]);
    await finish();
  });
});
