/** Dialect §3.10: permissions and request rate of sub-accounts, and object references in operator requests. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { type Credentials, type Service, startService } from './service.ts';

let service: Service;
let subs: string;
beforeAll(async () => {
  service = await startService({ settings: { requestsPerSecond: 50 } });
  subs = `/api/v1/accounts/${service.account.authId}/sub-accounts/`;
});
afterAll(() => service.stop());

async function createSub(body: object): Promise<Credentials> {
  const reply = await service.post(subs, { name: 'Sub', ...body });
  expect(reply.status, reply.text).toBe(201);
  const { auth_id: authId, auth_token: authToken } = reply.body.auth_credentials;
  await service.clock.advance(1000);
  return { authId, authToken };
}

describe('permissions of a sub-account', () => {
  it('are stored, returned and enforced; absent ones are granted', async () => {
    const sub = await createSub({ permissions: { calls: false, cdr: false } });
    const root = `/api/v1/Account/${sub.authId}`;
    const shown = (await service.get(`${subs}${sub.authId}`)).body;
    expect(shown.permissions).toMatchObject({ calls: false, cdr: false, endpoints: true });
    const call = { from: '14155550100', to: '14155550101', answer_url: 'https://a.example' };
    const refused = await service.post(`${root}/Call/`, call, { as: sub });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('permission calls');
    expect(service.control.requested).toEqual([]);
    expect((await service.get(`${root}/cdr`, { as: sub })).status).toBe(403);
    expect((await service.get(`${root}/Endpoint/`, { as: sub })).status).toBe(200);
    expect((await service.get(`${root}/balance/USD`, { as: sub })).status).toBe(200);
    await service.send('PUT', `${subs}${sub.authId}`, { body: { permissions: {} } });
    expect((await service.post(`${root}/Call/`, call, { as: sub })).status).toBe(200);
    expect((await service.get(`${root}/cdr`, { as: sub })).status).toBe(200);
  });

  it('include campaigns', async () => {
    const sub = await createSub({ permissions: { campaigns: false } });
    for (const path of ['campaigns', 'campaign/agents']) {
      const reply = await service.get(`/api/v1/account/${sub.authId}/${path}`, { as: sub });
      expect(reply.status).toBe(403);
      expect(reply.text).toContain('permission campaigns');
    }
  });

  it('treat finished calls as records on every route', async () => {
    const sub = await createSub({ permissions: { cdr: false } });
    const root = `/api/v1/Account/${sub.authId}/Call/`;
    expect((await service.get(root, { as: sub })).status).toBe(403);
    expect((await service.get(`${root}?status=live`, { as: sub })).status).toBe(200);
  });

  it('refuse wrong shapes with 400 and the correct form, in both forms of the API', async () => {
    const plivo = `${service.root}/Subaccount/`;
    for (const permissions of [[], 'all', 7, { calls: 'perhaps' }, { fly: true }]) {
      for (const url of [subs, plivo]) {
        const reply = await service.post(url, { name: 'Wrong', permissions });
        expect(reply.status, JSON.stringify(permissions)).toBe(400);
        expect(reply.text).toContain('permissions');
      }
    }
    const unknown = await service.post(subs, { name: 'Wrong', permissions: { fly: true } });
    expect(unknown.text).toContain('one of calls, cdr');
  });
});

describe('rate_limit of a sub-account', () => {
  it('applies separately: beyond it 429 with Retry-After, while the parent is served', async () => {
    const sub = await createSub({ rate_limit: 2 });
    const url = `/api/v1/Account/${sub.authId}/Endpoint/`;
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await service.get(url, { as: sub })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await service.get(`${service.root}/Endpoint/`)).status).toBe(200);
    await service.clock.advance(500);
    expect((await service.get(url, { as: sub })).status).toBe(200);
    const widened = await service.send('PUT', `${subs}${sub.authId}`, {
      body: { rate_limit: null },
    });
    expect(widened.body.rate_limit).toBe(50);
    expect((await service.get(url, { as: sub })).status).toBe(200);
  });

  it.each([0, -1, 1.5, 'fast', {}])('refuses %j with 400', async (rateLimit) => {
    await service.clock.advance(1000);
    const reply = await service.post(subs, { name: 'Wrong', rate_limit: rateLimit });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('rate_limit');
  });
});

describe("the operator's bodies", () => {
  it('must name existing objects of the same account', async () => {
    await service.clock.advance(1000);
    const { authId } = service.account;
    const theirs = await service.addAccount({ name: 'Theirs' });
    const sub = await service.addSubAccount();
    const create = { app_name: 'x', answer_url: 'https://a.example' };
    const root = `/api/v1/Account/${theirs.authId}/Application/`;
    const appId = Number((await service.post(root, create, { as: theirs })).body.app_id);
    const own = Number((await service.post(`${service.root}/Application/`, create)).body.app_id);
    const number = { e164: '14155559999', country: 'US', currency: 'USD' };
    const rate = { direction: 'outbound', per_minute: 1, currency: 'USD' };
    for (const [path, body, field] of [
      [`/accounts/${authId}`, { default_endpoint_app: appId }, 'default_endpoint_app'],
      [`/accounts/${authId}`, { default_endpoint_app: 999_999 }, 'default_endpoint_app'],
      ['/accounts', { name: 'New', default_endpoint_app: appId }, 'default_endpoint_app'],
      [`/accounts/${authId}`, { partner_auth_id: theirs.authId }, 'partner_auth_id'],
      [`/accounts/${authId}`, { partner_auth_id: authId }, 'partner_auth_id'],
      ['/accounts', { name: 'New', partner_auth_id: theirs.authId }, 'partner_auth_id'],
      [`/accounts/${sub.authId}`, { credit_limit: 5 }, 'credit_limit'],
      [`/accounts/${authId}`, { nam: 'typo' }, 'nam'],
      ['/numbers', { ...number, account_id: sub.authId }, 'account_id'],
      ['/numbers', { ...number, account_id: 'MA_XXXXXXXXXXXXXXXXX' }, 'account_id'],
      ['/numbers', { ...number, carrier: 'nobody' }, 'carrier'],
      ['/rates', { ...rate, account_id: sub.authId }, 'account_id'],
      ['/rates', { ...rate, perminute: 2 }, 'perminute'],
      [
        '/carriers',
        { name: 'c', host: 'c.test', auth: { username: 'a', password: 'b', realm: 'x' } },
        'auth.realm',
      ],
      ['/drain', { now: true }, 'now'],
    ] as const) {
      const method = /^\/accounts\/./.test(path) ? 'PATCH' : 'POST';
      const reply = await service.admin(method, path, body);
      expect(reply.status, `${path} ${reply.text}`).toBe(400);
      expect(reply.body.error.details, path).toHaveProperty([field]);
    }
    for (const path of ['balances', 'credit', 'caller-ids']) {
      const bodies = { currency: 'EUR', amount: 1, description: 'x', number: '14155550100' };
      const { currency, amount, description, number: callerId } = bodies;
      const body =
        path === 'balances'
          ? { currency }
          : path === 'credit'
            ? { currency, amount, description }
            : { number: callerId };
      const reply = await service.admin('POST', `/accounts/${sub.authId}/${path}`, body);
      expect(reply.status, path).toBe(409);
    }
    expect(await service.accounts.get(asAccountId(authId))).toMatchObject({
      defaultEndpointApp: undefined,
      partnerAuthId: undefined,
    });
    const right = await service.admin('PATCH', `/accounts/${authId}`, {
      default_endpoint_app: own,
    });
    expect(right.body.default_endpoint_app).toBe(own);
  });

  it('delete a default application together with the default, or not at all', async () => {
    const { authId } = service.account;
    const app = (await service.accounts.get(asAccountId(authId)))?.defaultEndpointApp;
    const url = `${service.root}/Application/${app}/`;
    expect((await service.send('DELETE', url)).status).toBe(409);
    expect((await service.send('DELETE', url, { body: { cascade: true } })).status).toBe(204);
    expect((await service.accounts.get(asAccountId(authId)))?.defaultEndpointApp).toBeUndefined();
  });

  it('keep a partner status while the partner has customers', async () => {
    const partner = await service.addAccount({ name: 'Partner', isPartner: true });
    const { authId } = service.account;
    const customer = { partner_auth_id: partner.authId };
    expect((await service.admin('PATCH', `/accounts/${authId}`, customer)).status).toBe(200);
    const demote = { is_partner: false };
    expect((await service.admin('PATCH', `/accounts/${partner.authId}`, demote)).status).toBe(409);
    await service.admin('PATCH', `/accounts/${authId}`, { partner_auth_id: null });
    expect((await service.admin('PATCH', `/accounts/${partner.authId}`, demote)).status).toBe(200);
  });
});
