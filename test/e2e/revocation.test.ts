/** Revocation takes effect immediately everywhere: registrations, new calls, running calls, links and tokens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Handset } from './handset.ts';
import type { SipUser } from './phone.ts';
import { Scene } from './scene.ts';
import { type AccountKey, eventually, type Json } from './service.ts';

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

const HOLD = '<Wait length="1"/><Record recordSession="true" playBeep="false"/><Wait length="60"/>';

interface Tenant {
  readonly main: AccountKey;
  readonly sub: AccountKey;
  readonly accessToken: string;
  readonly endpointId: string;
  readonly user: SipUser;
}

/** Creates an account with a sub-account and an endpoint of the sub-account. Calls of the endpoint are held. */
async function tenant(name: string): Promise<Tenant> {
  const { service } = scene;
  const made = await service.admin('POST', '/accounts', { name, concurrent_calls_limit: 9 });
  const main = { authId: String(made.body['auth_id']), authToken: String(made.body['auth_token']) };
  await service.admin('POST', `/accounts/${main.authId}/credit`, {
    amount: 10,
    currency: String(made.body['currency']),
    description: 'credit',
  });
  const created = await fetch(`${service.baseUrl}/api/v1/accounts/${main.authId}/sub-accounts/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-auth-id': main.authId,
      'x-auth-token': main.authToken,
    },
    body: JSON.stringify({ name }),
  });
  const { auth_credentials: key, tokens } = (await created.json()) as {
    readonly auth_credentials: { readonly auth_id: string; readonly auth_token: string };
    readonly tokens: { readonly access_token: string };
  };
  const sub = { authId: key.auth_id, authToken: key.auth_token };
  const app = await service.api(
    'POST',
    'Application/',
    {
      app_name: name,
      answer_url: scene.document(`/${name}`, HOLD),
      hangup_url: scene.url(`/${name}-end`),
    },
    sub,
  );
  const password = `${name}-password`;
  const endpoint = await service.api(
    'POST',
    'Endpoint/',
    { username: name, password, alias: name, application: Number(app.body['app_id']) },
    sub,
  );
  expect(endpoint.status, endpoint.text).toBe(201);
  return {
    main,
    sub,
    accessToken: tokens.access_token,
    endpointId: String(endpoint.body['endpoint_id']),
    user: { username: String(endpoint.body['username']), password },
  };
}

/** Starts two phones of the endpoint: one waits for calls, the other is in a call. */
async function inUse({ user }: Tenant, name: string) {
  const waiting = await Handset.waiting(scene.service, user);
  const talking = await Handset.call(scene.service, user);
  await talking.answered;
  const callUuid = await scene.uuidOf(name);
  return { waiting, talking, callUuid };
}

const registered = async (username: string): Promise<boolean> => {
  const { body } = await scene.service.admin('GET', '/registrations');
  return (body['registrations'] as Json[]).some((one) => one['username'] === username);
};

/** Verifies that every use by a revoked user fails, regardless of the kind of revocation. */
async function expectRevoked(
  name: string,
  who: Tenant,
  { waiting, talking, callUuid }: Awaited<ReturnType<typeof inUse>>,
  detail: string,
) {
  expect((await talking.ended).how).toBe('bye');
  expect(await scene.reported(`/${name}-end`, 'Hangup')).toMatchObject({
    HangupCauseCode: '3040',
    HangupCauseName: 'Forbidden',
  });
  const cdr = await eventually('the record', async () => {
    const found = await scene.service.admin('GET', `/calls/${callUuid}`);
    return JSON.stringify(found.body).includes(detail) ? found.body : undefined;
  });
  expect(cdr['live']).toBe(false);
  expect(await registered(who.user.username)).toBe(false);
  await expect(Handset.waiting(scene.service, who.user)).rejects.toThrow();
  const again = await Handset.call(scene.service, who.user);
  const end = await again.ended;
  expect([401, 403]).toContain(end.status);
  await Promise.all([again, waiting, talking].map((phone) => phone.close()));
}

describe.concurrent('revocation takes effect immediately everywhere', () => {
  it('a deleted endpoint', async () => {
    const who = await tenant('gone');
    const use = await inUse(who, 'gone');
    expect(await registered(who.user.username)).toBe(true);
    const deleted = await scene.service.api(
      'DELETE',
      `Endpoint/${who.endpointId}/`,
      undefined,
      who.sub,
    );
    expect(deleted.status).toBe(204);
    await expectRevoked('gone', who, use, 'the endpoint was deleted');
  });

  it('a disabled sub-account: its phones, calls, token, access token and links', async () => {
    const who = await tenant('disabled');
    const use = await inUse(who, 'disabled');
    const body = { enabled: false };
    const disabled = await scene.service.api(
      'POST',
      `Subaccount/${who.sub.authId}/`,
      body,
      who.main,
    );
    expect(disabled.status).toBe(202);
    await expectRevoked('disabled', who, use, 'the sub-account is suspended');
    expect((await scene.service.api('GET', 'Endpoint/', undefined, who.sub)).status).toBe(403);
    const bearer = await fetch(
      `${scene.service.baseUrl}/api/v1/Account/${who.sub.authId}/transactions`,
      { headers: { authorization: `Bearer ${who.accessToken}` } },
    );
    expect(bearer.status).toBe(403);
    expect((await scene.service.api('GET', 'Endpoint/', undefined, who.main)).status).toBe(200);
    await scene.service.api('POST', `Subaccount/${who.sub.authId}/`, { enabled: true }, who.main);
    const back = await Handset.waiting(scene.service, who.user);
    expect(await registered(who.user.username)).toBe(true);
    await back.close();
  });

  it('a deleted sub-account', async () => {
    const who = await tenant('removed');
    const use = await inUse(who, 'removed');
    const path = `Subaccount/${who.sub.authId}/`;
    expect((await scene.service.api('DELETE', path, undefined, who.main)).status).toBe(204);
    await expectRevoked('removed', who, use, 'the sub-account was deleted');
    expect((await scene.service.api('GET', 'Endpoint/', undefined, who.sub)).status).toBe(401);
  });

  it('a suspended account: its sub-accounts and signed links too', async () => {
    const who = await tenant('suspended');
    const use = await inUse(who, 'suspended');
    const { authId } = who.main;
    const suspended = await scene.service.admin('PATCH', `/accounts/${authId}`, {
      status: 'suspended',
    });
    expect(suspended.status).toBe(200);
    await expectRevoked('suspended', who, use, 'the account is suspended');
    for (const as of [who.main, who.sub]) {
      expect((await scene.service.api('GET', 'Call/', undefined, as)).status).toBe(403);
    }
    const link = `/api/v1/Account/${authId}/Recording/7f0cf0f6-0f4b-4f0e-8f57-000000000001.mp3?exp=9999999999&sig=00`;
    expect((await scene.service.get(link)).status).toBe(403);
  });
});
