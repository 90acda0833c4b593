/** Limits of failed sign-ins, the proof that a change of the second factor needs, and what the audit log keeps. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Attempts } from '../../src/domain/user/attempts.ts';
import { stepAt, totpCode } from '../../src/domain/user/totp.ts';
import { type Method, type Reply, type Service, startService } from './service.ts';

const PASSWORD = 'correct horse battery';
let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const send = (method: Method, url: string, body?: unknown, cookie = ''): Promise<Reply> =>
  service.send(method, url, {
    as: null,
    headers: { 'x-console': '1', ...(cookie !== '' && { cookie }) },
    ...(body !== undefined && { body }),
  });

async function owner(email: string): Promise<string> {
  const made = await service.admin('POST', '/users', { email, role: 'owner' });
  const token = String(made.body.link).split('/welcome/')[1];
  const accepted = await send('POST', '/console/api/accept', { token, email, password: PASSWORD });
  return String(accepted.headers['set-cookie']).split(';')[0] ?? '';
}

const audit = async (): Promise<readonly Record<string, unknown>[]> =>
  (await service.admin('GET', '/audit')).body.entries;

describe('a session', () => {
  const HOUR_MS = 3_600_000;

  it('lasts while it is used, but at most 30 days', async () => {
    const cookie = await owner('daily@example.test');
    const status = async () => (await send('GET', '/console/api/me', undefined, cookie)).status;
    for (let hours = 0; hours < 715; hours += 11) {
      expect(await status(), `${hours} h`).toBe(200);
      await service.clock.advance(11 * HOUR_MS);
    }
    expect(await status()).toBe(200);
    await service.clock.advance(6 * HOUR_MS);
    expect(await status()).toBe(401);
  });

  it.each([
    ['http://voice.example', false],
    ['https://voice.example', true],
  ])('of %s has a cookie that is sent only over TLS: %s', async (publicUrl, isSecure) => {
    const site = await startService({ settings: { publicUrl } });
    const headers = { 'x-console': '1' };
    const post = (path: string, body: object, cookie: object = {}) =>
      site.send('POST', `/console/api/${path}`, {
        as: null,
        headers: { ...headers, ...cookie },
        body,
      });
    const made = await site.admin('POST', '/users', { role: 'owner' });
    const token = String(made.body.link).split('/welcome/')[1];
    const accepted = await post('accept', { token, email: 'a@example.test', password: PASSWORD });
    const given = String(accepted.headers['set-cookie']);
    expect(given.includes('; Secure')).toBe(isSecure);
    const out = await post('sign-out', {}, { cookie: given.split(';')[0] });
    expect(String(out.headers['set-cookie'])).toMatch(/^carillon_session=; .*Max-Age=0$/);
    await site.stop();
  });
});

describe('failed sign-ins', () => {
  const attacker = { address: '192.0.2.1', account: 'boss@example.test' };
  const boss = { ...attacker, address: '198.51.100.7' };

  it('block the address that failed, and not the account for other addresses', () => {
    const attempts = new Attempts();
    for (let count = 0; count < 10; count += 1) attempts.failed(attacker, 0);
    expect(attempts.blockedMs(attacker, 1000)).toBeGreaterThan(0);
    expect(attempts.blockedMs(boss, 1000)).toBe(0);
    expect(attempts.blockedMs(attacker, 15 * 60_000)).toBe(0);
  });

  it('block an address that tries many accounts', () => {
    const attempts = new Attempts();
    for (let count = 0; count < 50; count += 1) {
      attempts.failed({ ...attacker, account: `user${count}@example.test` }, 0);
    }
    expect(attempts.blockedMs({ ...attacker, account: 'new@example.test' }, 0)).toBeGreaterThan(0);
    expect(attempts.blockedMs(boss, 0)).toBe(0);
  });

  it('count the addresses of one IPv6 network together', () => {
    const attempts = new Attempts();
    for (let count = 0; count < 10; count += 1) {
      attempts.failed({ ...attacker, address: `2001:db8::${count}` }, 0);
    }
    const later = { ...attacker, address: '2001:db8:0:0:ffff::1' };
    expect(attempts.blockedMs(later, 0)).toBeGreaterThan(0);
    expect(attempts.blockedMs({ ...attacker, address: '2001:db8:1::1' }, 0)).toBe(0);
  });

  it('are in the audit log with their address, as are successful ones', async () => {
    await owner('seen@example.test');
    const given = { email: 'seen@example.test', password: 'wrong password' };
    await send('POST', '/console/api/sign-in', given);
    await send('POST', '/console/api/sign-in', { ...given, password: PASSWORD });
    const own = (await audit()).filter(({ who }) => who === 'seen@example.test');
    expect(own.map(({ what, status, address }) => [what, status, address])).toEqual([
      ['Signed in', 200, '127.0.0.1'],
      ['Sign-in failed', 401, '127.0.0.1'],
      ['Signed in', 200, '127.0.0.1'],
    ]);
  });
});

describe('the second factor', () => {
  it('is set and replaced with the password or a code of the old one, and never by a session alone', async () => {
    const cookie = await owner('factor@example.test');
    const path = '/console/api/totp';
    const fresh = async (): Promise<{ secret: string; code: string }> => {
      const secret = String((await send('POST', path, undefined, cookie)).body.secret);
      return { secret, code: totpCode(secret, stepAt(service.clock.wallMs())) };
    };
    const first = await fresh();
    expect((await send('PUT', path, first, cookie)).status).toBe(401);
    expect((await send('PUT', path, { ...first, password: 'wrong one' }, cookie)).status).toBe(401);
    const set = await send('PUT', path, { ...first, password: PASSWORD }, cookie);
    expect(set.status, set.text).toBe(204);

    const second = await fresh();
    expect((await send('PUT', path, second, cookie)).status).toBe(401);
    const old_code = totpCode(first.secret, stepAt(service.clock.wallMs()) + 1);
    expect((await send('PUT', path, { ...second, old_code }, cookie)).status).toBe(204);
    const third = await fresh();
    // A code of a secret that was replaced proves nothing.
    expect((await send('PUT', path, { ...third, old_code }, cookie)).status).toBe(401);
  });
});

describe('a role', () => {
  const invited = async (email: string, role: string): Promise<string> => {
    const made = await service.admin('POST', '/users', { email, role });
    const token = String(made.body.link).split('/welcome/')[1];
    const body = { token, email, password: PASSWORD };
    const accepted = await send('POST', '/console/api/accept', body);
    return String(accepted.headers['set-cookie']).split(';')[0] ?? '';
  };

  it('that may not create accounts cannot import them, and gets none of their tokens', async () => {
    const rows = [{ line: 1, cells: { name: 'Imported' } }];
    const statuses = async (cookie: string) => {
      const accounts = await send('POST', '/admin/v1/accounts', { name: 'Made' }, cookie);
      const imported = await send('POST', '/admin/v1/import/accounts', { rows }, cookie);
      const rates = await send('POST', '/admin/v1/import/rates', { rows }, cookie);
      return [accounts.status, imported.status, rates.status];
    };
    expect(await statuses(await invited('op@example.test', 'operator'))).toEqual([403, 403, 200]);
    expect(await statuses(await invited('own@example.test', 'owner'))).toEqual([201, 200, 200]);
  });

  it('that may no longer see calls ends the running list of calls', async () => {
    const boss = await invited('boss2@example.test', 'owner');
    const cookie = await invited('moved@example.test', 'viewer');
    const { body } = await send('GET', '/console/api/me', undefined, cookie);
    const events = send('GET', '/console/api/events', undefined, cookie);
    const path = `/console/api/users/${String(body.user_id)}`;
    const changed = await send('PATCH', path, { role: 'billing' }, boss);
    expect(changed.status, changed.text).toBe(200);
    await service.clock.advance(6000);
    expect((await events).status).toBe(200);
    expect((await send('GET', '/console/api/events', undefined, cookie)).status).toBe(403);
  });
});

describe('a user of a sub-account', () => {
  it('sees no running calls if the sub-account has no permission for calls', async () => {
    const { authId } = service.account;
    const path = `/api/v1/accounts/${authId}/sub-accounts/`;
    const lists = async (calls: boolean): Promise<readonly number[]> => {
      const body = { name: `Calls ${calls}`, permissions: { calls } };
      const sub = (await service.send('POST', path, { body })).body.auth_credentials;
      const email = `sub-${calls}@example.test`;
      const invited = { email, role: 'viewer', account_id: sub.auth_id };
      const made = await service.admin('POST', '/users', invited);
      const token = String(made.body.link).split('/welcome/')[1];
      const given = { token, email, password: PASSWORD };
      const accepted = await send('POST', '/console/api/accept', given);
      const cookie = String(accepted.headers['set-cookie']).split(';')[0] ?? '';
      const urls = ['/console/api/live-calls', `/api/v1/Account/${sub.auth_id}/Call/?status=live`];
      return Promise.all(
        urls.map(async (url) => (await send('GET', url, undefined, cookie)).status),
      );
    };
    expect(await lists(true)).toEqual([200, 200]);
    expect(await lists(false)).toEqual([403, 403]);
  });
});

describe('the audit log', () => {
  it('has the amounts of credits and debits', async () => {
    const path = `/accounts/${service.account.authId}/credit`;
    const booking = { currency: 'USD', description: 'top-up' };
    await service.admin('POST', path, { ...booking, amount: 12.5 });
    await service.admin('POST', path, { ...booking, amount: -2 });
    const [debit, credit] = await audit();
    expect(credit).toMatchObject({ detail: 'credit 12.5 USD: top-up', address: '127.0.0.1' });
    expect(debit).toMatchObject({ detail: 'debit 2 USD: top-up' });
  });
});
