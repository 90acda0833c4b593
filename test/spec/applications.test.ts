/** Spec: POST …/Application/; dialect §3.2. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asAppId } from '../../src/base/ids.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let url: string;
beforeEach(async () => {
  service = await startService();
  url = `${service.root}/Application/`;
});
afterEach(() => service.stop());

const valid = {
  app_name: 'demo',
  answer_url: 'https://a.example/answer',
  answer_method: 'POST',
  hangup_url: 'https://a.example/hangup',
  hangup_method: 'GET',
};
const create = async (over: object = {}) => (await service.post(url, { ...valid, ...over })).body;

describe('applications', () => {
  it('POST creates: returns 201 with app_id as digits', async () => {
    const reply = await service.post(url, valid);
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      api_id: expect.any(String),
      message: 'created',
      app_id: expect.stringMatching(/^\d+$/),
    });
    const { body } = await service.get(`${url}${reply.body.app_id}/`);
    expect(body).toMatchObject({ ...valid, app_id: reply.body.app_id, application_type: 'XML' });
  });

  it.each([
    'HTTP://a.example',
    'https://user:pass@a.example:65535/x?y=a@b:c',
    'http://[2001:db8::1]:8080?x',
    'http://bücher.example/',
    'http://a_b-c.example/x y',
  ])('takes the URL %s', async (answerUrl) => {
    const made = await create({ answer_url: answerUrl });
    const { body } = await service.get(`${url}${made.app_id}/`);
    expect(body.answer_url).toBe(answerUrl);
  });

  it('hangup_url defaults to answer_url', async () => {
    const made = await create({ hangup_url: undefined, hangup_method: undefined });
    const { body } = await service.get(`${url}${made.app_id}/`);
    expect(body.hangup_url).toBe('https://a.example/answer');
  });

  it('stores a document instead of an answer_url; each replaces the other', async () => {
    const xml = '<Response><Speak>Grüße</Speak></Response>';
    const made = await create({ answer_url: undefined, answer_xml: xml, hangup_url: undefined });
    const one = `${url}${made.app_id}/`;
    const { body } = await service.get(one);
    expect(body).toMatchObject({ answer_url: '', answer_xml: xml, hangup_url: '' });
    await service.post(one, { answer_url: 'https://a.example/x' });
    expect((await service.get(one)).body).toMatchObject({
      answer_url: 'https://a.example/x',
      answer_xml: null,
    });
    await service.post(one, { answer_xml: xml });
    expect((await service.get(one)).body).toMatchObject({ answer_url: '', answer_xml: xml });
  });

  it.each([
    ['<Response><Speak></Response>', /^is invalid in line 1, column \d+: /],
    ['', /1 to 32768 characters/],
    ['<Response/>', /only without answer_url/],
  ])('refuses the document %j', async (xml, problem) => {
    const both = xml === '<Response/>' ? {} : { answer_url: undefined };
    const reply = await service.post(url, { ...valid, ...both, answer_xml: xml });
    expect(reply.status).toBe(400);
    expect(reply.body.details.answer_xml).toMatch(problem);
  });

  it.each([
    [{ app_name: undefined }, 'app_name'],
    [{ answer_url: undefined }, 'answer_url'],
    [{ answer_url: 'not a url' }, 'answer_url'],
    [{ answer_url: 'ftp://a.example/' }, 'answer_url'],
    [{ answer_url: 'http://a.example:80800/' }, 'answer_url'],
    [{ answer_url: 'http://a.example:8080answer' }, 'answer_url'],
    [{ answer_url: 'http://a example/' }, 'answer_url'],
    [{ hangup_url: 'http://[::1/' }, 'hangup_url'],
    [{ answer_method: 'PUT' }, 'answer_method'],
    [{ hangup_url: '/relative' }, 'hangup_url'],
  ])('returns 400 and names the wrong field: %j', async (over, field) => {
    const reply = await service.post(url, { ...valid, ...over });
    expect(reply.status).toBe(400);
    expect(reply.body.details).toHaveProperty(field);
    expect(reply.body).toHaveProperty('api_id');
  });

  it('updates only the named fields: 202 changed', async () => {
    const made = await create({ log_incoming_message: false });
    const reply = await service.post(`${url}${made.app_id}/`, { app_name: 'renamed' });
    expect([reply.status, reply.body.message]).toEqual([202, 'changed']);
    const { body } = await service.get(`${url}${made.app_id}/`);
    expect(body).toMatchObject({ ...valid, app_name: 'renamed', log_incoming_message: false });
  });

  it('default_endpoint_app: uses one of the account’s applications for unbound endpoints', async () => {
    const first = await create({ default_endpoint_app: true });
    const second = await create();
    const flags = async () =>
      Promise.all(
        [first, second].map(
          async ({ app_id: id }) => (await service.get(`${url}${id}/`)).body.default_endpoint_app,
        ),
      );
    expect(await flags()).toEqual([true, false]);
    await service.post(`${url}${second.app_id}/`, { default_endpoint_app: 'true' });
    expect(await flags()).toEqual([false, true]);
    const account = await service.accounts.get(service.account.authId);
    expect(account?.defaultEndpointApp).toBe(Number(second.app_id));
  });

  it('default_endpoint_app never names an application that is deleted at the same time', async () => {
    const { applications } = service.provisioning;
    const { authId } = service.account;
    const made = await create();
    const one = `${url}${made.app_id}/`;
    const appId = asAppId(Number(made.app_id));
    const { remove } = applications;
    const removal = vi.spyOn(applications, 'remove').mockImplementation(async (...given) => {
      await service.accounts.patch(authId, { defaultEndpointApp: appId });
      return remove.apply(applications, given);
    });
    expect((await service.send('DELETE', one)).status).toBe(409);
    removal.mockRestore();
    await service.accounts.patch(authId, { defaultEndpointApp: undefined });
    const { patch } = service.accounts;
    const setting = vi.spyOn(service.accounts, 'patch').mockImplementationOnce(async (...given) => {
      await applications.remove(authId, appId);
      return patch.apply(service.accounts, given);
    });
    await service.post(one, { default_endpoint_app: true });
    setting.mockRestore();
    expect((await service.accounts.get(authId))?.defaultEndpointApp).toBeUndefined();
  });

  it('deletes with 204; 409 while endpoints are attached, unless cascade is set', async () => {
    const made = await create();
    await service.post(`${service.root}/Endpoint/`, {
      username: 'alice',
      password: 'longenough',
      alias: 'a',
      application: made.app_id,
    });
    expect((await service.send('DELETE', `${url}${made.app_id}/`)).status).toBe(409);
    const cascaded = await service.send('DELETE', `${url}${made.app_id}/`, {
      body: { cascade: 'true' },
    });
    expect([cascaded.status, cascaded.text]).toEqual([204, '']);
    expect((await service.get(`${url}${made.app_id}/`)).status).toBe(404);
  });

  it('lists with meta and objects, filtered by part of the name', async () => {
    await create();
    await create({ app_name: 'other' });
    const { body } = await service.get(`${url}?app_name__contains=oth`);
    expect(body.meta.total_count).toBe(1);
    expect(body.objects[0].app_name).toBe('other');
  });

  it('hides an application of another account: 404 in the shape that SDKs read', async () => {
    const made = await create();
    const other = await service.addAccount({ name: 'Bob' });
    const reply = await service.get(`/api/v1/Account/${other.authId}/Application/${made.app_id}/`, {
      as: other,
    });
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({
      api_id: expect.any(String),
      error: 'application not found',
      message: 'application not found',
    });
  });
});
