/** Spec: POST …/Endpoint/ and POST …/Endpoint/{endpoint_id}/, SIP endpoint fields; Errors: Create endpoint. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Service, startService } from './service.ts';

let service: Service;
let url: string;
beforeEach(async () => {
  service = await startService();
  url = `${service.root}/Endpoint/`;
});
afterEach(() => service.stop());

const valid = { username: 'alice', password: 'longenough', alias: 'alice-1' };
const create = (over: object = {}) => service.post(url, { ...valid, ...over });

async function createApplication(): Promise<number> {
  const made = await service.post(`${service.root}/Application/`, {
    app_name: 'demo',
    answer_url: 'https://a.example/answer',
  });
  return Number(made.body.app_id);
}

describe('POST Endpoint', () => {
  it('returns the long shape together with alias, endpoint_id and username', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      api_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      message: 'created',
      endpoint_id: expect.stringMatching(/^\d+$/),
      alias: 'alice-1',
      username: expect.stringMatching(/^alice\d+$/),
      sip_uri: `sip:${body.username}@registrar.test`,
      resource_uri: `/v1/Account/${service.account.authId}/Endpoint/${body.endpoint_id}/`,
    });
  });

  it("sip_uri includes the registrar's port if it is not the default (RFC 3261 §19.1.2)", async () => {
    const { body } = await create();
    const shown = async () => (await service.get(`${url}${body.endpoint_id}/`)).body.sip_uri;
    service.operations.sipPort = () => 5080;
    expect(await shown()).toBe(`sip:${body.username}@registrar.test:5080`);
    const appId = await createApplication();
    const app = await service.get(`${service.root}/Application/${appId}/`);
    expect(app.body.sip_uri).toBe(`sip:${appId}@registrar.test:5080`);
    service.operations.sipPort = () => 5060;
    expect(await shown()).toBe(`sip:${body.username}@registrar.test`);
  });

  it('never returns the password', async () => {
    const { body, text } = await create();
    const one = await service.get(`${url}${body.endpoint_id}/`);
    expect(text + one.text).not.toContain('longenough');
  });

  it('uses the default permission flags of the table', async () => {
    const { body } = await create();
    expect((await service.get(`${url}${body.endpoint_id}/`)).body).toMatchObject({
      allow_voice: true,
      allow_message: true,
      allow_video: false,
      allow_same_domain: true,
      allow_other_domains: false,
      allow_phones: true,
      allow_apps: true,
      sip_registered: 'false',
    });
  });

  it('accepts flags as JSON booleans or text in any case (dialect §0.2 rule 11)', async () => {
    const { body } = await create({ allow_video: 'TRUE', allow_voice: 'False' });
    expect((await service.get(`${url}${body.endpoint_id}/`)).body).toMatchObject({
      allow_video: true,
      allow_voice: false,
    });
  });

  it('binds to `application`, a numeric ID as number or digits', async () => {
    const appId = await createApplication();
    const { body } = await create({ application: String(appId) });
    expect((await service.get(`${url}${body.endpoint_id}/`)).body.app_id).toBe(appId);
  });

  it('returns 400 with details for an application of another account', async () => {
    const { status, body } = await create({ application: 999 });
    expect(status).toBe(400);
    expect(body.details).toHaveProperty('application');
  });

  it.each([
    [{ username: 'al-ice' }, 'username'],
    [{ username: 'al_ice' }, 'username'],
    [{ username: 'al ice' }, 'username'],
    [{ username: '' }, 'username'],
    [{ password: 'seven77' }, 'password'],
    [{ alias: 'a b' }, 'alias'],
    [{ alias: undefined }, 'alias'],
    [{ username: undefined }, 'username'],
    [{ password: undefined }, 'password'],
  ])('returns 400 invalid request parameters with details per field: %j', async (over, field) => {
    const { status, body } = await create(over);
    expect(status).toBe(400);
    expect(body.error).toBe('invalid request parameters');
    expect(Object.keys(body.details)).toEqual([field]);
  });

  it('returns 400 and names every wrong field', async () => {
    const { body } = await service.post(url, { username: '!', password: 'x' });
    expect(Object.keys(body.details).sort()).toEqual(['alias', 'password', 'username']);
  });

  it('returns 409 username already exists, with the username, if the account has it', async () => {
    await create();
    const { status, body } = await create({ alias: 'other' });
    expect(status).toBe(409);
    expect(body).toEqual({ error: 'username already exists', username: 'alice' });
  });

  it('allows the same submitted name in another account; the stored names differ', async () => {
    const other = await service.addAccount({ name: 'Bob' });
    const first = await create();
    const second = await service.post(`/api/v1/Account/${other.authId}/Endpoint/`, valid, {
      as: other,
    });
    expect(second.status).toBe(201);
    expect(second.body.username).not.toBe(first.body.username);
  });

  it('sub_account: creates for a sub-account of the account, 400 for any other', async () => {
    const sub = await service.addSubAccount();
    const made = await create({ sub_account: sub.authId });
    const one = await service.get(`${url}${made.body.endpoint_id}/`);
    expect(one.body.sub_account).toBe(sub.authId);
    const outsider = await create({ username: 'bob', sub_account: 'SA_NOBODY' });
    expect(outsider.status).toBe(400);
    expect(outsider.body.details).toHaveProperty('sub_account');
  });

  it('stores the name as submitted under endpoints.usernameSuffix when-taken', async () => {
    const other = await startService({ usernameSuffix: 'when-taken' });
    const made = await other.post(`${other.root}/Endpoint/`, valid);
    expect(made.body.username).toBe('alice');
    await other.stop();
  });

  it('callerId.policy: a default caller ID is one of the account’s, or any', async () => {
    for (const [callerIdPolicy, expected] of [
      ['owned', 400],
      ['any', 201],
    ] as const) {
      const open = await startService({ settings: { callerIdPolicy } });
      const caller_id = '14155550177';
      const application = { app_name: 'a', answer_url: 'https://a.test/', caller_id };
      const made = await open.post(`${open.root}/Application/`, application);
      expect([callerIdPolicy, made.status]).toEqual([callerIdPolicy, expected]);
      if (expected === 400) expect(made.text).toContain('caller_id');
      const path = `/accounts/${open.account.authId}`;
      const set = await open.admin('PATCH', path, { default_caller_id: caller_id });
      expect(set.status).toBe(expected === 400 ? 400 : 200);
      await open.stop();
    }
  });

  it('compat.strictVobizSdk: returns only the short shape', async () => {
    const strict = await startService({ settings: { strictVobizSdk: true } });
    const made = await strict.post(`${strict.root}/Endpoint/`, valid);
    expect(Object.keys(made.body).sort()).toEqual(['alias', 'endpoint_id', 'username']);
    await strict.stop();
  });
});

describe('POST Endpoint/{endpoint_id}', () => {
  it('binds to an application by app_id: 202 changed', async () => {
    const appId = await createApplication();
    const { body: made } = await create();
    const changed = await service.post(`${url}${made.endpoint_id}/`, { app_id: appId });
    expect(changed.status).toBe(202);
    expect(changed.body.message).toBe('changed');
    expect((await service.get(`${url}${made.endpoint_id}/`)).body.app_id).toBe(appId);
  });

  it('ignores `application` and returns 202 changed', async () => {
    const appId = await createApplication();
    const { body: made } = await create();
    const changed = await service.post(`${url}${made.endpoint_id}/`, { application: appId });
    expect(changed.status).toBe(202);
    expect(changed.body.message).toBe('changed');
    expect((await service.get(`${url}${made.endpoint_id}/`)).body.app_id).toBeNull();
  });

  it('keeps the username unchanged', async () => {
    const { body: made } = await create();
    await service.post(`${url}${made.endpoint_id}/`, { username: 'mallory', alias: 'renamed' });
    const { body } = await service.get(`${url}${made.endpoint_id}/`);
    expect(body).toMatchObject({ username: made.username, alias: 'renamed' });
  });

  it('returns 404 for an endpoint of another account', async () => {
    const other = await service.addAccount({ name: 'Bob' });
    const { body: made } = await create();
    const reply = await service.post(
      `/api/v1/Account/${other.authId}/Endpoint/${made.endpoint_id}/`,
      { alias: 'x' },
      { as: other },
    );
    expect(reply.status).toBe(404);
  });
});

describe('the rest of endpoints (dialect §3.3)', () => {
  it('lists with meta and filters, twenty per page', async () => {
    for (let i = 0; i < 25; i += 1) await create({ username: `user${i}x`, alias: `a${i}` });
    const first = await service.get(url);
    expect(first.body.objects).toHaveLength(20);
    expect(first.body.meta).toMatchObject({
      limit: 20,
      offset: 0,
      total_count: 25,
      previous: null,
    });
    const next = await service.get(`/api${first.body.meta.next}`);
    expect(next.body.objects).toHaveLength(5);
    expect(next.body.meta.next).toBeNull();
    const found = await service.get(`${url}?alias__exact=a7`);
    expect(found.body.objects.map(({ alias }: { alias: string }) => alias)).toEqual(['a7']);
  });

  it('deletes with 204, then 404', async () => {
    const { body: made } = await create();
    const gone = await service.send('DELETE', `${url}${made.endpoint_id}/`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await service.send('DELETE', `${url}${made.endpoint_id}/`)).status).toBe(404);
  });

  it('a sub-account sees its own endpoints only', async () => {
    const sub = await service.addSubAccount();
    const mine = await service.post(`/api/v1/Account/${sub.authId}/Endpoint/`, valid, { as: sub });
    const parents = await create({ username: 'bob' });
    const subUrl = `/api/v1/Account/${sub.authId}/Endpoint/`;
    const listed = await service.get(subUrl, { as: sub });
    expect(listed.body.objects).toHaveLength(1);
    expect(listed.body.objects[0].endpoint_id).toBe(mine.body.endpoint_id);
    const hidden = await service.get(`${subUrl}${parents.body.endpoint_id}/`, { as: sub });
    expect(hidden.status).toBe(404);
  });

  it('shows the contact while registered', async () => {
    const registered = await startService();
    const made = await registered.post(`${registered.root}/Endpoint/`, valid);
    registered.operations.registrationOf = (username) =>
      username === made.body.username
        ? {
            username,
            contactUri: 'sip:alice@192.0.2.9:5062',
            transport: 'udp',
            address: '192.0.2.9',
            port: 5062,
            userAgent: 'baresip',
            expiresUs: Date.UTC(2026, 0, 1) * 1000,
          }
        : undefined;
    const one = await registered.get(`${registered.root}/Endpoint/${made.body.endpoint_id}/`);
    expect(one.body).toMatchObject({
      sip_registered: 'true',
      sip_contact: 'sip:alice@192.0.2.9:5062',
      sip_user_agent: 'baresip',
    });
    await registered.stop();
  });
});
