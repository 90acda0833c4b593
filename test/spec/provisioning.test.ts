/** Spec: numbers, origination URIs and trunks; dialect §3.8 and §3.9; Errors: Number attach. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asAppId } from '../../src/base/ids.ts';
import { type Service, startService } from './service.ts';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

const NUMBER = '+14155550123';
const PATH = '%2B14155550123';

const stock = (over: object = {}) =>
  service.admin('POST', '/numbers', {
    e164: NUMBER,
    country: 'US',
    currency: 'USD',
    setup_fee: 1,
    monthly_fee: 2.5,
    ...over,
  });
const own = () => stock({ account_id: service.account.authId });
const application = async () =>
  Number(
    (
      await service.post(`${service.root}/Application/`, {
        app_name: 'demo',
        answer_url: 'https://a.example/answer',
      })
    ).body.app_id,
  );
const originationUri = async (over: object = {}) =>
  service.post(`${service.root}/origination-uris`, {
    name: 'pbx',
    sip_uri: 'sip:in@pbx.example:5070',
    priority: 1,
    ...over,
  });
const trunk = (over: object = {}) =>
  service.post(`${service.root}/trunks`, { name: 'in-1', trunk_direction: 'inbound', ...over });

describe('a Boolean field with null', () => {
  it('is refused; null is not false', async () => {
    const { trunk_id: id } = (await trunk({ secure: true })).body;
    const url = `${service.root}/trunks/${id}`;
    const reply = await service.send('PUT', url, { body: { secure: null } });
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body.details).toEqual({ secure: 'must be a boolean' });
    expect((await service.get(url)).body.secure).toBe(true);
    const sub = await service.addSubAccount();
    const subs = `/api/v1/accounts/${service.account.authId}/sub-accounts`;
    const body = { permissions: { calls: null } };
    expect((await service.send('PUT', `${subs}/${sub.authId}`, { body })).status).toBe(400);
  });
});

describe('POST numbers/{e164}/application', () => {
  it('attaches a number to an application: 204 with no body; + is written as %2B', async () => {
    await own();
    const appId = await application();
    const reply = await service.post(`${service.root}/numbers/${PATH}/application`, {
      application_id: appId,
    });
    expect([reply.status, reply.text]).toEqual([204, '']);
    const { body } = await service.get(`${service.root}/numbers/${PATH}`);
    expect(body).toMatchObject({ e164: NUMBER, application_id: appId, status: 'active' });
  });

  it('answers the path /Number/ with a bare 401, for any credentials', async () => {
    await own();
    const reply = await service.post(`${service.root}/Number/${PATH}/application`, {});
    expect([reply.status, reply.text]).toEqual([401, '']);
  });

  it('an update in the Plivo form with an unknown application changes nothing', async () => {
    await own();
    const sub = await service.addSubAccount();
    const reply = await service.post(`/v1/Account/${service.account.authId}/Number/${PATH}/`, {
      subaccount: sub.authId,
      alias: 'Sales',
      app_id: 999,
    });
    expect(reply.status).toBe(400);
    const { body } = await service.get(`/v1/Account/${service.account.authId}/Number/${PATH}/`);
    expect(body).toMatchObject({ sub_account: null, alias: null });
  });

  it('returns 404 for a number and 400 for an application of another account', async () => {
    await own();
    const other = await service.addAccount({ name: 'Bob' });
    const foreign = await service.post(
      `/api/v1/Account/${other.authId}/numbers/${PATH}/application`,
      { application_id: 1 },
      { as: other },
    );
    expect(foreign.status).toBe(404);
    const unknown = await service.post(`${service.root}/numbers/${PATH}/application`, {
      application_id: 999,
    });
    expect(unknown.status).toBe(400);
    expect(unknown.body.details).toHaveProperty('application_id');
  });

  it('DELETE detaches: 204', async () => {
    await own();
    await service.post(`${service.root}/numbers/${PATH}/application`, {
      application_id: await application(),
    });
    const gone = await service.send('DELETE', `${service.root}/numbers/${PATH}/application`);
    expect(gone.status).toBe(204);
    expect((await service.get(`${service.root}/numbers/${PATH}`)).body.application_id).toBeNull();
  });
});

describe('POST numbers/{e164}/assign', () => {
  it('assigns a number to a trunk: 204 with no body, and detaches its application', async () => {
    await own();
    const { body: made } = await trunk();
    await service.post(`${service.root}/numbers/${PATH}/application`, {
      application_id: await application(),
    });
    const reply = await service.post(`${service.root}/numbers/${PATH}/assign`, {
      trunk_group_id: made.trunk_id,
    });
    expect([reply.status, reply.text]).toEqual([204, '']);
    const { body } = await service.get(`${service.root}/numbers/${PATH}`);
    expect(body).toMatchObject({ trunk_group_id: made.trunk_id, application_id: null });
  });

  it('returns 400 for a trunk of another account', async () => {
    await own();
    const reply = await service.post(`${service.root}/numbers/${PATH}/assign`, {
      trunk_group_id: 'nope',
    });
    expect(reply.status).toBe(400);
    expect(reply.body.details).toHaveProperty('trunk_group_id');
  });
});

describe('numbers: inventory, purchase, release (dialect §3.8)', () => {
  it('returns 402 for insufficient balance, 201 when it covers setup fee and rent', async () => {
    await stock();
    const buy = () =>
      service.post(`${service.root}/numbers/purchase-from-inventory`, { e164: NUMBER });
    await service.book({ amount: 3, type: 'credit', referenceType: 'payment' });
    expect((await buy()).status).toBe(402);
    await service.book({ amount: 1, type: 'credit', referenceType: 'payment' });
    const bought = await buy();
    expect(bought.status).toBe(201);
    expect(bought.body).toMatchObject({ e164: NUMBER, account_id: service.account.authId });
    const { body } = await service.get(`${service.root}/transactions?type=debit`);
    expect(
      body.transactions.map((entry: Record<string, unknown>) => [
        entry['type'],
        entry['reference_type'],
        entry['amount'],
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['debit', 'did_rental', 1],
        ['did_rental', 'did_rental', 2.5],
      ]),
    );
    expect((await service.get(`${service.root}/balance/USD`)).body.available_balance).toBe(0.5);
    expect((await buy()).status).toBe(409);
  });

  it('charges nothing for a number whose application is deleted during the purchase', async () => {
    await stock();
    await service.book({ amount: 10, type: 'credit', referenceType: 'payment' });
    const appId = await application();
    const { applications, numbers } = service.provisioning;
    const remove = () => applications.remove(service.account.authId, asAppId(appId));
    const { purchase } = numbers;
    vi.spyOn(numbers, 'purchase').mockImplementation(async (...given) => {
      await remove();
      return purchase.apply(numbers, given);
    });
    const url = `/v1/Account/${service.account.authId}/PhoneNumber/${PATH}/`;
    const refused = await service.post(url, { app_id: appId });
    vi.restoreAllMocks();
    expect([refused.status, Object.keys(refused.body.details ?? {})]).toEqual([400, ['app_id']]);
    expect((await service.get(`${service.root}/balance/USD`)).body.balance).toBe(10);
    expect((await service.post(url, {})).status).toBe(201);
  });

  it('lists available numbers in the inventory and owned numbers in the account', async () => {
    await stock();
    await stock({ e164: '+442071838750', country: 'GB' });
    const free = await service.get(`${service.root}/inventory/numbers?country=gb`);
    expect(free.body).toMatchObject({ page: 1, per_page: 25, total: 1 });
    expect(free.body.items[0].e164).toBe('+442071838750');
    expect((await service.get(`${service.root}/numbers`)).body.total).toBe(0);
  });

  it('DELETE releases a number, which can be bought again', async () => {
    await own();
    const gone = await service.send('DELETE', `${service.root}/numbers/${PATH}`);
    expect(gone.status).toBe(200);
    expect(gone.body).toMatchObject({ status: 'released', release_fee: 0 });
    expect((await service.get(`${service.root}/numbers/${PATH}`)).status).toBe(404);
    expect((await service.get(`${service.root}/inventory/numbers`)).body.total).toBe(1);
  });

  it('keeps a released number without calls during its cooldown, and can undo the release', async () => {
    await service.stop();
    service = await startService({ releaseCooldownMs: 86_400_000 });
    await own();
    const gone = await service.send('DELETE', `${service.root}/numbers/${PATH}`);
    expect(gone.body).toMatchObject({
      status: 'pending_release',
      cancel_url: `/api/v1/account/${service.account.authId}/numbers/${PATH}/cancel-release`,
      cooldown_ends_at: new Date(service.clock.wallMs() + 86_400_000)
        .toISOString()
        .replace('Z', '000Z'),
    });
    expect((await service.get(`${service.root}/numbers/${PATH}`)).body).toMatchObject({
      status: 'pending_release',
      voice_enabled: false,
    });
    expect((await service.get(`${service.root}/inventory/numbers`)).body.total).toBe(0);
    const retained = await service.post(gone.body.cancel_url, {});
    expect(retained.status).toBe(200);
    expect(retained.body).toMatchObject({ status: 'active', cooldown_ends_at: null });
    const again = await service.post(`${service.root}/numbers/${PATH}/cancel-release`, {});
    expect(again.status).toBe(409);
  });

  it("returns 404 for cancel-release of another account's number", async () => {
    await stock();
    const url = `/api/v1/account/${service.account.authId}/numbers/${PATH}/cancel-release`;
    expect((await service.post(url, {})).status).toBe(404);
  });

  it('assigns a number to a sub-account and back', async () => {
    await own();
    const sub = await service.addSubAccount();
    const url = `/api/v1/account/${service.account.authId}/numbers/${PATH}`;
    const given = await service.post(`${url}/assign-subaccount`, { sub_account_id: sub.authId });
    expect(given.status).toBe(204);
    const shown = await service.get(`${service.root}/numbers/${PATH}`);
    expect(shown.body.sub_account_id).toBe(sub.authId);
    expect((await service.get(`${url}/health`)).body).toMatchObject({ healthy: false });
  });
});

describe('POST origination-uris', () => {
  it('returns the ID that trunks name as primary_uri_uuid', async () => {
    const { status, body } = await originationUri();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'pbx',
      sip_uri: 'sip:in@pbx.example:5070',
      uri: 'sip:in@pbx.example:5070',
      priority: 1,
    });
    const made = await trunk({ primary_uri_uuid: body.id });
    expect(made.body.primary_uri_uuid).toBe(body.id);
  });

  it.each(['http://pbx.example', 'sip:', 'sip:a b@host', 'pbx.example:5060'])(
    'returns 400 for %s',
    async (uri) => {
      const { status, body } = await originationUri({ sip_uri: uri });
      expect(status).toBe(400);
      expect(body.details).toHaveProperty('sip_uri');
    },
  );

  it('derives the transport from the URI, default udp', async () => {
    expect((await originationUri({ transport: 'tls' })).body.transport).toBe('udp');
    const tls = await originationUri({ sip_uri: 'sip:in@pbx.example;transport=tls' });
    expect(tls.body.transport).toBe('tls');
  });

  it('lists (also below trunks), gets, updates, deletes; 409 while a trunk uses it', async () => {
    const { body: made } = await originationUri();
    const url = `${service.root}/origination-uris`;
    for (const list of [url, `${service.root}/trunks/origination-uris`]) {
      expect((await service.get(list)).body.meta).toEqual({ limit: 20, offset: 0, total: 1 });
    }
    const changed = await service.send('PUT', `${url}/${made.id}`, { body: { priority: 9 } });
    expect(changed.body).toMatchObject({ priority: 9, name: 'pbx' });
    const { body: user } = await trunk({ primary_uri_uuid: made.id });
    expect((await service.send('DELETE', `${url}/${made.id}`)).status).toBe(409);
    await service.send('DELETE', `${service.root}/trunks/${user.trunk_id}`);
    expect((await service.send('DELETE', `${url}/${made.id}`)).status).toBe(204);
    expect((await service.get(`${url}/${made.id}`)).status).toBe(404);
  });
});

describe('POST and PUT trunks', () => {
  it('creates with the fields of the spec', async () => {
    const { body: uri } = await originationUri();
    const { status, body } = await trunk({
      trunk_status: 'enabled',
      transport: 'tls',
      secure: true,
      primary_uri_uuid: uri.id,
      concurrent_calls_limit: 10,
      cps_limit: 2,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      account_id: service.account.authId,
      name: 'in-1',
      trunk_direction: 'inbound',
      trunk_status: 'enabled',
      transport: 'tls',
      secure: true,
      concurrent_calls_limit: 10,
      cps_limit: 2,
      trunk_domain: `${body.trunk_id.slice(0, 8)}.registrar.test`,
    });
  });

  it('PUT updates only the named fields: transport and secure are independent', async () => {
    const { body: made } = await trunk({ transport: 'tls', secure: true });
    const url = `${service.root}/trunks/${made.trunk_id}`;
    const { status, body } = await service.send('PUT', url, { body: { secure: 'false' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ secure: false, transport: 'tls', name: 'in-1' });
  });

  it('null removes a part from a trunk', async () => {
    const { body: uri } = await originationUri();
    const { body: made } = await trunk({ primary_uri_uuid: uri.id });
    const url = `${service.root}/trunks/${made.trunk_id}`;
    const { body } = await service.send('PUT', url, { body: { primary_uri_uuid: null } });
    expect(body.primary_uri_uuid).toBeNull();
  });

  it.each([
    [{ name: undefined }, 'name'],
    [{ transport: 'quic' }, 'transport'],
    [{ trunk_direction: 'sideways' }, 'trunk_direction'],
    [{ cps_limit: 0 }, 'cps_limit'],
    [{ primary_uri_uuid: 'nope' }, 'primary_uri_uuid'],
    [{ credential_uuid: 'nope' }, 'credential_uuid'],
  ])('returns 400 and names the wrong field: %j', async (over, field) => {
    const { status, body } = await trunk(over);
    expect(status).toBe(400);
    expect(Object.keys(body.details)).toEqual([field]);
  });

  it('returns 409 on deleting a trunk with assigned numbers', async () => {
    await own();
    const { body: made } = await trunk();
    await service.post(`${service.root}/numbers/${PATH}/assign`, { trunk_group_id: made.trunk_id });
    const url = `${service.root}/trunks/${made.trunk_id}`;
    expect((await service.send('DELETE', url)).status).toBe(409);
  });

  it('accepts an http or https webhook_url; null removes it', async () => {
    const { body } = await trunk({ webhook_url: 'https://a.example/t', webhook_method: 'GET' });
    expect(body).toMatchObject({ webhook_url: 'https://a.example/t', webhook_method: 'GET' });
    const url = `${service.root}/trunks/${body.trunk_id}`;
    const wrong = await service.send('PUT', url, { body: { webhook_url: 'ftp://a.example' } });
    expect([wrong.status, Object.keys(wrong.body.details)]).toEqual([400, ['webhook_url']]);
    const gone = await service.send('PUT', url, { body: { webhook_url: null } });
    expect(gone.body).toMatchObject({ webhook_url: null, webhook_method: 'GET' });
  });

  it('refuses sub-accounts with 403', async () => {
    const sub = await service.addSubAccount();
    const reply = await service.get(`/api/v1/Account/${sub.authId}/trunks`, { as: sub });
    expect(reply.status).toBe(403);
  });
});

describe('trunk credentials and IP ACLs (dialect §3.9)', () => {
  it('never returns a credential’s password', async () => {
    const url = `${service.root}/credentials`;
    const { status, body } = await service.post(url, { username: 'pbx', password: 'longenough' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ username: 'pbx', password: '<redacted>' });
    expect((await service.get(url)).text).not.toContain('longenough');
    const changed = await service.send('PUT', `${url}/${body.id}`, { body: { enabled: false } });
    expect(changed.body.enabled).toBe(false);
    expect((await service.send('DELETE', `${url}/${body.id}`)).status).toBe(204);
  });

  it('accepts only addresses and ranges in an IP ACL', async () => {
    const url = `${service.root}/ip-acl`;
    for (const address of ['192.0.2.0/24', '192.0.2.7', '2001:db8::/32']) {
      expect((await service.post(url, { ip_address: address })).status, address).toBe(201);
    }
    for (const address of ['192.0.2.0/33', '192.0.2', 'host.example', '']) {
      const { status, body } = await service.post(url, { ip_address: address });
      expect([status, Object.keys(body.details)], address).toEqual([400, ['ip_address']]);
    }
  });
});
