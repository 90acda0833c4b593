import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { Ledger } from '../../../src/domain/ledger/ledger.ts';
import type { Store } from '../../../src/edge/store/store.ts';
import { openInMemory } from '../../edge/store/open.ts';
import { anAccount } from '../../edge/store/records.ts';

const ACCOUNT = anAccount().authId;

describe('ledger', () => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    ({ store } = await openInMemory());
    await store.accounts.create(anAccount(), 't');
    ledger = new Ledger({ store: store.ledger, rates: store.rates, log: silentLogger });
  });
  afterEach(() => store.close());

  const adjust = (amount: number, over: object = {}) =>
    ledger.adjust({
      accountId: ACCOUNT,
      currency: 'usd',
      amount: micros(amount),
      description: 'by hand',
      ...over,
    });

  it('posts a negative adjustment as debit, a positive one as credit, and upper-cases the currency', async () => {
    expect(await adjust(5)).toMatchObject({ value: { type: 'credit', amount: 5 } });
    expect(await adjust(-2)).toMatchObject({
      value: { type: 'debit', amount: 2, referenceType: 'manual_adjustment' },
    });
    expect(await ledger.balance(ACCOUNT, 'usd')).toMatchObject({ value: { balance: 3 } });
  });

  it('posts an adjustment with a reference once', async () => {
    const use = { reference: 'recording:r1', referenceType: 'recording' };
    const first = await adjust(-2, use);
    expect(first).toMatchObject({ value: { reference: 'recording:r1', amount: 2 } });
    expect(await adjust(-2, use)).toEqual(first);
    expect(await ledger.balance(ACCOUNT, 'usd')).toMatchObject({ value: { balance: -2 } });
  });

  it('refuses an unknown balance', async () => {
    expect(await adjust(5, { currency: 'EUR' })).toEqual({
      ok: false,
      error: { kind: 'unknownBalance' },
    });
    expect(await ledger.balance(ACCOUNT, 'XXX')).toMatchObject({
      error: { kind: 'unknownBalance' },
    });
  });

  it('replaces a per_page above 1000 by 50 instead of clamping it (Transactions, per_page)', async () => {
    await adjust(1);
    expect((await ledger.list({ accountId: ACCOUNT }, 1, 1001)).perPage).toBe(50);
    expect((await ledger.list({ accountId: ACCOUNT }, 1, 1000)).perPage).toBe(1000);
  });

  it('computes total_pages by rounding up and a summary that ignores the page (rule 3)', async () => {
    for (const amount of [1, 2, 3, 4, 5]) await adjust(amount);
    const page = await ledger.list({ accountId: ACCOUNT }, 3, 2);
    expect(page).toMatchObject({ total: 5, totalPages: 3, page: 3 });
    expect(page.entries.map((entry) => entry.amount)).toEqual([1]);
    expect(page.summary.totalCredit).toBe(15);
  });

  it('zeroes a failing summary without failing the request (Transactions, rule 7)', async () => {
    await adjust(1);
    const broken = new Ledger({
      store: { ...store.ledger, summary: () => Promise.reject(new Error('disk')) },
      rates: store.rates,
      log: silentLogger,
    });
    const page = await broken.list({ accountId: ACCOUNT }, 1, 50);
    expect(page.entries).toHaveLength(1);
    expect(page.summary).toEqual({
      totalTransactions: 0,
      totalDebit: 0,
      totalCredit: 0,
      byReferenceType: [],
    });
  });

  it('includes did_rental in type=debit and matches type=did_rental exactly (Transactions, rule 8)', async () => {
    await adjust(100);
    await adjust(-1);
    await store.ledger.post(
      [
        {
          accountId: ACCOUNT,
          currency: 'USD',
          type: 'did_rental',
          amount: micros(7),
          description: 'rent',
          reference: undefined,
          referenceType: 'did_rental',
        },
      ],
      { checked: false },
    );
    const types = async (type: string) =>
      (await ledger.list({ accountId: ACCOUNT, type }, 1, 50)).entries.map((entry) => entry.type);
    expect(await types('debit')).toEqual(['did_rental', 'debit']);
    expect(await types('did_rental')).toEqual(['did_rental']);
    expect(await types('credit')).toEqual(['credit']);
    expect(await ledger.referenceTypes(ACCOUNT)).toEqual(['did_rental', 'manual_adjustment']);
  });

  it('keeps stored rates across a restart and prefers them to those of the file', async () => {
    const rate = {
      direction: 'sip',
      prefix: '',
      perMinute: micros(9),
      pulseMs: 30_000,
      currency: 'USD',
      accountId: ACCOUNT,
    } as const;
    await ledger.putRate(rate);
    const restarted = new Ledger({ store: store.ledger, rates: store.rates, log: silentLogger });
    await restarted.loadRates();
    expect(restarted.rateBook.quote('sip', '1', ACCOUNT, 'USD')).toEqual(rate);
  });
});
