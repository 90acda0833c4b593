/** The operator's API and the health routes. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { asAccountId } from '../../../src/base/ids.ts';
import { aLiveCall } from '../../spec/fake-control.ts';
import { type Service, startService } from '../../spec/service.ts';
import { aCdr } from '../store/records.ts';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => {
  vi.restoreAllMocks();
  return service.stop();
});

describe('/admin/v1', () => {
  it("accepts only the operator's token", async () => {
    const url = '/admin/v1/accounts';
    expect((await service.get(url)).status).toBe(401);
    expect((await service.get(url, { as: null })).status).toBe(401);
    const wrong = { as: null, headers: { authorization: 'Bearer wrong' } };
    expect((await service.get(url, wrong)).body).toEqual({
      error: { code: 401, message: 'Invalid token' },
    });
    expect((await service.admin('GET', '/accounts')).status).toBe(200);
  });

  it('masks the password of a stored URL and keeps the password when the masked URL is sent back', async () => {
    const { authId } = service.account;
    const path = `/accounts/${authId}`;
    const url = 'https://bob:s3cret@a.example/low?token=s3cret';
    const shown = 'https://***@a.example/low?token=***';
    const patch = (low_balance_url: string) => service.admin('PATCH', path, { low_balance_url });
    expect((await patch(url)).body.low_balance_url).toBe(shown);
    expect((await service.admin('GET', path)).text).not.toContain('s3cret');
    expect((await patch(shown)).status).toBe(200);
    expect((await service.store.accounts.get(asAccountId(authId)))?.lowBalanceUrl).toBe(url);
    expect((await patch('https://***@b.example/low')).status).toBe(400);
  });

  it('creates an account whose token works immediately, with its credit terms', async () => {
    const made = await service.admin('POST', '/accounts', {
      name: 'Grace',
      currency: 'EUR',
      concurrent_calls_limit: 50,
      cps_limit: 7,
      credit_limit: 25.5,
      credit_limit_type: 'hard',
      is_postpaid: true,
      low_balance_threshold: 5,
      barred_prefixes: ['1900'],
      daily_spend_limit: 100,
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'Grace',
      currency: 'EUR',
      concurrent_calls_limit: 50,
      cps_limit: 7,
      barred_prefixes: ['1900'],
      daily_spend_limit: 100,
      balances: [{ currency: 'EUR', credit_limit: 25.5, is_postpaid: true }],
    });
    const as = { authId: made.body.auth_id, authToken: made.body.auth_token };
    const balance = await service.get(`/api/v1/Account/${as.authId}/balance/EUR`, { as });
    expect(balance.body).toMatchObject({ credit_limit: 25.5, low_balance_threshold: 5 });
    const shown = await service.admin('GET', `/accounts/${as.authId}`);
    expect(shown.text).not.toContain(as.authToken);
  });

  it('stores an account and its credit terms together', async () => {
    const { ledger } = service.store;
    vi.spyOn(ledger, 'patchBalance').mockRejectedValue(new ServiceError('STORE_FULL', 'full'));
    const made = await service.admin('POST', '/accounts', { name: 'Grace', credit_limit: 2 });
    expect(made).toMatchObject({ status: 201, body: { balances: [{ credit_limit: 2 }] } });
    const path = `/accounts/${made.body.auth_id}`;
    const patched = await service.admin('PATCH', path, { name: 'Hopper', credit_limit: 3 });
    expect(patched).toMatchObject({ status: 200, body: { name: 'Hopper' } });
    expect(patched.body.balances).toMatchObject([{ credit_limit: 3 }]);
  });

  it('changes no low-balance threshold if the addresses cannot be stored', async () => {
    const path = `/api/v1/Account/${service.account.authId}/low-balance-alert`;
    vi.spyOn(service.accounts, 'patch').mockRejectedValue(new ServiceError('STORE_FULL', 'full'));
    const body = { thresholds: { USD: 7 }, emails: ['ops@example.test'] };
    expect((await service.post(path, body)).status).toBe(507);
    const { thresholds } = (await service.get(path)).body;
    expect(thresholds.USD).not.toBe(7);
  });

  it('returns the account of a finished call without a list of the accounts', async () => {
    const { authId } = service.account;
    const cdr = aCdr({ accountId: asAccountId(authId) });
    await service.store.calls.settle({ cdr, entries: [], notification: undefined });
    const { body } = await service.admin('GET', `/calls/${cdr.callUuid}/account`);
    expect(body).toEqual({ account_id: authId });
    const unknown = '/calls/6f1e1c52-0d0f-4f39-9d3c-0a7d8c0f1a2b/account';
    expect((await service.admin('GET', unknown)).status).toBe(404);
  });

  it('finds accounts by a part of the name or of the ID', async () => {
    await service.admin('POST', '/accounts', { name: 'Zebra 100%' });
    const found = async (search: string) => {
      const { body } = await service.admin('GET', `/accounts?search=${encodeURIComponent(search)}`);
      return [body.meta.total, body.accounts.map(({ name }: { name: string }) => name)];
    };
    expect(await found('zebra')).toEqual([1, ['Zebra 100%']]);
    expect(await found('0%')).toEqual([1, ['Zebra 100%']]);
    expect((await found(service.account.authId.toLowerCase()))[0]).toBe(1);
    expect(await found('nobody')).toEqual([0, []]);
    expect((await service.admin('GET', `/accounts?search=${'x'.repeat(101)}`)).status).toBe(400);
  });

  it('patches only the named fields; null clears', async () => {
    const url = `/accounts/${service.account.authId}`;
    await service.admin('PATCH', url, {
      daily_spend_limit: 10,
      low_balance_url: 'https://a.example/low',
      credit_limit: 3,
    });
    const { body } = await service.admin('PATCH', url, {
      daily_spend_limit: null,
      low_balance_url: null,
    });
    expect(body).toMatchObject({ daily_spend_limit: null, low_balance_url: null, name: 'Ada' });
    expect(body.balances[0].credit_limit).toBe(3);
    expect((await service.admin('PATCH', '/accounts/MA_NOBODY', { name: 'x' })).status).toBe(404);
  });

  it('returns 400 with details in the operator’s error shape', async () => {
    const { status, body } = await service.admin('POST', '/accounts', { cps_limit: -1 });
    expect(status).toBe(400);
    expect(body.error.code).toBe(400);
    expect(Object.keys(body.error.details).sort()).toEqual(['cps_limit', 'name']);
  });

  it('credits and debits exact amounts, and books a repeated key once', async () => {
    const url = `/accounts/${service.account.authId}/credit`;
    const credit = { amount: 10.000001, currency: 'usd', description: 'Payment', key: 'k-1' };
    const first = await service.admin('POST', url, credit);
    expect(first.status).toBe(201);
    expect(first.body.transaction).toMatchObject({ type: 'credit', amount: 10.000001 });
    const again = await service.admin('POST', url, credit);
    expect(again.body.transaction.id).toBe(first.body.transaction.id);
    expect(again.body.balance.balance).toBe(10.000001);
    const debit = await service.admin('POST', url, {
      amount: -4,
      currency: 'USD',
      description: 'Refund taken back',
      reference_type: 'refund',
    });
    expect(debit.body.transaction).toMatchObject({ type: 'debit', reference_type: 'refund' });
    expect(debit.body.balance.balance).toBe(6.000001);
    const zero = await service.admin('POST', url, { ...credit, amount: 0, key: 'k-2' });
    expect(zero.status).toBe(400);
    const unknown = await service.admin('POST', url, { ...credit, currency: 'XXX', key: 'k-3' });
    expect(unknown.status).toBe(404);
  });

  it('refuses a reused key with another body with 409 and books nothing', async () => {
    const url = `/accounts/${service.account.authId}/credit`;
    await service.admin('POST', `/accounts/${service.account.authId}/balances`, {
      currency: 'EUR',
    });
    const credit = { amount: 5, currency: 'USD', description: 'Payment', key: 'k-1' };
    expect((await service.admin('POST', url, credit)).status).toBe(201);
    for (const other of [
      { amount: 6 },
      { amount: -5 },
      { currency: 'EUR' },
      { description: 'Gift' },
      { reference_type: 'payment' },
      { promotional: true },
    ]) {
      const { status, body } = await service.admin('POST', url, { ...credit, ...other });
      expect([status, body.error.message], JSON.stringify(other)).toEqual([
        409,
        'key was used with another request',
      ]);
    }
    const same = await service.admin('POST', url, {
      ...credit,
      reference_type: 'manual_adjustment',
    });
    expect([same.status, same.body.balance.balance]).toEqual([201, 5]);
  });

  it('a dry run of an import reports a number that the file contains twice', async () => {
    const cells = { e164: '+14155550123', country: 'US', currency: 'USD' };
    const rows = [1, 2].map((line) => ({ line, cells }));
    const { body } = await service.admin('POST', '/import/numbers', { dry_run: true, rows });
    expect(body.rows[1]).toEqual({ line: 2, ok: false, result: 'the same number as line 1' });
  });

  it('shows promotional credit separately', async () => {
    const url = `/accounts/${service.account.authId}/credit`;
    const { body } = await service.admin('POST', url, {
      amount: 5,
      currency: 'USD',
      description: 'Welcome',
      promotional: true,
    });
    expect(body.balance).toMatchObject({ balance: 5, promotional_balance: 5 });
  });

  it('adds a second balance and returns 409 if it exists', async () => {
    const url = `/accounts/${service.account.authId}/balances`;
    expect((await service.admin('POST', url, { currency: 'eur' })).body.currency).toBe('EUR');
    expect((await service.admin('POST', url, { currency: 'EUR' })).status).toBe(409);
  });

  it.each([null, true, false])(
    'refuses %j as a number, which would become 0 or 1',
    async (value) => {
      const rate = { direction: 'outbound', prefix: '99', currency: 'EUR', per_minute: value };
      const refused = await service.admin('POST', '/rates', rate);
      expect([refused.status, refused.body.error.details]).toEqual([
        400,
        { per_minute: 'must be a number' },
      ]);
      const row = { line: 2, cells: { ...rate, per_minute: false } };
      const { body } = await service.admin('POST', '/import/rates', { rows: [row] });
      expect(body.rows[0]).toMatchObject({ ok: false, result: 'per_minute must be a number' });
      expect((await service.admin('GET', '/rates')).text).not.toContain('"99"');
    },
  );

  it('manages caller IDs, numbers, carriers and rates', async () => {
    const ids = `/accounts/${service.account.authId}/caller-ids`;
    expect((await service.admin('POST', ids, { number: '+14155550100' })).status).toBe(201);
    expect((await service.admin('GET', ids)).body.caller_ids).toEqual([{ number: '14155550100' }]);
    expect((await service.admin('DELETE', `${ids}/%2B14155550100`)).status).toBe(204);

    const number = { e164: '+14155550123', country: 'us', currency: 'usd' };
    expect((await service.admin('POST', '/numbers', number)).body.e164).toBe('+14155550123');
    expect((await service.admin('POST', '/numbers', number)).status).toBe(409);
    expect((await service.admin('GET', '/numbers?search=0123')).body.meta.total).toBe(1);
    expect((await service.admin('DELETE', '/numbers/%2B14155550123')).status).toBe(204);

    const carrier = {
      name: 'east',
      host: 'sip.example',
      auth: { username: 'u', password: 'hunter22', register: true },
      prefixes: ['1', ''],
    };
    const made = await service.admin('POST', '/carriers', carrier);
    expect(made.status).toBe(201);
    expect(made.body.auth).toEqual({ username: 'u', password: '<redacted>', register: true });
    expect((await service.admin('POST', '/carriers', carrier)).status).toBe(409);
    const off = await service.admin('PATCH', '/carriers/east', { enabled: false, auth: null });
    expect(off.body).toMatchObject({ enabled: false, host: 'sip.example' });
    expect(off.body).not.toHaveProperty('auth');
    expect((await service.admin('GET', '/carriers/east')).body.host).toBe('sip.example');
    expect((await service.admin('DELETE', '/carriers/east')).status).toBe(204);
    expect((await service.admin('GET', '/carriers/east')).status).toBe(404);
    const { name, ...unnamed } = carrier;
    const named = await service.admin('POST', `/carriers/${name}`, unnamed);
    expect([named.status, named.body.name]).toEqual([201, 'east']);

    const rate = { direction: 'outbound', prefix: '1', per_minute: 0.0065, currency: 'USD' };
    expect((await service.admin('POST', '/rates', rate)).body.pulse_seconds).toBe(60);
    await service.admin('POST', '/rates', { ...rate, per_minute: 0.007 });
    const { body } = await service.admin('GET', '/rates');
    expect(body.rates).toEqual([
      { ...rate, per_minute: 0.007, pulse_seconds: 60, account_id: null },
    ]);
  });

  it('keeps a change of a policy that another request makes at the same time', async () => {
    await service.admin('POST', '/carriers', { name: 'north', host: 'north.example' });
    const office = { name: 'office', trunk_direction: 'inbound' };
    const trunk = await service.post(`${service.root}/trunks`, office);
    const trunkUrl = `/accounts/${service.account.authId}/trunks/${trunk.body.trunk_id}`;
    const { carriers, trunks } = service.store;
    for (const [url, store] of [
      ['/carriers/north', carriers],
      [trunkUrl, trunks],
    ] as const) {
      await service.admin('PATCH', url, { identity: 'trusted', delayed_offer: true });
      const patch = store.patch as (...given: readonly unknown[]) => Promise<unknown>;
      vi.spyOn(store, 'patch').mockImplementationOnce((async (...given: readonly unknown[]) => {
        await service.admin('PATCH', url, { refer: true, identity: null });
        return patch(...given);
      }) as never);
      await service.admin('PATCH', url, { delayed_offer: false });
      const { body } = await service.admin('GET', url);
      expect(body).toMatchObject({ refer: true, identity: null, delayed_offer: false });
    }
  });

  it('finds no number for a search without digits', async () => {
    const number = { e164: '+14155550125', country: 'US', currency: 'USD' };
    await service.admin('POST', '/numbers', number);
    const found = async (search: string) =>
      (await service.admin('GET', `/numbers?search=${search}`)).body.meta.total;
    expect(await found('abc')).toBe(0);
    expect(await found('')).toBe(1);
    expect(await found('%2B1%20(415)')).toBe(1);
    const inventory = await service.get(`${service.root}/inventory/numbers?search=abc`);
    expect(inventory.body.total).toBe(0);
    await service.admin('POST', '/do-not-call', { numbers: ['+14155550126'] });
    const listed = await service.admin('GET', '/do-not-call?search=abc');
    expect(listed.body.total).toBe(0);
  });

  it('removes a deleted carrier from its numbers', async () => {
    await service.admin('POST', '/carriers', { name: 'west', host: 'west.example' });
    const number = { e164: '+14155550124', country: 'US', currency: 'USD', carrier: 'west' };
    await service.admin('POST', '/numbers', number);
    const carrierOf = async () => (await service.store.numbers.get('14155550124'))?.carrier;
    expect(await carrierOf()).toBe('west');
    expect((await service.admin('DELETE', '/carriers/west')).status).toBe(204);
    expect(await carrierOf()).toBeUndefined();
    expect((await service.admin('GET', '/numbers?search=0124')).body.meta.total).toBe(1);
  });

  it('replaces the private networks of a trunk as a whole', async () => {
    const trunk = { name: 'office', trunk_direction: 'inbound' };
    const made = await service.post(`${service.root}/trunks`, trunk);
    const url = `/accounts/${service.account.authId}/trunks/${made.body.trunk_id}`;
    const set = (egress_allow: unknown, path = url) =>
      service.admin('PATCH', path, { egress_allow });
    const allowed = ['10.0.0.0/8', '192.168.1.7', 'fd00::1', 'pbx.office.example', '*.lan'];
    const reply = await set(allowed);
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { trunk_id: made.body.trunk_id, egress_allow: allowed },
    ]);
    expect((await set(['10.0.0.1'])).body.egress_allow).toEqual(['10.0.0.1']);
    for (const wrong of ['10.0.0.0/33', '10.0.0', '*', '*.', 'a b', '', 'http://10.0.0.1/']) {
      const { status, body } = await set([wrong]);
      expect([wrong, status]).toEqual([wrong, 400]);
      expect(body.error.details).toHaveProperty('egress_allow');
    }
    expect((await set('10.0.0.1')).status).toBe(400);
    const stored = await service.provisioning.trunks.get(
      service.account.authId,
      made.body.trunk_id,
    );
    expect(stored).toMatchObject({ value: { egressAllow: ['10.0.0.1'] } });
    const other = await service.addAccount({ name: 'Other' });
    const foreign = `/accounts/${other.authId}/trunks/${made.body.trunk_id}`;
    expect((await set([], foreign)).status).toBe(404);
    expect((await set([])).body.egress_allow).toEqual([]);
  });

  it('refuses an invalid source address of a carrier with 400', async () => {
    const carrier = {
      name: 'east',
      host: 'sip.example',
      source_addresses: ['192.0.2.0/24', '192.0.2'],
    };
    const { status, body } = await service.admin('POST', '/carriers', carrier);
    expect(status).toBe(400);
    expect(body.error.details.source_addresses).toContain('192.0.2,');
  });

  it('lists live calls of all accounts', async () => {
    service.control.calls = [aLiveCall()];
    const { body } = await service.admin('GET', '/calls');
    expect(body).toMatchObject({ count: 1, calls: [{ account_id: aLiveCall().accountId }] });
    expect((await service.admin('GET', '/calls/nope')).status).toBe(404);
    expect((await service.admin('DELETE', '/calls/nope')).status).toBe(404);
  });

  it('accepts only plain file names for backups', async () => {
    expect((await service.admin('POST', '/backup', {})).status).toBe(201);
    for (const name of ['../evil', '/etc/passwd', '.hidden', 'a/b']) {
      expect((await service.admin('POST', '/backup', { name })).status, name).toBe(400);
    }
  });

  it('verifies that every balance equals its entries', async () => {
    await service.book({ amount: 1 });
    expect((await service.admin('POST', '/verify')).body).toEqual({ ok: true, faults: [] });
  });
});

describe('health', () => {
  it('serves healthz and readyz without credentials, including HEAD', async () => {
    expect((await service.get('/healthz', { as: null })).body).toEqual({ status: 'ok' });
    expect((await service.send('HEAD', '/healthz', { as: null })).status).toBe(200);
    expect((await service.get('/readyz', { as: null })).body).toEqual({
      status: 'ready',
      parts: ['store'],
    });
  });

  it('returns 503 from readyz and names the missing parts', async () => {
    service.operations.readiness = async () => [
      { part: 'store', ready: true, detail: '' },
      { part: 'sip', ready: false, detail: 'draining' },
    ];
    const { status, body } = await service.get('/readyz', { as: null });
    expect([status, body]).toEqual([503, { error: 'not ready', details: { sip: 'draining' } }]);
  });

  it('returns Prometheus text from metrics', async () => {
    const reply = await service.get('/metrics', { as: null });
    expect(reply.text).toContain('up 1');
  });
});
