/** Spec: GET …/transactions, its parameters and rules 1 to 9; Errors: Transactions. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let list: string;
beforeEach(async () => {
  service = await startService();
  list = `${service.root}/transactions`;
});
afterEach(() => service.stop());

const get = async (query = '') => (await service.get(`${list}${query}`)).body;
const amounts = (body: { transactions: { amount: number }[] }) =>
  body.transactions.map(({ amount }) => amount);

describe('GET transactions', () => {
  it('returns the envelope with every field of an entry', async () => {
    await service.book({ amount: 0.0065, reference: 'cdr:1', description: 'Call to +1415' });
    const body = await get();
    expect(body).toMatchObject({ total: 1, page: 1, per_page: 50, total_pages: 1 });
    expect(body.transactions[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      account_id: service.account.authId,
      balance_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'debit',
      amount: 0.0065,
      currency: 'USD',
      description: 'Call to +1415',
      reference: 'cdr:1',
      reference_type: 'cdr',
      status: 'completed',
      processed_at: '2026-01-01T00:00:00.000000Z',
      created_at: '2026-01-01T00:00:00.000000Z',
      updated_at: '2026-01-01T00:00:00.000000Z',
    });
  });

  it('omits `reference` if there is none; it is never null', async () => {
    await service.book({ amount: 1 });
    expect((await get()).transactions[0]).not.toHaveProperty('reference');
  });

  it('returns no pages and a zeroed summary for an empty account', async () => {
    expect(await get()).toEqual({
      transactions: [],
      summary: {
        total_transactions: 0,
        total_debit: 0,
        total_credit: 0,
        net_amount: 0,
        by_reference_type: [],
      },
      total: 0,
      page: 1,
      per_page: 50,
      total_pages: 0,
    });
  });

  it('per_page: default 50, at most 1000; values above 1000 fall back to 50, which the reply states', async () => {
    expect((await get()).per_page).toBe(50);
    expect((await get('?per_page=1000')).per_page).toBe(1000);
    expect((await get('?per_page=1001')).per_page).toBe(50);
  });

  it.each(['?page=0', '?page=-1', '?page=x', '?page=', '?per_page=0', '?per_page=x'])(
    'page and per_page fall back to their defaults for anything but numbers from 1: %s',
    async (query) => {
      expect(await get(query)).toMatchObject({ page: 1, per_page: 50 });
    },
  );

  it('rule 1: orders by created_at descending, for any sort parameter', async () => {
    for (const amount of [1, 2, 3]) {
      await service.book({ amount });
      await service.clock.advance(1000);
    }
    expect(amounts(await get('?sort=created_at&order=asc'))).toEqual([3, 2, 1]);
  });

  it('rule 2: ignores limit and offset and returns the default first page', async () => {
    for (const amount of [1, 2, 3]) await service.book({ amount });
    const body = await get('?limit=1&offset=2');
    expect(body.transactions).toHaveLength(3);
    expect(body).toMatchObject({ page: 1, per_page: 50 });
  });

  it('rule 3: summary and total cover the whole filtered set on every page', async () => {
    await service.book({ amount: 10, type: 'credit', referenceType: 'payment' });
    await service.book({ amount: 1.5 });
    await service.book({ amount: 0.25, referenceType: 'stream_cdr' });
    const body = await get('?per_page=1');
    expect(body.transactions).toHaveLength(1);
    expect(body).toMatchObject({ total: 3, total_pages: 3 });
    expect(body.summary).toMatchObject({
      total_transactions: 3,
      total_debit: 1.75,
      total_credit: 10,
      net_amount: 8.25,
    });
    expect(body.summary.by_reference_type).toEqual(
      expect.arrayContaining([
        { reference_type: 'payment', total_debit: 0, total_credit: 10, count: 1 },
        { reference_type: 'cdr', total_debit: 1.5, total_credit: 0, count: 1 },
        { reference_type: 'stream_cdr', total_debit: 0.25, total_credit: 0, count: 1 },
      ]),
    );
  });

  it('rule 4: a bare date is a UTC day, its end 23:59:59 inclusive', async () => {
    await service.book({ amount: 1 });
    await service.clock.advance(86_399_000);
    await service.book({ amount: 2 });
    await service.clock.advance(1000);
    await service.book({ amount: 3 });
    expect(amounts(await get('?from_date=2026-01-01&to_date=2026-01-01'))).toEqual([2, 1]);
    expect(amounts(await get('?from_date=2026-01-02'))).toEqual([3]);
  });

  it('rule 4: explicit offsets in both bounds select a local day', async () => {
    await service.clock.advance(18.6 * 3_600_000);
    await service.book({ amount: 1 });
    const day = (date: string) =>
      `?from_date=${encodeURIComponent(`${date}T00:00:00+05:30`)}&to_date=${encodeURIComponent(`${date}T23:59:59+05:30`)}`;
    expect(amounts(await get(day('2026-01-02')))).toEqual([1]);
    expect(amounts(await get(day('2026-01-01')))).toEqual([]);
  });

  it('rule 5: a raw + in a timestamp decodes as a space and gives 500, not an empty day', async () => {
    const reply = await service.get(`${list}?from_date=2026-01-01T00:00:00+05:30`);
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({ error: 'Failed to retrieve transactions' });
  });

  it.each(['?from_date=yesterday', '?to_date=2026-02-30', '?from_date=2026-13-01'])(
    'an unparseable date gives 500: %s',
    async (query) => {
      const reply = await service.get(`${list}${query}`);
      expect(reply.status).toBe(500);
      expect(reply.body).toEqual({ error: 'Failed to retrieve transactions' });
    },
  );

  it('rule 6: a sub-account ID returns the whole ledger of the parent', async () => {
    const sub = await service.addSubAccount();
    await service.book({ amount: 1 });
    const url = `/api/v1/Account/${sub.authId}/transactions`;
    for (const as of [service.account, sub]) {
      const reply = await service.get(url, { as });
      expect(reply.status).toBe(200);
      expect(reply.body.transactions[0].account_id).toBe(service.account.authId);
    }
  });

  it('rule 7: a failed summary is zeroed and does not fail the request', async () => {
    await service.book({ amount: 1 });
    service.store.ledger.summary = () => Promise.reject(new Error('no summary'));
    const reply = await service.get(list);
    expect(reply.status).toBe(200);
    expect(reply.body.transactions).toHaveLength(1);
    expect(reply.body.summary).toMatchObject({ total_transactions: 0, by_reference_type: [] });
  });

  it('rule 8: type=debit includes did_rental rows; other values match exactly', async () => {
    await service.book({ amount: 1 });
    await service.book({ amount: 2, type: 'did_rental', referenceType: 'did_rental' });
    await service.book({ amount: 4, type: 'credit', referenceType: 'payment' });
    expect(amounts(await get('?type=debit')).sort()).toEqual([1, 2]);
    expect((await get('?type=debit')).summary.total_debit).toBe(3);
    expect(amounts(await get('?type=did_rental'))).toEqual([2]);
    expect(amounts(await get('?type=credit'))).toEqual([4]);
    expect(amounts(await get('?type=payment'))).toEqual([]);
  });

  it('rule 9: pages up to total_pages contain every row once', async () => {
    for (let amount = 1; amount <= 7; amount += 1) await service.book({ amount });
    const first = await get('?per_page=3');
    expect(first.total_pages).toBe(3);
    const seen: number[] = [];
    for (let page = 1; page <= first.total_pages; page += 1) {
      seen.push(...amounts(await get(`?per_page=3&page=${page}`)));
    }
    expect(seen.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((await get('?per_page=3&page=4')).transactions).toEqual([]);
  });

  it('filters are combined with AND: status, currency (upper-cased), reference_type, substrings, ID', async () => {
    const wanted = await service.book({
      amount: 1,
      reference: 'cdr:ABC',
      description: 'Call to Bob',
    });
    await service.book({ amount: 2, referenceType: 'recording', description: 'Storage' });
    expect(amounts(await get('?currency=usd&status=completed'))).toEqual([2, 1]);
    expect(amounts(await get('?status=pending'))).toEqual([]);
    expect(amounts(await get('?reference_type=recording'))).toEqual([2]);
    expect(amounts(await get('?description=TO%20bob'))).toEqual([1]);
    expect(amounts(await get('?reference=Cdr:aB'))).toEqual([1]);
    expect(amounts(await get(`?transaction_id=${wanted.id}`))).toEqual([1]);
    expect(amounts(await get(`?transaction_id=${wanted.id}&type=credit`))).toEqual([]);
    expect(amounts(await get('?transaction_id=no-uuid'))).toEqual([]);
  });

  it('treats % and _ in a substring filter literally', async () => {
    await service.book({ amount: 1, description: '100% of a_b' });
    await service.book({ amount: 2, description: '100 of aXb' });
    expect(amounts(await get('?description=100%25'))).toEqual([1]);
    expect(amounts(await get('?description=a_b'))).toEqual([1]);
  });

  it('is reachable with lowercase /account/ and under /v1', async () => {
    for (const url of [
      `/api/v1/account/${service.account.authId}/transactions`,
      `/v1/Account/${service.account.authId}/transactions/`,
    ]) {
      expect((await service.get(url)).status, url).toBe(200);
    }
  });
});

describe('GET transactions/reference-types', () => {
  it('lists the values present on the account', async () => {
    await service.book({ amount: 1 });
    await service.book({ amount: 1, referenceType: 'stream_cdr' });
    const url = `/api/v1/account/${service.account.authId}/transactions/reference-types`;
    const { body } = await service.get(url);
    expect(body).toEqual({ reference_types: ['cdr', 'stream_cdr'] });
  });
});

describe('Errors: Transactions', () => {
  it('400 accountID is required: missing account id in the path', async () => {
    for (const url of ['/api/v1/Account//transactions', '/api/v1/account/transactions']) {
      const reply = await service.get(url);
      expect(reply.status, url).toBe(400);
      expect(reply.body).toEqual({ error: 'accountID is required' });
    }
  });

  it('401 with error.code 401 and Invalid token: bad or missing credentials', async () => {
    const wrong = { authId: service.account.authId, authToken: 'wrong' };
    for (const as of [null, wrong, { authId: asAccountId('MA_NOBODY'), authToken: 'x' }]) {
      const reply = await service.get(list, { as });
      expect(reply.status).toBe(401);
      expect(reply.body).toEqual({ error: { code: 401, message: 'Invalid token' } });
    }
  });

  it('403 Access denied: account ID mismatch', async () => {
    const other = await service.addAccount({ name: 'Bob' });
    const reply = await service.get(list, { as: other });
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual({
      error: { code: 403, message: 'Access denied: account ID mismatch' },
    });
  });

  it('403: a sub-account may not use its parent’s ID', async () => {
    const sub = await service.addSubAccount();
    expect((await service.get(list, { as: sub })).status).toBe(403);
  });

  it('500 Failed to retrieve transactions when the store fails', async () => {
    service.store.ledger.page = () => Promise.reject(new Error('disk'));
    const reply = await service.get(list);
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({ error: 'Failed to retrieve transactions' });
  });
});
