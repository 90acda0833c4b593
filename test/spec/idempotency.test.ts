/** `Idempotency-Key`: operations that create, buy or move something run once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, type Credentials, type Service, startService } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let serial = 0;
const newKey = (): string => `key-${++serial}`;
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });

const app = (name: string) => ({ app_name: name, answer_url: 'https://a.example/x' });
const count = async (list: string): Promise<number> => {
  const { body } = await service.get(`${service.root}/${list}`);
  return body.meta?.total_count ?? body.meta?.total ?? body.total;
};

describe('Idempotency-Key', () => {
  it('returns the first response to a repeat and creates nothing', async () => {
    const key = newKey();
    const url = `${service.root}/Application/`;
    const before = await count('Application/');
    const first = await service.post(url, app('once'), withKey(key));
    // Members in another order are the same request.
    const again = { answer_url: 'https://a.example/x', app_name: 'once' };
    const second = await service.post(url, again, withKey(key));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(await count('Application/')).toBe(before + 1);
  });

  it('runs twenty simultaneous requests once, with one response', async () => {
    const key = newKey();
    const body = { username: 'twenty', alias: 'twenty', password: 'password-1' };
    const before = await count('Endpoint/');
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.post(`${service.root}/Endpoint/`, body, withKey(key)),
      ),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.status).toBe(201);
    expect(await count('Endpoint/')).toBe(before + 1);
  });

  it('refuses another body or route with 409', async () => {
    const key = newKey();
    await service.post(`${service.root}/Application/`, app('one'), withKey(key));
    for (const [path, body] of [
      ['Application/', app('other')],
      ['origination-uris', app('one')],
      ['origination-uris', { name: 'x', sip_uri: 'sip:a@b.example', priority: 1 }],
    ] as const) {
      const reply = await service.post(`${service.root}/${path}`, body, withKey(key));
      expect(reply.status, path).toBe(409);
      expect(reply.text).toContain('Idempotency-Key');
    }
  });

  it('forgets a refused request, so that the corrected one may reuse the key', async () => {
    const key = newKey();
    const url = `${service.root}/numbers/purchase-from-inventory`;
    const e164 = '14155557001';
    await service.admin('POST', '/numbers', { e164, country: 'US', currency: 'USD', setup_fee: 2 });
    expect((await service.post(url, { e164 }, withKey(key))).status).toBe(402);
    await service.admin('POST', `/accounts/${service.account.authId}/credit`, {
      amount: 10,
      currency: 'USD',
      description: 'credit',
    });
    const balance = async () => (await service.get(`${service.root}/balance/USD`)).body.balance;
    expect((await service.post(url, { e164 }, withKey(key))).status).toBe(201);
    expect(await balance()).toBe(8);
    expect((await service.post(url, { e164 }, withKey(key))).status).toBe(201);
    expect(await balance()).toBe(8);
  });

  it('transfers capacity once, and credits once', async () => {
    const partner = await service.addAccount({
      name: 'Partner',
      isPartner: true,
      limitTransferEnabled: true,
      concurrentCallsLimit: 100,
    });
    const customer = await service.addAccount({ name: 'C', partnerAuthId: partner.authId });
    const url = `/api/v1/partner/accounts/${customer.authId}/concurrency/transfer`;
    const move = { ...withKey(newKey()), as: partner };
    const first = await service.post(url, { slots: 10 }, move);
    const second = await service.post(url, { slots: 10 }, move);
    expect(second.body).toEqual(first.body);
    expect((await service.accounts.get(partner.authId))?.concurrentCallsLimit).toBe(90);
    const credit = () =>
      service.send('POST', `/admin/v1/accounts/${customer.authId}/credit`, {
        as: null,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': 'credit-1' },
        body: { amount: 5, currency: 'USD', description: 'x' },
      });
    expect((await credit()).body).toEqual((await credit()).body);
    const { balance } = (
      await service.get(`/api/v1/Account/${customer.authId}/balance/USD`, { as: customer })
    ).body;
    expect(balance).toBe(5);
  });

  it('refuses a credit beyond the range of a balance, which stays readable', async () => {
    const { authId } = await service.addAccount({ name: 'Rich' });
    const credit = () =>
      service.admin('POST', `/accounts/${authId}/credit`, {
        amount: 5_000_000_000,
        currency: 'USD',
        description: 'x',
      });
    expect((await credit()).status).toBe(201);
    const refused = await credit();
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('amount');
    const { body } = await service.admin('GET', `/accounts/${authId}`);
    expect(body).toMatchObject({ balances: [{ balance: 5_000_000_000 }] });
  });

  it('is scoped to one account and valid for one day', async () => {
    const key = newKey();
    const other = await service.addAccount({ name: 'Other' });
    const create = async (as: Credentials) =>
      (
        await service.post(`/api/v1/Account/${as.authId}/Application/`, app('mine'), {
          ...withKey(key),
          as,
        })
      ).body.app_id;
    const mine = await create(service.account);
    expect(await create(other)).not.toBe(mine);
    expect(await create(service.account)).toBe(mine);
    await service.clock.advance(86_400_001);
    expect(await create(service.account)).not.toBe(mine);
  });

  it('returns the token of the first response again', async () => {
    const made = await service.post(
      `${service.root}/Subaccount/`,
      { name: 'Sub' },
      withKey('with-token'),
    );
    const token: string = made.body.auth_token;
    const again = await service.post(
      `${service.root}/Subaccount/`,
      { name: 'Sub' },
      withKey('with-token'),
    );
    expect(again.body.auth_token).toBe(token);
  });

  it('refuses an invalid key with 400', async () => {
    for (const key of ['', 'two words', 'x'.repeat(129)]) {
      const reply = await service.post(`${service.root}/Application/`, app('x'), withKey(key));
      expect(reply.status, key).toBe(400);
      expect(reply.text).toContain('Idempotency-Key');
    }
  });
});
