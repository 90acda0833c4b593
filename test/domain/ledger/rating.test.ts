import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { affordable, parseRates, priceUse, RateBook } from '../../../src/domain/ledger/ledger.ts';
import type { Rate } from '../../../src/domain/ledger/types.ts';

const rate = (over: Partial<Rate>): Rate => ({
  direction: 'outbound',
  prefix: '',
  perMinute: micros(50_000),
  pulseMs: 60_000,
  currency: 'USD',
  accountId: undefined,
  ...over,
});

describe('rates', () => {
  const book = new RateBook([
    rate({}),
    rate({ prefix: '1', perMinute: micros(6_500) }),
    rate({ prefix: '1415', perMinute: micros(7_000) }),
    rate({ prefix: '1', perMinute: micros(5_000), accountId: asAccountId('MA_A') }),
    rate({ direction: 'stream', perMinute: micros(3_000) }),
  ]);
  const price = (
    number: string,
    accountId = asAccountId('MA_B'),
    direction: Rate['direction'] = 'outbound',
  ) => book.quote(direction, number, accountId, 'USD')?.perMinute;

  it('prefers the longest prefix', () => {
    expect(price('14155550100')).toBe(7_000);
    expect(price('12125550100')).toBe(6_500);
    expect(price('442071838750')).toBe(50_000);
  });

  it("prefers an account's own rate to the common one of equal length, but not of a longer prefix", () => {
    expect(price('12125550100', asAccountId('MA_A'))).toBe(5_000);
    expect(price('14155550100', asAccountId('MA_A'))).toBe(7_000);
  });

  it('ignores a plus sign and spaces in the number', () => {
    expect(price('+1 415 555-0100')).toBe(7_000);
  });

  it('prices a text that is not a number by the rate without prefix', () => {
    expect(price('sip:bob@example.test', asAccountId('MA_B'), 'stream')).toBe(3_000);
  });

  it('has no price in a currency, or of a kind, without rates', () => {
    expect(book.quote('outbound', '1415', asAccountId('MA_A'), 'GBP')).toBeUndefined();
    expect(book.quote('inbound', '1415', asAccountId('MA_A'), 'USD')).toBeUndefined();
  });

  it('replaces a rate that is stored again and removes a deleted one', () => {
    const own = new RateBook();
    own.put(rate({}));
    own.put(rate({ perMinute: micros(1) }));
    expect(own.list()).toHaveLength(1);
    own.remove(rate({}));
    expect(own.quote('outbound', '1', asAccountId('MA_A'), 'USD')).toBeUndefined();
  });

  it('applies the price list again after the overriding rate was removed', () => {
    const listed = rate({ perMinute: micros(5) });
    const own = new RateBook([listed]);
    own.put(rate({ perMinute: micros(1) }));
    own.remove(listed);
    expect(own.quote('outbound', '1', asAccountId('MA_A'), 'USD')).toEqual(listed);
  });

  it('finds a stored rate with a longer prefix than the price list has', () => {
    const own = new RateBook([rate({ prefix: '1' })]);
    const stored = rate({ prefix: '1415555', perMinute: micros(9) });
    own.put(stored);
    expect(own.quote('outbound', '14155550100', asAccountId('MA_A'), 'USD')).toEqual(stored);
  });

  it('keeps stored rates when the price list is replaced, and drops those of the old list', () => {
    const own = new RateBook([rate({ prefix: '1' }), rate({ prefix: '49' })]);
    const stored = rate({ prefix: '1', perMinute: micros(9) });
    own.put(stored);
    const listed = rate({ prefix: '1', perMinute: micros(5) });
    own.relist([listed, rate({ prefix: '44' })]);
    const priced = (number: string) =>
      own.quote('outbound', number, asAccountId('MA_A'), 'USD')?.perMinute;
    expect([priced('1'), priced('49'), priced('44')]).toEqual([9, undefined, 50_000]);
    own.remove(stored);
    expect(priced('1')).toBe(5);
  });

  it('applies the later of two equal rows', () => {
    const own = new RateBook([rate({ perMinute: micros(1) }), rate({ perMinute: micros(2) })]);
    expect(own.list().map(({ perMinute }) => perMinute)).toEqual([2]);
  });

  it('replaces all stored rates by those of another node', () => {
    const own = new RateBook([rate({})]);
    own.put(rate({ prefix: '1', perMinute: micros(9) }));
    own.put(rate({ perMinute: micros(8) }));
    own.replaceStored([rate({ prefix: '44', perMinute: micros(7) })]);
    const priced = (number: string) =>
      own.quote('outbound', number, asAccountId('MA_A'), 'USD')?.perMinute;
    expect([priced('1'), priced('44')]).toEqual([50_000, 7]);
  });

  it('buys only whole pulses, which never cost more than the amount', () => {
    const minutely = rate({ perMinute: micros(3_000) });
    expect(affordable(micros(8_999), minutely)).toEqual({ billedMs: 120_000, amount: 6_000 });
    expect(affordable(micros(9_000), minutely)).toEqual({ billedMs: 180_000, amount: 9_000 });
    expect(affordable(micros(2_999), minutely)).toEqual({ billedMs: 0, amount: 0 });
    expect(affordable(micros(5), rate({ perMinute: micros(0) }))).toEqual({
      billedMs: 0,
      amount: 0,
    });
  });

  it('prices a use by started pulses', () => {
    expect(priceUse(44_000, rate({ perMinute: micros(3_000) }))).toEqual({
      billedMs: 60_000,
      amount: 3_000,
    });
    expect(priceUse(61_000, rate({ perMinute: micros(3_000), pulseMs: 6000 }))).toEqual({
      billedMs: 66_000,
      amount: 3_300,
    });
  });
});

describe('the price list', () => {
  it('config/rates.json is valid and has a price for every kind of use in USD', () => {
    const file = new URL('../../../config/rates.json', import.meta.url);
    const parsed = parseRates(JSON.parse(readFileSync(file, 'utf8')));
    if (!parsed.ok) throw new Error(parsed.error);
    const book = new RateBook(parsed.value);
    for (const kind of ['outbound', 'inbound', 'sip', 'stream', 'recording', 'number'] as const) {
      expect(book.quote(kind, '4930123456', asAccountId('MA_A'), 'USD')).toBeDefined();
    }
  });

  it.each([
    [[], 'rates: an array is expected'],
    [{ rates: [1] }, 'rates[0]: an object is expected'],
    [{ rates: [{ direction: 'up' }] }, 'rates[0]: direction must be one of'],
    [{ rates: [{ direction: 'sip', prefix: '+1' }] }, 'rates[0]: prefix'],
    [{ rates: [{ direction: 'sip', per_minute: -1 }] }, 'rates[0]: per_minute'],
    [
      { rates: [{ direction: 'sip', per_minute: 0.0000004, currency: 'USD' }] },
      'rates[0]: per_minute must be 0, or at least 0.000001',
    ],
    [
      { rates: [1, 2].map((per_minute) => ({ direction: 'sip', per_minute, currency: 'USD' })) },
      'rates[1]: the same as rates[0]',
    ],
    [{ rates: [{ direction: 'sip', per_minute: 1, pulse_seconds: 0 }] }, 'rates[0]: pulse_seconds'],
    [{ rates: [{ direction: 'sip', per_minute: 1, currency: 'usd' }] }, 'rates[0]: currency'],
  ])('names the row and its problem: %j', (document, message) => {
    const parsed = parseRates(document);
    expect(parsed.ok ? '' : parsed.error).toContain(message);
  });
});
