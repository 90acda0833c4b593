/** Console: sessions, roles, what a customer can see, and the audit log. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import type { LiveCall } from '../../src/domain/dispatch/types.ts';
import { stepAt, totpCode } from '../../src/domain/user/totp.ts';
import type { Role } from '../../src/domain/user/types.ts';
import { aLiveCall } from './fake-control.ts';
import {
  type Credentials,
  type Method,
  type Reply,
  type Service,
  startService,
} from './service.ts';

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

const cookieOf = (reply: Reply): string => String(reply.headers['set-cookie']).split(';')[0] ?? '';

let invited = 0;
async function user(
  role: Role,
  account?: Credentials,
): Promise<{ readonly cookie: string; readonly email: string }> {
  invited += 1;
  const email = `${role}${invited}@example.test`;
  const made = await service.admin('POST', '/users', {
    email,
    role,
    ...(account && { account_id: account.authId }),
  });
  expect(made.status, made.text).toBe(201);
  const token = String(made.body.link).split('/welcome/')[1];
  const accepted = await send('POST', '/console/api/accept', { token, email, password: PASSWORD });
  expect(accepted.status, accepted.text).toBe(200);
  return { cookie: cookieOf(accepted), email };
}

describe('a session', () => {
  it('begins with a one-time link and a cookie that scripts cannot read', async () => {
    const made = await service.admin('POST', '/users', { role: 'owner' });
    const token = String(made.body.link).split('/welcome/')[1];
    expect((await send('POST', '/console/api/invitation', { token })).body).toMatchObject({
      email: null,
      role: 'owner',
    });
    const given = { token, email: 'First@Example.test', password: PASSWORD };
    const weak = await send('POST', '/console/api/accept', { ...given, password: 'short' });
    expect(weak.status).toBe(400);
    const accepted = await send('POST', '/console/api/accept', given);
    expect(String(accepted.headers['set-cookie'])).toMatch(
      /^carillon_session=\w{40,}; Path=\/; HttpOnly; SameSite=Strict/,
    );
    expect((await send('POST', '/console/api/accept', given)).status).toBe(404);
    const me = await send('GET', '/console/api/me', undefined, cookieOf(accepted));
    expect(me.body).toMatchObject({ email: 'first@example.test', role: 'owner', account_id: null });
  });

  it('requires the header that pages of other origins cannot send', async () => {
    const { cookie } = await user('owner');
    const forged = await service.send('GET', '/console/api/me', { as: null, headers: { cookie } });
    expect(forged.status).toBe(401);
    expect(String(forged.headers['www-authenticate'])).not.toContain('Basic');
    const drained = await service.send('POST', '/admin/v1/drain', {
      as: null,
      headers: { cookie },
    });
    expect(drained.status).toBe(401);
  });

  it('ends by sign-out, from another session, by idle timeout, and with its user', async () => {
    const { cookie, email } = await user('owner');
    const signIn = async () =>
      cookieOf(await send('POST', '/console/api/sign-in', { email, password: PASSWORD }));
    const [second, third] = [await signIn(), await signIn()];
    const status = async (of: string) =>
      (await send('GET', '/console/api/me', undefined, of)).status;
    expect(
      (await send('GET', '/console/api/sessions', undefined, cookie)).body.sessions,
    ).toHaveLength(3);
    await send('POST', '/console/api/sign-out', undefined, second);
    expect([await status(second), await status(third)]).toEqual([401, 200]);
    await send('DELETE', '/console/api/sessions', undefined, cookie);
    expect([await status(cookie), await status(third)]).toEqual([200, 401]);
    await service.clock.advance(13 * 3_600_000);
    expect(await status(cookie)).toBe(401);
    const last = await signIn();
    const id = (await send('GET', '/console/api/me', undefined, last)).body.user_id;
    expect((await service.admin('DELETE', `/users/${id}`)).status).toBe(204);
    expect(await status(last)).toBe(401);
  });

  it('has its own idempotency keys: a repeat by another user gets no link to the account of the first', async () => {
    const bob = await service.addAccount({ name: 'Bob' });
    const invite = async ({ cookie }: { readonly cookie: string }) => {
      const headers = { 'x-console': '1', cookie, 'idempotency-key': 'invite-1' };
      const body = { role: 'owner' };
      return (await service.send('POST', '/console/api/users', { as: null, headers, body })).body;
    };
    const [ours, theirs] = [await user('owner', service.account), await user('owner', bob)];
    const first = await invite(ours);
    expect(await invite(ours)).toEqual(first);
    expect(await invite(theirs)).toMatchObject({ account_id: bob.authId });
  });

  it('is ended alone by its user or by an owner of the account, but by no other user', async () => {
    const { cookie: owner } = await user('owner', service.account);
    const { cookie, email } = await user('viewer', service.account);
    const bob = await service.addAccount({ name: 'Bob' });
    const { cookie: stranger } = await user('owner', bob);
    const status = async (of: string) =>
      (await send('GET', '/console/api/me', undefined, of)).status;
    const signIn = async () =>
      cookieOf(await send('POST', '/console/api/sign-in', { email, password: PASSWORD }));
    const listed = async (path: string, of: string) =>
      (await send('GET', path, undefined, of)).body.sessions;
    const [second, third] = [await signIn(), await signIn()];
    const idOf = async (of: string): Promise<string> =>
      (await listed('/console/api/sessions', of)).find((one: { current: boolean }) => one.current)
        .session_id;
    const path = `/console/api/sessions/${await idOf(second)}`;
    expect((await send('DELETE', path, undefined, owner)).status).toBe(404);
    expect((await send('DELETE', path, undefined, cookie)).status).toBe(204);
    expect([await status(cookie), await status(second), await status(third)]).toEqual([
      200, 401, 200,
    ]);
    const me = (await send('GET', '/console/api/me', undefined, cookie)).body;
    const theirs = `/console/api/users/${me.user_id}/sessions`;
    expect((await send('GET', theirs, undefined, stranger)).status).toBe(404);
    expect((await send('GET', theirs, undefined, cookie)).status).toBe(403);
    expect(await listed(theirs, owner)).toHaveLength(2);
    const one = `${theirs}/${await idOf(third)}`;
    expect((await send('DELETE', one, undefined, stranger)).status).toBe(404);
    expect((await send('DELETE', one, undefined, owner)).status).toBe(204);
    expect([await status(cookie), await status(third)]).toEqual([200, 401]);
  });

  it.each([
    ['short', /12 characters or more/],
    ['password12345', /easy to guess/],
    ['aaaaaaaaaaaaaaaa', /easy to guess/],
    ['qwertyuiop123', /easy to guess/],
    ['x'.repeat(201), /200 characters or fewer/],
  ])('refuses the password %j', async (password, problem) => {
    const { cookie } = await user('owner');
    const change = await send('POST', '/console/api/password', { old: PASSWORD, password }, cookie);
    expect(change.status).toBe(400);
    expect(change.body.details.password).toMatch(problem);
  });

  it('refuses the e-mail address of the user as the password', async () => {
    const { cookie, email } = await user('owner');
    const body = { old: PASSWORD, password: email };
    expect((await send('POST', '/console/api/password', body, cookie)).status).toBe(400);
  });

  it('asks to sign in after its end, also on API routes, without a Basic challenge', async () => {
    const { cookie } = await user('owner');
    await send('POST', '/console/api/sign-out', undefined, cookie);
    for (const url of [`${service.root}/Call/`, '/admin/v1/status', '/console/api/me']) {
      const reply = await send('GET', url, undefined, cookie);
      expect([reply.status, reply.headers['www-authenticate']], url).toEqual([401, 'Session']);
    }
  });

  it('requires the right password, hides whether the user exists, and limits attempts', async () => {
    const { email } = await user('viewer');
    const attempt = (of: string, password: string) =>
      send('POST', '/console/api/sign-in', { email: of, password });
    const [wrong, unknown] = [
      await attempt(email, 'guess'),
      await attempt('no@example.test', 'guess'),
    ];
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect({ ...unknown.body, api_id: '' }).toEqual({ ...wrong.body, api_id: '' });
    for (let i = 0; i < 9; i += 1) await attempt(email, 'guess');
    expect((await attempt(email, PASSWORD)).status).toBe(429);
    await service.clock.advance(16 * 60_000);
    expect((await attempt(email, PASSWORD)).status).toBe(200);
  });

  it('requires an authenticator code once set up, and accepts each code once', async () => {
    const { cookie, email } = await user('owner');
    const { body } = await send('POST', '/console/api/totp', undefined, cookie);
    expect(body.uri).toContain(`secret=${body.secret}`);
    const code = () => totpCode(body.secret, stepAt(service.clock.wallMs()));
    const confirm = { secret: body.secret, code: '000000', password: PASSWORD };
    expect((await send('PUT', '/console/api/totp', confirm, cookie)).status).toBe(401);
    expect(
      (await send('PUT', '/console/api/totp', { ...confirm, code: code() }, cookie)).status,
    ).toBe(204);
    const signIn = (with_: string) =>
      send('POST', '/console/api/sign-in', { email, password: PASSWORD, code: with_ });
    expect((await signIn('')).body.error).toBe('code needed');
    expect((await signIn(code())).status).toBe(401);
    await service.clock.advance(30_000);
    expect((await signIn(code())).status).toBe(200);
    expect((await signIn(code())).status).toBe(401);
    const removed = await send('DELETE', '/console/api/totp', { password: PASSWORD }, cookie);
    expect(removed.status).toBe(204);
    expect((await signIn('')).status).toBe(200);
  });

  it('generates codes as in RFC 6238', () => {
    // RFC 6238, appendix B: the secret "12345678901234567890", with the last six of eight digits.
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    expect([59, 1111111109, 20000000000].map((s) => totpCode(secret, stepAt(s * 1000)))).toEqual([
      '287082',
      '081804',
      '353130',
    ]);
  });
});

describe('permissions', () => {
  it('let a customer use the API routes for the own account only', async () => {
    const other = await service.addAccount({ name: 'Bob' });
    const { cookie } = await user('developer', service.account);
    const get = async (url: string) => (await send('GET', url, undefined, cookie)).status;
    expect(await get(`${service.root}/Call/`)).toBe(200);
    expect(await get(`${service.root}/Application/`)).toBe(200);
    expect(await get(`/api/v1/Account/${other.authId}/Call/`)).toBe(403);
    expect(await get(`/api/v1/Account/${other.authId}/Endpoint/`)).toBe(403);
    expect(await get('/admin/v1/calls')).toBe(403);
    expect(await get('/admin/v1/status')).toBe(403);
    await service.accounts.patch(service.account.authId, { status: 'suspended' });
    expect(await get(`${service.root}/Call/`)).toBe(403);
    await service.accounts.patch(service.account.authId, { status: 'active' });
  });

  it('give a sub-account its own resources and permitted operations', async () => {
    const sub = await service.addSubAccount();
    await service.accounts.patch(sub.authId, { permissions: { cdr: false } });
    const { cookie } = await user('developer', sub);
    const root = `/api/v1/Account/${sub.authId}`;
    expect((await send('GET', `${root}/Application/`, undefined, cookie)).status).toBe(200);
    expect((await send('GET', `${root}/cdr`, undefined, cookie)).status).toBe(403);
    expect((await send('GET', `${service.root}/Application/`, undefined, cookie)).status).toBe(403);
    const exports = `${root}/export/recording/`;
    expect((await send('GET', exports, undefined, cookie)).status).toBe(403);
  });

  it('let staff see every account and the node', async () => {
    const other = await service.addAccount({ name: 'Carl' });
    const { cookie } = await user('operator');
    for (const url of ['/admin/v1/accounts', `/api/v1/Account/${other.authId}/Call/`]) {
      expect((await send('GET', url, undefined, cookie)).status, url).toBe(200);
    }
  });

  it.each<[Role, boolean, readonly number[]]>([
    // Statuses for: an application · credit · a new token · users.
    ['owner', true, [201, 201, 201, 200]],
    ['operator', true, [201, 201, 403, 403]],
    ['viewer', true, [403, 403, 403, 403]],
    ['billing', true, [403, 201, 403, 403]],
    ['developer', false, [201, 403, 403, 403]],
  ])('%s (staff: %s) may %j', async (role, isStaff, statuses) => {
    const account = await service.addAccount({ name: 'Dan' });
    const { cookie } = await user(role, isStaff ? undefined : account);
    const root = `/api/v1/Account/${account.authId}`;
    const application = { app_name: `a${invited}`, answer_url: 'https://a.example/' };
    const credit = { amount: 1, currency: 'USD', description: 'x' };
    const replies = [
      await send('POST', `${root}/Application/`, application, cookie),
      await send('POST', `/admin/v1/accounts/${account.authId}/credit`, credit, cookie),
      await send('POST', `${root}/token`, { overlap_seconds: 60 }, cookie),
      await send('GET', '/console/api/users', undefined, cookie),
    ];
    expect(replies.map(({ status }) => status)).toEqual(statuses);
    expect((await send('GET', `${root}/cdr`, undefined, cookie)).status).toBe(200);
  });

  it("let a customer's owner invite and delete users of the account only", async () => {
    const account = await service.addAccount({ name: 'Eve' });
    const { cookie } = await user('owner', account);
    const staff = await user('viewer');
    const invite = { email: 'dev@eve.test', role: 'developer', account_id: service.account.authId };
    const made = await send('POST', '/console/api/users', invite, cookie);
    expect(made.body.account_id).toBe(account.authId);
    const seen = (await send('GET', '/console/api/users', undefined, cookie)).body.users;
    expect(seen.map((one: { account_id: string }) => one.account_id)).toEqual([account.authId]);
    const all = (await service.admin('GET', '/users')).body.users;
    const { user_id: id } = all.find((one: { email: string }) => one.email === staff.email);
    expect((await send('DELETE', `/console/api/users/${id}`, undefined, cookie)).status).toBe(404);
    const role = await send('PATCH', `/console/api/users/${id}`, { role: 'owner' }, cookie);
    expect(role.status).toBe(404);
  });
});

describe('an invitation', () => {
  interface Shown {
    readonly invitation_id: string;
    readonly email: string;
    readonly invited_at: string;
    readonly expires_at: string;
  }
  const pending = async (cookie: string): Promise<readonly Shown[]> =>
    (await send('GET', '/console/api/invitations', undefined, cookie)).body.invitations;
  const invite = async (email: string, cookie: string): Promise<string> => {
    const body = { email, role: 'viewer' };
    const made = await send('POST', '/console/api/users', body, cookie);
    return String(made.body.link).split('/welcome/')[1] ?? '';
  };
  const accept = async (token: string, email: string): Promise<number> =>
    (await send('POST', '/console/api/accept', { token, email, password: PASSWORD })).status;
  const revoke = async (id: string | undefined, cookie: string): Promise<number> =>
    (await send('DELETE', `/console/api/invitations/${id}`, undefined, cookie)).status;

  it('is listed until opened, expired or revoked, without its link', async () => {
    const account = await service.addAccount({ name: 'Gil' });
    const { cookie } = await user('owner', account);
    const opened = await invite('opened@gil.test', cookie);
    const revoked = await invite('revoked@gil.test', cookie);
    const nowMs = service.clock.wallMs();
    const shown = await pending(cookie);
    expect(shown.map(({ email }) => email).sort()).toEqual(['opened@gil.test', 'revoked@gil.test']);
    expect(shown).toMatchObject(shown.map(() => ({ role: 'viewer', account_id: account.authId })));
    const times = shown.map((one) => [Date.parse(one.invited_at), Date.parse(one.expires_at)]);
    const week = 7 * 86_400_000;
    expect(times).toEqual(shown.map(() => [nowMs, nowMs + week]));
    expect(JSON.stringify(shown)).not.toContain(opened);
    expect(await accept(opened, 'opened@gil.test')).toBe(200);
    const [left] = await pending(cookie);
    expect(left?.email).toBe('revoked@gil.test');
    expect(await revoke(left?.invitation_id, cookie)).toBe(204);
    expect(await accept(revoked, 'revoked@gil.test')).toBe(404);
    expect(await revoke(left?.invitation_id, cookie)).toBe(404);
    expect(await pending(cookie)).toEqual([]);
    const { entries } = (await send('GET', '/console/api/audit?limit=50', undefined, cookie)).body;
    const changes = (entries as readonly { readonly what: string }[]).filter(
      ({ what }) => what !== 'Signed in',
    );
    expect(changes).toMatchObject([
      { method: 'DELETE', status: 404 },
      { method: 'DELETE', status: 204, what: expect.stringMatching(/^Revoke an invitation/) },
      { method: 'POST', status: 201 },
      { method: 'POST', status: 201 },
    ]);
  });

  it("expires after a week, and only its account's owner manages it", async () => {
    const account = await service.addAccount({ name: 'Hal' });
    const { cookie } = await user('owner', account);
    const other = await user('owner', await service.addAccount({ name: 'Ina' }));
    const developer = await user('developer', account);
    const staff = await user('owner');
    const token = await invite('late@hal.test', cookie);
    const [one] = await pending(cookie);
    expect(await pending(other.cookie)).toEqual([]);
    expect(await revoke(one?.invitation_id, other.cookie)).toBe(404);
    expect(await revoke(one?.invitation_id, developer.cookie)).toBe(403);
    expect((await pending(staff.cookie)).map(({ email }) => email)).toContain('late@hal.test');
    // Each use extends a session.
    for (let hours = 0; hours <= 7 * 24; hours += 11) {
      await service.clock.advance(11 * 3_600_000);
      await send('GET', '/console/api/me', undefined, cookie);
    }
    expect(await pending(cookie)).toEqual([]);
    expect(await accept(token, 'late@hal.test')).toBe(404);
  });
});

describe('live quality', () => {
  it('shows only calls of the account', async () => {
    const quality = {
      packetsReceived: 100,
      packetsSent: 90,
      packetsLost: 1,
      packetsLate: 2,
      jitterMs: 1.234,
      lossFraction: 0.01,
      mos: 4.2,
      roundTripMs: undefined,
    };
    const call = { accountId: service.account.authId } as LiveCall;
    const own = await startService({
      deps: {
        liveCalls: {
          list: async () => [],
          get: async () => undefined,
          scores: async () => [],
          quality: async () => ({ call: { ...call, accountId: own.account.authId }, quality }),
          qualitySamples: async () => [{ ...quality, atUs: 1_000_000 }],
          hangup: async () => false,
          messages: async () => undefined,
        },
      },
    });
    const uuid = '6e488bd9-1441-4485-91f9-3c668242a160';
    const mine = await own.get(`${own.root}/Call/${uuid}/quality`);
    expect(mine.body).toMatchObject({
      mos: 4.2,
      jitter_ms: 1.23,
      packets_lost: 1,
      round_trip_ms: null,
    });
    const samples = await own.get(`${own.root}/Call/${uuid}/quality/samples`);
    expect(samples.body.samples).toMatchObject([{ mos: 4.2, packets_received: 100 }]);
    const other = await own.addAccount({ name: 'Other' });
    const path = `/api/v1/Account/${other.authId}/Call/${uuid}/quality`;
    expect((await own.get(path, { as: other })).status).toBe(404);
    expect((await own.get(`${path}/samples`, { as: other })).status).toBe(404);
    await own.stop();
  });
});

describe('the audit log', () => {
  it("records changes by users and by the operator's token; customers read their own", async () => {
    const account = await service.addAccount({ name: 'Fay' });
    const { cookie, email } = await user('developer', account);
    const root = `/api/v1/Account/${account.authId}`;
    const application = { app_name: 'fay', answer_url: 'https://a.example/' };
    await send('POST', `${root}/Application/`, application, cookie);
    // Validation during editing is not audited, because it changes nothing.
    await send('POST', '/console/api/xml/check', { xml: '<Response/>' }, cookie);
    await service.admin('PATCH', `/accounts/${account.authId}`, { name: 'Fay and sons' });
    const own = (await send('GET', '/console/api/audit', undefined, cookie)).body;
    const filtered = async (query: string): Promise<number> =>
      (await send('GET', `/console/api/audit?${query}`, undefined, cookie)).body.total;
    expect(await filtered('who=nobody')).toBe(0);
    expect(await filtered(`who=${own.entries[0].who.slice(0, 3).toUpperCase()}`)).toBeGreaterThan(
      0,
    );
    expect(await filtered('what=no-such-change')).toBe(0);
    expect(await filtered('from=2100-01-01')).toBe(0);
    const unknown = await send('GET', '/console/api/audit?colour=red', undefined, cookie);
    expect(unknown.status, unknown.text).toBe(400);
    expect(unknown.text).toContain('colour');
    expect(own.entries).toMatchObject([
      { who: email, method: 'POST', path: `${root}/Application/`, status: 201 },
      { who: email, what: 'Signed in', status: 200, address: '127.0.0.1' },
    ]);
    const all = (await service.admin('GET', '/audit?limit=1')).body;
    expect(all.entries).toMatchObject([{ who: 'operator', method: 'PATCH', status: 200 }]);
  });
});

describe('the XML check', () => {
  it('returns line and column of the first error, with the parser that calls use', async () => {
    const { cookie } = await user('viewer');
    const check = async (xml: string) =>
      (await send('POST', '/console/api/xml/check', { xml }, cookie)).body;
    expect(await check('<Response><Speak>Hi</Speak><Hangup/></Response>')).toMatchObject({
      ok: true,
      instructions: ['speak', 'hangup'],
    });
    expect(await check('<Response>\n  <Wait length="x"/>\n</Response>')).toMatchObject({
      ok: false,
      line: 2,
      column: 9,
    });
  });

  it('a page of running calls contains only those that the user may see', async () => {
    const own = await startService();
    const bob = await own.addAccount({ name: 'Bob' });
    const uuid = (at: number) => asCallUuid(`6e488bd9-1441-4485-91f9-3c668242a1${at}`);
    own.control.calls = [service.account, own.account, bob].map(({ authId }, at) =>
      aLiveCall({ accountId: authId, callUuid: uuid(60 + at) }),
    );
    const cookieFor = async (account?: Credentials) => {
      const role = account === undefined ? 'operator' : 'developer';
      const invitation = await own.admin('POST', '/users', {
        email: `${role}@example.test`,
        role,
        ...(account && { account_id: account.authId }),
      });
      const token = String(invitation.body.link).split('/welcome/')[1];
      const body = { token, email: `${role}@example.test`, password: PASSWORD };
      const headers = { 'x-console': '1' };
      return cookieOf(await own.send('POST', '/console/api/accept', { as: null, headers, body }));
    };
    const seen = async (query: string, cookie: string) => {
      const headers = { 'x-console': '1', cookie };
      const path = `/console/api/live-calls${query}`;
      return (await own.send('GET', path, { as: null, headers })).body;
    };
    const [staff, customer] = [await cookieFor(), await cookieFor(bob)];
    expect(await seen('', staff)).toMatchObject({ total: 3, running: 3 });
    expect(await seen(`?account_id=${bob.authId}`, staff)).toMatchObject({ total: 1, running: 1 });
    // A customer sees the own account, whatever the request names.
    const theirs = await seen(`?account_id=${own.account.authId}`, customer);
    expect(theirs.calls.map((one: { account_id: string }) => one.account_id)).toEqual([bob.authId]);
    expect(await seen('?limit=1&offset=1', staff)).toMatchObject({ total: 3 });
    await own.stop();
  });
});
