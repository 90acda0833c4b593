/** An account with a hard limit never goes below 0 (decisions: Credit line). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { micros } from '../../src/base/money.ts';
import type { Rate } from '../../src/domain/ledger/types.ts';
import { calledFrom } from './calls/phone.ts';
import { type CallService, NOTHING_LEFT, openCallService, PRICE } from './calls/service.ts';
import { document } from './calls/site.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

const balance = async (): Promise<number> => {
  const found = await service.ledger.balance(service.accountId, 'USD');
  if (!found.ok) throw new Error(found.error.kind);
  return found.value.balance;
};

/** Reduces the balance to `amount`, millionths. */
async function leave(amount: number): Promise<void> {
  const rest = { amount: micros(amount - (await balance())), description: 'spent' };
  await service.ledger.adjust({ accountId: service.accountId, currency: 'USD', ...rest });
}

const price = (direction: Rate['direction'], perMinute: number, pulseMs: number) =>
  service.ledger.putRate({
    direction,
    prefix: '',
    perMinute: micros(perMinute),
    pulseMs,
    currency: 'USD',
    accountId: undefined,
  });

const RECORD = '<Record recordSession="true" redirect="false"/><Wait length="3600"/>';

describe('a recording on an account with a hard limit', () => {
  it('does not begin without funds for its first pulse; the call continues', async () => {
    await price('recording', 1000, 60_000);
    await leave(PRICE.inbound + 999);
    service.site.on('/answer', document(RECORD));
    const phone = await calledFrom(service);
    await service.clock.advance(8_000);
    expect(phone.media.recordings).toEqual([]);
    expect(phone.call.isEnded).toBe(false);
    await phone.hangsUp();
    expect(await balance()).toBe(999);
    expect(await service.leftovers()).toEqual(NOTHING_LEFT);
  });

  it.each([
    ['6 a minute by the second, 0.3 left', 6_000_000, 1_000, 300_000, 0],
    ['6 a minute by the second, 0.35 left', 6_000_000, 1_000, 350_000, 50_000],
    ['by the minute', 20_000, 60_000, 20_000, 0],
  ])('ends when the funds are used up: %s', async (_what, perMinute, pulseMs, funds, rest) => {
    await price('recording', perMinute, pulseMs);
    await leave(PRICE.inbound + funds);
    service.site.on('/answer', document(RECORD));
    const phone = await calledFrom(service);
    expect(phone.media.recordings).toHaveLength(1);
    await service.clock.advance(59_000);
    await phone.hangsUp();
    await service.clock.advance(10_000);
    expect(await balance()).toBe(rest);
    const entries = (await service.debits()).filter((one) => one.referenceType === 'recording');
    expect(entries).toMatchObject([{ amount: funds - rest }]);
    // The console and `npm run call` find the charges of a call by its UUID.
    expect(entries[0]?.description).toContain(phone.callUuid);
    expect(await service.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('shares the funds with the call, and both stay within them', async () => {
    await price('recording', 6_000_000, 1_000);
    await leave(PRICE.inbound * 2 + 250_000);
    service.site.on('/answer', document(RECORD + RECORD));
    const phone = await calledFrom(service);
    await service.clock.advance(300_000);
    expect(phone.call.isEnded).toBe(true);
    expect(await balance()).toBeGreaterThanOrEqual(0);
    expect(await service.leftovers()).toEqual(NOTHING_LEFT);
  });
});
