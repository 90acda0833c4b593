/** Spec: balance, capacity snapshot, partner capacity allocation; dialect §3.1 and §3.10. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../src/base/errors.ts';
import { type Credentials, type Service, startService } from './service.ts';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

describe('GET balance/{currency}', () => {
  it('returns every field; available_balance is the balance minus reservations', async () => {
    await service.book({ amount: 10, type: 'credit', referenceType: 'payment' });
    await service.store.ledger.reserve({
      reservationId: 'r-1',
      accountId: service.account.authId,
      currency: 'USD',
      amount: 2_500_000 as never,
      dailySpendLimit: undefined,
    });
    const { status, body } = await service.get(`${service.root}/balance/USD`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      account_id: service.account.authId,
      currency: 'USD',
      balance: 10,
      reserved_funds: 2.5,
      promotional_balance: 0,
      promotional_reserved_balance: 0,
      available_balance: 7.5,
      credit_limit: 0,
      is_postpaid: false,
      credit_limit_type: 'hard',
      low_balance_threshold: 0,
      status: 'active',
      created_at: '2026-01-01T00:00:00.000000Z',
      updated_at: '2026-01-01T00:00:00.000000Z',
    });
  });

  it('returns 404 for a currency in which the account has no balance', async () => {
    const { status, body } = await service.get(`${service.root}/balance/XXX`);
    expect(status).toBe(404);
    expect(body).toEqual({ error: 'balance not found for currency XXX' });
  });
});

describe('low-balance alert of the customer (dialect: low_balance_threshold)', () => {
  const url = () => `${service.root}/low-balance-alert`;

  it('sets thresholds by currency, URL and addresses; absent fields stay unchanged', async () => {
    await service.admin('POST', `/accounts/${service.account.authId}/balances`, {
      currency: 'EUR',
    });
    expect((await service.get(url())).body).toEqual({
      url: null,
      emails: [],
      thresholds: { EUR: 0, USD: 0 },
    });
    const set = await service.post(url(), {
      url: 'https://a.example/low',
      emails: ['a@a.example', 'b@a.example'],
      thresholds: { EUR: 2.5 },
    });
    expect(set).toMatchObject({ status: 200, body: { thresholds: { EUR: 2.5, USD: 0 } } });
    await service.post(url(), { thresholds: { usd: 1 } });
    expect((await service.get(url())).body).toEqual({
      url: 'https://a.example/low',
      emails: ['a@a.example', 'b@a.example'],
      thresholds: { EUR: 2.5, USD: 1 },
    });
    expect((await service.get(`${service.root}/balance/USD`)).body.low_balance_threshold).toBe(1);
    const cleared = await service.post(url(), { url: null, emails: [] });
    expect(cleared.body).toMatchObject({ url: null, emails: [] });
  });

  it.each([
    ['url', { url: 'mailto:a@a.example' }],
    ['url', { url: 'no url' }],
    ['emails', { emails: ['a@a.example', 'nobody'] }],
    ['emails', { emails: 'a@a.example' }],
    ['thresholds', { thresholds: { USD: -1 } }],
    ['thresholds', { thresholds: { XXX: 1 } }],
  ])('returns 400 and names the problem of %s', async (field, body) => {
    const refused = await service.post(url(), body);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(field);
    expect((await service.get(url())).body.url).toBeNull();
  });

  it('lets the operator set the fields of one balance, and reports invalid addresses', async () => {
    const account = `/accounts/${service.account.authId}`;
    const patched = await service.admin('PATCH', `${account}/balances/usd`, {
      low_balance_threshold: 7,
    });
    expect(patched).toMatchObject({ status: 200, body: { low_balance_threshold: 7 } });
    expect((await service.admin('PATCH', `${account}/balances/XXX`, {})).status).toBe(404);
    for (const wrong of [{ low_balance_url: 'ftp://a.example' }, { low_balance_email: 'nobody' }]) {
      expect((await service.admin('PATCH', account, wrong)).status).toBe(400);
    }
  });
});

describe('GET capacity', () => {
  const url = () => `/api/v1/account/${service.account.authId}/capacity`;

  it('returns a snapshot of the current values', async () => {
    service.control.running = () => 3;
    expect((await service.get(url())).body).toEqual({
      concurrent_calls: 3,
      max_concurrent: 10,
      concurrent_free: 7,
      utilization_pct: 30,
      running_campaigns: [],
    });
  });

  it('502 when the concurrency service is unavailable', async () => {
    service.control.running = () => {
      throw new ServiceError('STORE_BUSY', 'counter is down');
    };
    const { status, body } = await service.get(url());
    expect([status, body]).toEqual([502, { error: 'concurrency service unavailable' }]);
  });

  it('returns the same values from GET Account/{id}/concurrency in its own shape', async () => {
    service.control.running = () => 1;
    const { body } = await service.get(`${service.root}/concurrency`);
    expect(body).toMatchObject({ concurrent_calls: 1, max_concurrent: 10, utilization_pct: 10 });
  });
});

describe('Partner capacity allocation', () => {
  let partner: Credentials;
  let customer: Credentials;
  const base = () => `/api/v1/partner/accounts/${customer.authId}/concurrency`;
  const move = (operation: string, body: object, as = partner) =>
    service.post(`${base()}/${operation}`, body, { as });

  beforeEach(async () => {
    partner = await service.addAccount({
      name: 'Partner',
      isPartner: true,
      limitTransferEnabled: true,
      concurrentCallsLimit: 100,
      cpsLimit: 20,
    });
    customer = await service.addAccount({
      name: 'Customer',
      partnerAuthId: partner.authId,
      concurrentCallsLimit: 10,
      cpsLimit: 2,
    });
  });

  it('refuses an offset beyond the integers of the database with 400', async () => {
    const url = '/api/v1/partner/concurrency/transfers?offset=';
    const beyond = await service.get(`${url}1e20`, { as: partner });
    expect(beyond.status, beyond.text).toBe(400);
    expect((await service.get(`${url}1000000000`, { as: partner })).status).toBe(200);
  });

  it('rule 1: a transfer subtracts from the partner and adds to the customer', async () => {
    const { status, body } = await move('transfer', { slots: 30, description: 'launch' });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      slots: 30,
      resource: 'concurrent_calls',
      from_account: partner.authId,
      to_account: customer.authId,
      transfer_reference: expect.any(String),
      partner_remaining: 70,
      customer_effective: 40,
      message: expect.any(String),
    });
  });

  it('rule 1: cps is selected by the resource and transferred independently of concurrent calls', async () => {
    const { body } = await move('transfer', { slots: 5, resource: 'cps' });
    expect(body).toMatchObject({ resource: 'cps', partner_remaining: 15, customer_effective: 7 });
    const view = await service.get(base(), { as: partner });
    expect(view.body).toEqual({
      partner_auth_id: partner.authId,
      customer_auth_id: customer.authId,
      partner_concurrent_calls_limit: 100,
      customer_concurrent_calls_limit: 10,
      net_concurrent_calls_allocated: 0,
      partner_cps_limit: 15,
      customer_cps_limit: 7,
      net_cps_allocated: 5,
    });
  });

  it('rule 2: a reclaim restores at most the allocated capacity', async () => {
    await move('transfer', { slots: 30 });
    expect((await move('reclaim', { slots: 31 })).status).toBe(400);
    const { body } = await move('reclaim', { slots: 30 });
    expect(body).toMatchObject({
      from_account: customer.authId,
      to_account: partner.authId,
      partner_remaining: 100,
      customer_effective: 10,
    });
  });

  it('rule 3: the refreshed limits are visible immediately', async () => {
    await move('transfer', { slots: 30 });
    const url = `/api/v1/account/${customer.authId}/capacity`;
    expect((await service.get(url, { as: customer })).body.max_concurrent).toBe(40);
  });

  it('rule 4: history newest first, limit default 50 within 1 to 200, offset default 0', async () => {
    await move('transfer', { slots: 1, description: 'first' });
    await service.clock.advance(1000);
    await move('reclaim', { slots: 1, description: 'second' });
    const url = '/api/v1/partner/concurrency/transfers';
    const { body } = await service.get(url, { as: partner });
    expect(body).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect(body.transfers.map((row: { description: string }) => row.description)).toEqual([
      'second',
      'first',
    ]);
    expect(body.transfers[0]).toMatchObject({ operation: 'reclaim', slots: 1 });
    const rest = await service.get(`${url}?limit=1&offset=1`, { as: partner });
    expect(rest.body.transfers[0].description).toBe('first');
    for (const query of ['limit=0', 'limit=201', 'offset=-1']) {
      expect((await service.get(`${url}?${query}`, { as: partner })).status, query).toBe(400);
    }
  });

  it.each([
    [{}, 'slots'],
    [{ slots: 0 }, 'slots'],
    [{ slots: 10_001 }, 'slots'],
    [{ slots: 1.5 }, 'slots'],
    [{ slots: 1, resource: 'gold' }, 'resource'],
    [{ slots: 1, description: 'x'.repeat(501) }, 'description'],
  ])('Limits: returns 400 and names the wrong field: %j', async (body, field) => {
    const reply = await move('transfer', body);
    expect(reply.status).toBe(400);
    expect(Object.keys(reply.body.details)).toEqual([field]);
  });

  it('rule 5: only a partner with transfers enabled, on its own customer, within its capacity', async () => {
    expect((await move('transfer', { slots: 1 }, customer)).status).toBe(403);
    expect((await move('transfer', { slots: 1 }, service.account)).status).toBe(403);
    const outsider = await service.addAccount({ name: 'Stranger' });
    const foreign = `/api/v1/partner/accounts/${outsider.authId}/concurrency/transfer`;
    expect((await service.post(foreign, { slots: 1 }, { as: partner })).status).toBe(403);
    const nobody = '/api/v1/partner/accounts/MA_NOBODY/concurrency/transfer';
    expect((await service.post(nobody, { slots: 1 }, { as: partner })).status).toBe(404);
    const beyond = await move('transfer', { slots: 101 });
    expect([beyond.status, beyond.body.available]).toEqual([400, 100]);
  });

  it('concurrent transfers create or lose no slot', async () => {
    await Promise.all(Array.from({ length: 12 }, () => move('transfer', { slots: 10 })));
    const { body } = await service.get(base(), { as: partner });
    expect(body).toMatchObject({
      partner_concurrent_calls_limit: 0,
      customer_concurrent_calls_limit: 110,
      net_concurrent_calls_allocated: 100,
    });
  });
});

describe('account info (dialect §3.1)', () => {
  it('shows the account without its token from GET auth/me', async () => {
    const { body, text } = await service.get('/api/v1/auth/me');
    expect(body).toMatchObject({
      auth_id: service.account.authId,
      auth_secret: '',
      concurrent_calls_limit: 10,
      is_active: true,
    });
    expect(text).not.toContain(service.account.authToken);
  });

  it('returns Plivo’s account from GET Account/{id}/', async () => {
    await service.book({ amount: 4.25, type: 'credit', referenceType: 'payment' });
    const { body } = await service.get(`${service.root}/`);
    expect(body).toMatchObject({ auth_id: service.account.authId, cash_credits: '4.25000' });
    expect(body).toMatchObject({ currency: 'USD', country: 'US' });
  });

  it('changes name and time zone, which must exist', async () => {
    const one = `${service.root}/`;
    const wrong = await service.post(one, { name: 'New', timezone: 'Mars/Olympus' });
    expect(wrong.status).toBe(400);
    expect(wrong.body.details.timezone).toContain('IANA');
    expect((await service.post(one, { timezone: 'Asia/Kolkata' })).status).toBe(202);
    const { body } = await service.get(one);
    expect(body).toMatchObject({ timezone: 'Asia/Kolkata' });
    expect(body.name).not.toBe('New');
    const staff = `/accounts/${service.account.authId}`;
    expect((await service.admin('PATCH', staff, { timezone: 'Nowhere' })).status).toBe(400);
  });
});

describe('sub-accounts (dialect §3.10)', () => {
  it('creates working credentials and tokens; lists, gets, updates and deletes', async () => {
    const url = `/api/v1/accounts/${service.account.authId}/sub-accounts`;
    const made = await service.post(`${url}/`, { name: 'Team', email: 't@example.test' });
    expect(made.status).toBe(201);
    const { auth_id: authId, auth_token: authToken } = made.body.auth_credentials;
    expect(authId).toMatch(/^SA_/);
    const own = await service.get(`/api/v1/Account/${authId}/balance/USD`, {
      as: { authId, authToken },
    });
    expect(own.status).toBe(200);
    const bearer = await service.get(`/api/v1/Account/${authId}/balance/USD`, {
      as: null,
      headers: { authorization: `Bearer ${made.body.tokens.access_token}` },
    });
    expect(bearer.status).toBe(200);
    expect((await service.get(url)).body).toMatchObject({ total: 1, page: 1, size: 20 });
    const changed = await service.send('PUT', `${url}/${authId}`, { body: { enabled: false } });
    expect(changed.body).toMatchObject({ name: 'Team', enabled: false });
    const refused = await service.get(`/api/v1/Account/${authId}/balance/USD`, {
      as: { authId, authToken },
    });
    expect(refused.status).toBe(403);
    expect((await service.send('DELETE', `${url}/${authId}`)).status).toBe(200);
    expect((await service.get(`${url}/${authId}`)).status).toBe(404);
  });

  it('creates a sub-account only together with its access token', async () => {
    const url = `/api/v1/accounts/${service.account.authId}/sub-accounts/`;
    const { accounts } = service.store;
    const unavailable = new Error('the store is unavailable');
    const writes = vi.spyOn(accounts, 'addAccessToken').mockRejectedValue(unavailable);
    const made = await service.post(url, { name: 'Team' });
    writes.mockRestore();
    expect(made.status).toBe(201);
    const { auth_id: authId } = made.body.auth_credentials;
    const bearer = await service.get(`/api/v1/Account/${authId}/balance/USD`, {
      as: null,
      headers: { authorization: `Bearer ${made.body.tokens.access_token}` },
    });
    expect(bearer.status).toBe(200);
  });

  it('Plivo’s form: creates, gets, updates and deletes', async () => {
    const url = `${service.root}/Subaccount/`;
    const made = await service.post(url, { name: 'Team', enabled: 'true' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ message: 'created', auth_token: expect.any(String) });
    const one = `${url}${made.body.auth_id}/`;
    expect((await service.get(one)).body).toMatchObject({ name: 'Team', auth_token: '' });
    expect((await service.post(one, { name: 'Renamed' })).status).toBe(202);
    expect((await service.get(url)).body.objects[0].name).toBe('Renamed');
    expect((await service.send('DELETE', one)).status).toBe(204);
  });

  it('refuses sub-accounts of a sub-account with 403', async () => {
    const sub = await service.addSubAccount();
    const url = `/api/v1/accounts/${sub.authId}/sub-accounts/`;
    expect((await service.post(url, { name: 'x' }, { as: sub })).status).toBe(403);
  });
});
